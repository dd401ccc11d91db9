import type { Check } from "./check.ts";
import { apitokenNotSuperAdmin } from "./apitoken_not_super_admin.ts";
import { apitokenRestrictedToNetworkZone } from "./apitoken_restricted_to_network_zone.ts";
import { applicationAdminConsoleSessionIdleTimeout } from "./application_admin_console_session_idle_timeout_15min.ts";
import { applicationAuthenticationPolicyNetworkZoneEnforced } from "./application_authentication_policy_network_zone_enforced.ts";
import { mfaRequiredChecks } from "./application_mfa_required.ts";
import { phishingResistantChecks } from "./application_phishing_resistant_authentication.ts";
import { authenticatorOktaVerifyFipsCompliant } from "./authenticator_okta_verify_fips_compliant.ts";
import { passwordChecks } from "./authenticator_password_settings.ts";
import { authenticatorSmartCardActive } from "./authenticator_smart_card_active.ts";
import { idpSmartCardDodApprovedCa } from "./idp_smart_card_dod_approved_ca.ts";
import { networkZoneBlockAnonymizedProxies } from "./network_zone_block_anonymized_proxies.ts";
import { signonDodWarningBannerConfigured } from "./signon_dod_warning_banner_configured.ts";
import { globalSessionChecks } from "./signon_global_session.ts";
import { signonGlobalSessionPolicyNetworkZoneEnforced } from "./signon_global_session_policy_network_zone_enforced.ts";
import { systemlogStreamingEnabled } from "./systemlog_streaming_enabled.ts";
import { userInactivityAutomationEnabled } from "./user_inactivity_automation_35d_enabled.ts";

/** Every check there is; the catalog gives them their order and DISA's texts. */
export const allChecks: readonly Check[] = [
  ...globalSessionChecks,
  signonGlobalSessionPolicyNetworkZoneEnforced,
  signonDodWarningBannerConfigured,
  applicationAdminConsoleSessionIdleTimeout,
  ...mfaRequiredChecks,
  ...phishingResistantChecks,
  applicationAuthenticationPolicyNetworkZoneEnforced,
  ...passwordChecks,
  authenticatorSmartCardActive,
  authenticatorOktaVerifyFipsCompliant,
  networkZoneBlockAnonymizedProxies,
  apitokenRestrictedToNetworkZone,
  apitokenNotSuperAdmin,
  userInactivityAutomationEnabled,
  systemlogStreamingEnabled,
  idpSmartCardDodApprovedCa,
];
