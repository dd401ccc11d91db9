import { nearestName } from "./nearest_name.ts";

/** Names that a rule may be called by. */
export interface RuleNames {
  /** The name of the check, which reports print. */
  readonly check: string;
  /** `V-273186`. */
  readonly vuln_id: string;
  /** `OKTA-APP-000020`. */
  readonly stig_id: string;
  /** `SV-273186r1098825_rule`; also accepted without `_rule`, and without the revision. */
  readonly rule_id: string;
}

export interface FoundRule<Rule> {
  readonly rule: Rule;
  /** Note for a person who named another revision of the rule, or null. */
  readonly warning: string | null;
}

/** The rule of a name, in any case; null for an unknown name. */
export function findRule<Rule extends RuleNames>(name: string, rules: readonly Rule[]): FoundRule<Rule> | null {
  const wanted = name.trim().toLowerCase();
  const exact = rules.find((rule) => namesOf(rule).some((candidate) => candidate.toLowerCase() === wanted));
  if (exact !== undefined) return { rule: exact, warning: null };
  const [, number, revision] = /^sv-(\d+)(?:r(\d+))?(?:_rule)?$/.exec(wanted) ?? [];
  const rule = number === undefined ? undefined : rules.find(({ vuln_id: id }) => id.toLowerCase() === `v-${number}`);
  if (rule === undefined) return null;
  const isSame = revision === undefined || rule.rule_id.toLowerCase() === `sv-${number}r${revision}_rule`;
  const warning = isSame ? null : `${name.trim()} is another revision of ${rule.vuln_id}: using ${rule.rule_id}`;
  return { rule, warning };
}

/** Message for a name that no rule has, with the nearest one where one is near. */
export function unknownRule(name: string, rules: readonly RuleNames[], otherwise: string): string {
  const wanted = name.trim().toLowerCase();
  const names = new Map(
    rules.flatMap((rule) => namesOf(rule).map((candidate) => [candidate.toLowerCase(), candidate])),
  );
  const nearest = nearestName(wanted, [...names.keys()]);
  const advice = nearest === null ? otherwise : `did you mean ${JSON.stringify(names.get(nearest))}?`;
  return `unknown rule ${JSON.stringify(name)}: ${advice}`;
}

function namesOf({ check, vuln_id: vulnId, stig_id: stigId, rule_id: ruleId }: RuleNames): readonly string[] {
  return [check, vulnId, stigId, ruleId];
}

/** The V-number of a check's rule, as people read it; the name itself where the STIG has no such check. */
export function vulnIdOf(check: string): string {
  return stigRuleNames.find((rule) => rule.check === check)?.vuln_id ?? check;
}

/** The check's name for any name of a rule of the STIG; other names stay as they are. */
export function toCheckName(name: string): string {
  return findRule(name, stigRuleNames)?.rule.check ?? name;
}

/** As `toCheckName`, but an id in the form of DISA's that is not in the STIG is a problem. */
export function requireCheckName(name: string): { readonly check: string } | { readonly problem: string } {
  const isDisas = /^(?:s?v-\d|okta-app-)/i.test(name.trim());
  return isDisas && findRule(name, stigRuleNames) === null
    ? { problem: unknownRule(name, stigRuleNames, "expected a rule of the Okta IDaaS STIG") }
    : { check: toCheckName(name) };
}

/** The rules of the STIG, for code that may not import its catalog; a test compares them with it. */
const rows: readonly (readonly [check: string, vulnId: string, stigId: string, ruleId: string])[] = [
  ["signon_global_session_idle_timeout_15min", "V-273186", "OKTA-APP-000020", "SV-273186r1098825_rule"],
  ["application_admin_console_session_idle_timeout_15min", "V-273187", "OKTA-APP-000025", "SV-273187r1098828_rule"],
  ["user_inactivity_automation_35d_enabled", "V-273188", "OKTA-APP-000090", "SV-273188r1098831_rule"],
  ["authenticator_password_lockout_threshold_3", "V-273189", "OKTA-APP-000170", "SV-273189r1098834_rule"],
  ["application_dashboard_phishing_resistant_authentication", "V-273190", "OKTA-APP-000180", "SV-273190r1099763_rule"],
  [
    "application_admin_console_phishing_resistant_authentication",
    "V-273191",
    "OKTA-APP-000190",
    "SV-273191r1099764_rule",
  ],
  ["signon_dod_warning_banner_configured", "V-273192", "OKTA-APP-000200", "SV-273192r1098843_rule"],
  ["application_admin_console_mfa_required", "V-273193", "OKTA-APP-000560", "SV-273193r1098846_rule"],
  ["application_dashboard_mfa_required", "V-273194", "OKTA-APP-000570", "SV-273194r1098849_rule"],
  ["authenticator_password_minimum_length_15", "V-273195", "OKTA-APP-000650", "SV-273195r1098852_rule"],
  ["authenticator_password_complexity_uppercase", "V-273196", "OKTA-APP-000670", "SV-273196r1098855_rule"],
  ["authenticator_password_complexity_lowercase", "V-273197", "OKTA-APP-000680", "SV-273197r1098858_rule"],
  ["authenticator_password_complexity_number", "V-273198", "OKTA-APP-000690", "SV-273198r1098861_rule"],
  ["authenticator_password_complexity_symbol", "V-273199", "OKTA-APP-000700", "SV-273199r1098864_rule"],
  ["authenticator_password_minimum_age_24h", "V-273200", "OKTA-APP-000740", "SV-273200r1098867_rule"],
  ["authenticator_password_maximum_age_60d", "V-273201", "OKTA-APP-000745", "SV-273201r1098870_rule"],
  ["systemlog_streaming_enabled", "V-273202", "OKTA-APP-001430", "SV-273202r1099766_rule"],
  ["signon_global_session_lifetime_18h", "V-273203", "OKTA-APP-001665", "SV-273203r1099958_rule"],
  ["authenticator_smart_card_active", "V-273204", "OKTA-APP-001670", "SV-273204r1098879_rule"],
  ["authenticator_okta_verify_fips_compliant", "V-273205", "OKTA-APP-001700", "SV-273205r1098882_rule"],
  ["signon_global_session_cookies_not_persistent", "V-273206", "OKTA-APP-001710", "SV-273206r1098885_rule"],
  ["idp_smart_card_dod_approved_ca", "V-273207", "OKTA-APP-001920", "SV-273207r1098888_rule"],
  ["authenticator_password_common_password_check", "V-273208", "OKTA-APP-002980", "SV-273208r1099769_rule"],
  ["authenticator_password_history_5", "V-273209", "OKTA-APP-003010", "SV-273209r1098894_rule"],
  ["apitoken_restricted_to_network_zone", "V-279689", "OKTA-APP-003240", "SV-279689r1155066_rule"],
  ["apitoken_not_super_admin", "V-279690", "OKTA-APP-003241", "SV-279690r1155069_rule"],
  ["signon_global_session_policy_network_zone_enforced", "V-279691", "OKTA-APP-003242", "SV-279691r1155072_rule"],
  ["network_zone_block_anonymized_proxies", "V-279692", "OKTA-APP-003243", "SV-279692r1155075_rule"],
  ["application_authentication_policy_network_zone_enforced", "V-279693", "OKTA-APP-003244", "SV-279693r1155078_rule"],
];

export const stigRuleNames: readonly RuleNames[] = rows.map(([check, vuln_id, stig_id, rule_id]) => ({
  check,
  vuln_id,
  stig_id,
  rule_id,
}));
