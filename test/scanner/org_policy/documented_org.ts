import { expect, test } from "vitest";
import { catalog } from "../../../scanner/catalog/catalog.ts";
import { evaluateCheck } from "../../../scanner/evaluate.ts";
import { draftOrgPolicy } from "../../../scanner/org_policy/draft.ts";
import { parseOrgPolicy } from "../../../scanner/org_policy/read_org_policy.ts";
import { toContext } from "../../../scanner/run_scan.ts";
import type { CheckResult } from "../../../shared/report.ts";
import { startOrg } from "../../practice_org/start_org.ts";
import { scanPracticeOrg } from "../../support/scan_practice_org.ts";

/** The compliant org with its document, which makes it 29 of 29 PASS. */

// oxlint-disable-next-line typescript/no-explicit-any -- a mutation edits JSON of any shape
export type Json = any;

export interface Case {
  readonly org: Json;
  readonly policy: Json;
}

const { document: scanned } = await scanPracticeOrg(await startOrg({ profile: { name: "compliant" } }));
const document: Json = draft(scanned.artifacts);
document.approved_by = "Jane Roe";
document.reference = "AC policy for Okta, v3";
for (const token of document.api_tokens) token.purpose = "practice";
document.okta_subdomain.prevented_by = "a rule that denies";

export function draft(artifacts: Json): Json {
  return draftOrgPolicy({ ...scanned, artifacts }, "2026-11-01");
}

export function judge({ org, policy }: Case, evaluatedAt = "2026-11-28T00:00:00.000Z"): readonly CheckResult[] {
  const orgPolicy = policy === null ? null : parseOrgPolicy(JSON.stringify(policy));
  const { engine, org_url: orgUrl } = scanned.scan;
  const context = toContext({ engine, orgUrl, evaluatedAt, orgPolicy });
  return catalog.map((check) => evaluateCheck(check, org, context));
}

export const fresh = (): Case => structuredClone({ org: scanned.artifacts, policy: document });

/** Returns the rules that are no PASS, by V-number. */
export function others(results: readonly CheckResult[]): Readonly<Record<string, string>> {
  const left = results.filter(({ status }) => status !== "PASS");
  return Object.fromEntries(left.map((one) => [one.vuln_id, one.reason ?? one.status]));
}

export const named = (list: Json, name: string): Json =>
  list.find((one: Json) => [one.name, one.label, one.token, one.policy, one.policy?.name].includes(name));
export const zones = (org: Json): Json => org.network_zones.value;
export const session = (org: Json, policy: string): Json => named(org.global_session_policies.value, policy);
export const app = (org: Json, label: string): Json => named(org.apps.value, label);

/** Adds a second zone with addresses of its own, active and of usage POLICY. */
export function addZone(org: Json, value = "192.0.2.0/24"): string {
  const office = structuredClone(named(zones(org), "Office network"));
  zones(org).push({ ...office, id: "nzoB", name: "Branch office", gateways: [{ type: "CIDR", value }] });
  return "nzoB";
}

/** A change of the org or of the document, and the rules that it makes no PASS. */
export type Change = readonly [what: string, edit: (one: Case) => void, changed: Readonly<Record<string, string>>];

export function testChanges(changes: readonly Change[]): void {
  test.each(changes)("%s", (_, edit, changed) => {
    const one = fresh();
    edit(one);
    expect(others(judge(one))).toEqual(changed);
  });
}
