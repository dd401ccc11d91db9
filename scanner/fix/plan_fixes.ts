import type { CollectedArtifacts } from "../evidence/artifacts.ts";
import type { ParameterValues } from "../checks/parameter.ts";
import type { CheckResult } from "../../shared/report.ts";
import { createPlanDraft, type FixPlan, type PlanDraft } from "./plan_draft.ts";
import { planApiTokens } from "./planners/api_tokens.ts";
import { appChecks, planAppRules } from "./planners/app_rules.ts";
import { planOktaVerify } from "./planners/authenticators.ts";
import { planLogStream } from "./planners/log_streams.ts";
import { planAnonymizerZone } from "./planners/network_zones.ts";
import { passwordChecks, planPasswordPolicies } from "./planners/password_policies.ts";
import { planSessionRules, sessionChecks } from "./planners/session_rules.ts";
import { planSignInPages } from "./planners/sign_in_pages.ts";

const planners: readonly ((draft: PlanDraft) => void)[] = [
  planAnonymizerZone,
  planSessionRules,
  planAppRules,
  planPasswordPolicies,
  planOktaVerify,
  planApiTokens,
  planLogStream,
  planSignInPages,
];

/** The checks that Terraform has resources for. */
export const terraformChecks: ReadonlySet<string> = new Set([
  ...sessionChecks,
  ...appChecks,
  ...passwordChecks,
  "network_zone_block_anonymized_proxies",
  "authenticator_okta_verify_fips_compliant",
  "apitoken_restricted_to_network_zone",
  "systemlog_streaming_enabled",
  "signon_dod_warning_banner_configured",
]);

/** Why a rule is left to a person, with any evidence. */
const withoutResource: Readonly<Record<string, string>> = {
  application_admin_console_session_idle_timeout_15min:
    "the provider has no resource for the Admin Console's idle time",
  user_inactivity_automation_35d_enabled: "the provider has no resource for automations, and Okta no documented API",
  idp_smart_card_dod_approved_ca: "the provider has no resource for X.509 identity providers",
  authenticator_smart_card_active: "the provider cannot bind the authenticator to its identity provider",
  apitoken_not_super_admin: "the owner of a token cannot change, so another account has to create a new token",
};

/**
 * What would make failing findings pass, without findings that a waiver accepts. Pure: the same findings, evidence and
 * parameters give the same plan.
 */
export function planFixes(
  results: readonly CheckResult[],
  artifacts: CollectedArtifacts,
  parameters: ParameterValues = {},
): FixPlan {
  const { draft, finish } = createPlanDraft(results, artifacts, parameters);
  for (const plan of planners) plan(draft);
  for (const { check } of results.filter((result) => !terraformChecks.has(result.check))) {
    draft.byHand(draft.failedOf([check]), withoutResource[check] ?? "the provider has no resource for it");
  }
  return finish();
}
