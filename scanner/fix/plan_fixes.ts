import type { CheckResult } from "../../shared/report.ts";
import { openFindings } from "../../shared/rule_result.ts";
import { catalog } from "../catalog/catalog.ts";
import type { ParameterValues } from "../checks/parameter.ts";
import { sortBy } from "../checks/parsing/names.ts";
import type { CollectedArtifacts } from "../evidence/artifacts.ts";
import { isDeparture } from "../org_policy/document.ts";
import type { Failed, PlannedChange, PlannedOrg, Planner } from "./planned_change.ts";
import { anonymizerZone, apiTokens, logStream, oktaVerify } from "./planners/org_objects.ts";
import { passwordPolicies } from "./planners/password_policies.ts";
import { appRules, sessionRules } from "./planners/policy_rules.ts";
import { signInPages } from "./planners/sign_in_pages.ts";
import { addressOf, type Attribute, type TerraformResource } from "./terraform.ts";

const planners: readonly Planner[] = [
  anonymizerZone,
  sessionRules,
  appRules,
  passwordPolicies,
  oktaVerify,
  apiTokens,
  logStream,
  signInPages,
];

/** Why a rule is left to a person, with any evidence. */
const withoutTerraform: Readonly<Record<string, string>> = {
  signon_global_session_policy_network_zone_enforced:
    "a zone narrows the rule, and users outside it go on to the next rule, which may ask less of them",
  application_authentication_policy_network_zone_enforced:
    "zones narrow the rules, and users outside them go on to the next rule, which may ask less of them",
  application_admin_console_session_idle_timeout_15min:
    "the provider has no resource for the Admin Console's idle time",
  user_inactivity_automation_35d_enabled: "the provider has no resource for automations, and Okta no documented API",
  idp_smart_card_dod_approved_ca: "the provider has no resource for X.509 identity providers",
  authenticator_smart_card_active: "the provider cannot bind the authenticator to its identity provider",
  apitoken_not_super_admin: "the owner of a token cannot change, so another account has to create a new token",
};

/** A failing finding that is not in the plan, and why. */
export interface ByHand extends Failed {
  readonly why: string;
}

export type FixPlan = ReturnType<typeof planFixes>;

/**
 * The changes that make failing findings pass. Each makes one object stricter and leaves its conditions as they are, or adds
 * a rule before the built-in one with the conditions of that. Pure: the same arguments give the same plan.
 */
export function planFixes(
  results: readonly CheckResult[],
  artifacts: CollectedArtifacts,
  parameters: ParameterValues = {},
) {
  const all = failedFindings(results);
  const placeOf = ({ check }: Failed) => planners.findIndex(({ checks }) => checks.includes(check.name));
  // The resources of one kind stand together in the plan.
  const open = all.filter(({ finding }) => !finding.waived).toSorted((one, other) => placeOf(one) - placeOf(other));
  const byHand: ByHand[] = [];
  const planned: Planned[] = [];
  for (const failed of open) {
    const change = changeOf(failed, planners[placeOf(failed)], { artifacts, parameters });
    if (typeof change === "string") byHand.push({ ...failed, why: change });
    else planned.push({ failed, change });
  }
  const groups: (readonly Planned[])[] = [];
  for (const [address, group] of Map.groupBy(planned, ({ change }) => addressOf(change))) {
    const why = `several objects of the org would be the resource ${address}`;
    if (new Set(group.map(({ change }) => change.importId)).size === 1) groups.push(group);
    else byHand.push(...group.map(({ failed }) => ({ ...failed, why })));
  }
  const fixed = groups.flat();
  const variables = new Map(fixed.flatMap(({ change }) => change.variables ?? []).map((one) => [one.name, one]));
  return {
    resources: groups.map(resourceOf),
    variables: sortBy([...variables.values()], ({ name }) => name),
    /** The findings that the resources fix. */
    fixed: fixed.map(({ failed }) => failed),
    byHand,
    /** Failing findings that a waiver accepts: they are not in the plan. */
    accepted: all.filter(({ finding }) => finding.waived),
  };
}

/** The change that makes a finding pass, or why it is left to a person. */
function changeOf(failed: Failed, planner: Planner | undefined, org: PlannedOrg): PlannedChange | string {
  const { attested, check, finding } = failed;
  if (attested !== undefined) return attested;
  if (planner === undefined) return withoutTerraform[check.name] ?? "the provider has no resource";
  if (isDeparture(finding)) return "it departs from the organization's document, whose words the steps below have";
  return planner.plan(failed, org);
}

function failedFindings(results: readonly CheckResult[]): readonly Failed[] {
  return results.flatMap((result) => {
    const { check: name, findings, attestation } = result;
    const check = catalog.find((one) => one.name === name);
    if (check === undefined) return [];
    // Without an active log stream the result is MANUAL; it stays to fix until a person attests another way.
    const isOpen = name === "systemlog_streaming_enabled" && (attestation?.status ?? "FAIL") === "FAIL";
    const failed = findings.filter((one) => one.status === "FAIL" || (isOpen && one.reason === "needs_review"));
    if (failed.length > 0 || attestation?.status !== "FAIL") return failed.map((finding) => ({ check, finding }));
    const attested = `a person attested the failure: ${attestation.reason}`;
    return openFindings(result).map((finding) => ({ check, finding, attested }));
  });
}

interface Planned {
  readonly failed: Failed;
  readonly change: PlannedChange;
}

/** One resource of all changes of one object. */
function resourceOf(group: readonly Planned[]): TerraformResource {
  const [{ change: first }] = group as [Planned];
  const written = { ...first.required, ...first.attributes };
  const attributes = new Map(
    Object.entries(written).map(([name, value]): [string, Attribute] => [name, { value, change: null }]),
  );
  for (const { failed, change } of group) {
    for (const [name, { value, was }] of Object.entries(change.changes)) {
      const before = attributes.get(name)?.change;
      const rules = [...new Set([...(before?.rules ?? []), failed.check.rule.vuln_id])];
      attributes.set(name, { value, change: { rules, was: before?.was ?? was } });
    }
  }
  const isSet = (name: string) =>
    [...attributes.keys()].some((one) => !(one in first.required) && (one === name || one.startsWith(`${name}.`)));
  const { type, name, title, importId } = first;
  return {
    type,
    name,
    title,
    importId,
    warnings: [...new Set(group.flatMap(({ change }) => change.warnings ?? []))],
    attributes,
    causes: [...new Set(group.flatMap(({ failed }) => failed.finding.cause ?? []))],
    ignored: (first.found ?? []).filter((name) => !isSet(name)),
  };
}
