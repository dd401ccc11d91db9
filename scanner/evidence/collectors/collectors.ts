import type { ArtifactName } from "../artifacts.ts";
import { collectApiTokenOwners } from "./api_token_owners.ts";
import {
  collectAdminConsoleApp,
  collectAdminConsoleSettings,
  collectAppPolicyRules,
  collectApps,
  collectDashboardApp,
} from "./apps.ts";
import { collectBrandSignInPages } from "./brands.ts";
import type { Collector } from "./collector.ts";
import { listCollector } from "./lists.ts";
import {
  collectAutomationGroups,
  collectGlobalSessionPolicies,
  collectPasswordPolicies,
  collectUserLifecyclePolicies,
} from "./policies.ts";
import { collectSmartCardIdps } from "./smart_card_idps.ts";

export const collectors: { readonly [Name in ArtifactName]: Collector<Name> } = {
  global_session_policies: collectGlobalSessionPolicies,
  password_policies: collectPasswordPolicies,
  user_lifecycle_policies: collectUserLifecyclePolicies,
  automation_groups: collectAutomationGroups,
  apps: collectApps,
  app_policy_rules: collectAppPolicyRules,
  admin_console_app: collectAdminConsoleApp,
  dashboard_app: collectDashboardApp,
  admin_console_settings: collectAdminConsoleSettings,
  authenticators: listCollector("authenticators"),
  brand_sign_in_pages: collectBrandSignInPages,
  network_zones: listCollector("network_zones"),
  api_tokens: listCollector("api_tokens"),
  api_token_owners: collectApiTokenOwners,
  built_in_groups: listCollector("built_in_groups"),
  log_streams: listCollector("log_streams"),
  access_policies: listCollector("access_policies"),
  saml_idps: listCollector("saml_idps"),
  smart_card_idps: collectSmartCardIdps,
};
