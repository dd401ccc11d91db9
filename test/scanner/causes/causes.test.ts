import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { findCheck } from "../../../scanner/catalog/select_checks.ts";
import { causesOf } from "../../../scanner/causes/causes.ts";
import { explainOrg } from "../../../scanner/explain/explain_org.ts";
import { explanationText } from "../../../scanner/explain/explain_text.ts";
import type { FinishedScan } from "../../../scanner/run_scan.ts";
import { startOrg } from "../../practice_org/start_org.ts";
import { denyingOrg } from "../../support/failing_org.ts";
import { aReport, renderAs } from "../../support/report_builders.ts";
import { scanPracticeOrg } from "../../support/scan_practice_org.ts";

const denying = startOrg({ profile: denyingOrg }).then(scanPracticeOrg);
const typical = startOrg({ profile: { name: "typical" } }).then(scanPracticeOrg);

test("a cause is the object to change, with an id that every scan and every program finds", async () => {
  const { results, document } = await typical;
  const causes = causesOf(results, document.artifacts);
  for (const { id, object } of causes) {
    const digest = createHash("sha256").update(`${object.type}\n${object.id}`).digest("hex");
    expect(id).toBe(digest.slice(0, 12));
  }
  const named = results.flatMap(({ findings }) => findings.filter(({ cause }) => cause !== null));
  expect(named.every(({ status }) => status === "FAIL")).toBe(true);
  expect(causes.flatMap(({ fingerprints }) => fingerprints).toSorted()).toEqual(
    named.map(({ fingerprint }) => fingerprint).toSorted(),
  );
});

test("a scan begins with the changes that close most rules", async () => {
  const { results, document } = await typical;
  const report = aReport(results, { causes: causesOf(results, document.artifacts) });
  const first = renderAs("table", report, { width: 80, isBrief: true }).split("\n");
  expect(first.find((line) => line.includes("changes close"))).toMatch(/^17 changes close all 18 rules that fail:$/);
  expect(first.join("\n")).toMatch(
    /  1\. In the password policy "Default Policy": set .+\n     closes 2 rules now, 4 more together with change 6\n/,
  );
  expect(first.length).toBeLessThanOrEqual(20);
  const whole = renderAs("table", report, { width: 80 });
  expect(whole.replaceAll(/\s+/g, " ")).toContain(
    `1. ${report.causes[0]?.change ?? ""} (closes 2 rules now, 4 more together with change 6; ${report.causes[0]?.id ?? ""})`,
  );
});

test("each finding names the requests that its values come from, and when, also those that only its org needs", async () => {
  const { results } = await typical;
  const reads = results.flatMap(({ check, findings }) => findings.map((finding) => ({ check, ...finding })));
  for (const { check, read_from: read = "" } of reads)
    expect(read, check).toMatch(/^GET \/api\/v1\/.+ at \d{4}-\d\d-\d\dT[\d:.]+Z/);
  const ofCheck = (name: string) => reads.find(({ check }) => check === name)?.read_from;
  expect(ofCheck("apitoken_restricted_to_network_zone")).toMatch(/^GET \S+\/api-tokens at [^;]+; GET \S+\/zones at /);
  // It is looked up in the list of all apps, and not requested by its name.
  expect(ofCheck("application_dashboard_mfa_required")).toMatch(/^GET \S+\/apps, GET \S+\/policies\/{id}\/rules at /);
});

test("a waived finding has no cause", async () => {
  const { results, document } = await typical;
  const waived = results.map((result) => ({
    ...result,
    findings: result.findings.map((finding) => ({ ...finding, waived: true })),
  }));
  expect(causesOf(waived, document.artifacts)).toEqual([]);
});

function explain({ results, document }: FinishedScan, name: string) {
  const [check, result] = [findCheck(name), results.find((one) => one.check === name)];
  if (result === undefined) throw new TypeError(`There is no result of ${name}`);
  return { check, result, document, explained: explainOrg(check, result, { document }) };
}

test("explain shows Okta's order, who falls through, the value that decides, and where it was read", async () => {
  const { check, result, document, explained } = explain(await denying, "signon_global_session_idle_timeout_15min");
  const text = explanationText(explained, 200);
  const [travelers] = text.split("\n\n").filter((part) => part.includes('"Travelers"'));
  expect(travelers?.split("\n").slice(3)).toEqual([
    "  Okta evaluates these rules in this order:",
    '    "Not from there" (priority 1): DENY, with conditions (network); others fall through to the next rule',
    '  → "From anywhere else" (priority 2): ALLOW, for everybody who reaches it; decides',
    "      actions.signon.session.maxSessionIdleMinutes = 480",
    '  To pass: In rule "From anywhere else" of the global session policy "Travelers": set "Maximum Okta global session idle time" to 15 minutes',
  ]);
  expect(text).toContain('    "Never reached" (priority 2): DENY, never reached');
  const at = document.artifacts.global_session_policies?.read?.at ?? "";
  expect(Date.parse(at)).toBeGreaterThanOrEqual(Date.parse(document.scan.started_at));
  const read = `GET /api/v1/policies?type=OKTA_SIGN_ON, GET /api/v1/policies/{id}/rules at ${at}`;
  expect(text).toContain(`Read with\n  ${read}`);
  const finding = result.findings.find(({ resource }) => resource.name === "Travelers");
  expect(finding?.evaluation?.split("\n")).toEqual([
    '  "Not from there" (priority 1): DENY, with conditions (network); others fall through to the next rule',
    '→ "From anywhere else" (priority 2): ALLOW, for everybody who reaches it; decides',
    "    actions.signon.session.maxSessionIdleMinutes = 480",
    "Read with GET /api/v1/policies?type=OKTA_SIGN_ON, GET /api/v1/policies/{id}/rules",
  ]);
  // A file of an earlier version knows when its scan ended.
  const { read: _read, ...older } = document.artifacts.global_session_policies ?? { read: null };
  const old = { ...document, artifacts: { ...document.artifacts, global_session_policies: older as never } };
  expect(explainOrg(check, result, { document: old }).read[0]?.at).toBe(document.scan.ended_at);
});

test("explain names what a finding leaves to a person", async () => {
  const { explained } = explain(await typical, "authenticator_password_lockout_threshold_3");
  expect(explanationText(explained, 200)).toMatch(/found 3 attempts\n {2}Verify that the directory locks the accounts/);
});

test("explain shows the factors of the rule that decides about an app", async () => {
  const { explained } = explain(await typical, "application_admin_console_phishing_resistant_authentication");
  const rules = explained.findings.flatMap((finding) => finding.rules);
  expect(rules.find(({ decides }) => decides)?.values.map(({ field }) => field)).toContain(
    "actions.appSignOn.verificationMethod.constraints",
  );
});
