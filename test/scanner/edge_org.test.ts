import { afterAll, beforeAll, expect, test } from "vitest";
import { createPracticeOrg, type PracticeOrg } from "../../practice_org/create_practice_org.ts";
import type { CheckResult, Finding } from "../../shared/report.ts";
import { scanPracticeOrg } from "../support/scan_practice_org.ts";

/** Settings that look right but apply to some users only: a whole scan of the practice org `edge`. */

let org: PracticeOrg;
let results: ReadonlyMap<string, CheckResult>;

beforeAll(async () => {
  org = await createPracticeOrg({ profile: { name: "edge" }, role: "super" });
  const scan = await scanPracticeOrg(org);
  results = new Map(scan.results.map((result) => [result.check, result]));
});

afterAll(() => org.stop());

test("tokens: a zone of every address FAILs, one without an entry is for a person", () => {
  const findings = resultOf("apitoken_restricted_to_network_zone").findings.map(({ resource, status, reason }) => [
    resource.name,
    status,
    reason,
  ]);
  expect(findings).toEqual([
    ["HR import", "MANUAL", "partly_automated"],
    ["Old token", "FAIL", null],
    ["Only from Everywhere in two halves", "FAIL", null],
    ["Only from Not filled in yet", "MANUAL", "needs_review"],
    ["SIEM export", "MANUAL", "partly_automated"],
  ]);
});

test.each(["signon_global_session_idle_timeout_15min", "signon_global_session_lifetime_18h"])(
  "%s: PASS for the one group, the built-in rule for all others",
  (check) => {
    expect(findingOf(check, "Default Policy")).toMatchObject({
      status: "MANUAL",
      automated: "PASS",
      detail: expect.stringMatching(
        /conditions \(network, people\); .*"Default Rule" decides, which is FAIL/,
      ) as string,
    });
  },
);

test("cookies: PASS in full, because the built-in rule is as strict", () => {
  const finding = findingOf("signon_global_session_cookies_not_persistent", "Default Policy");
  expect(finding).toMatchObject({ status: "PASS" });
});

test.each(["application_dashboard_mfa_required", "application_dashboard_phishing_resistant_authentication"])(
  "%s: PASS for managed devices, a lax rule for all others",
  (check) => {
    expect(resultOf(check)).toMatchObject({ automated: "PASS" });
    expect(resultOf(check).findings[0]?.detail).toMatch(/"Other devices" decides, which is FAIL/);
  },
);

test.each([
  ["Hidden notice", { status: "FAIL" }],
  ["Invisible notice", { status: "MANUAL", reason: "needs_review" }],
  ["practice-org", { status: "MANUAL", reason: "partly_automated" }],
  ["Agency sign-in", { status: "PASS" }],
  ["Not launched yet", undefined],
])("banner of the brand %s", (name, finding) => {
  const found = findingOf("signon_dod_warning_banner_configured", name);
  if (finding === undefined) expect(found).toBeUndefined();
  else expect(found).toMatchObject({ ...finding, detail: expect.stringContaining('"Not launched yet"') as string });
});

test("apps: a rule whose zone allows every address FAILs", () => {
  const finding = findingOf("application_authentication_policy_network_zone_enforced", "Nearly everywhere");
  expect(finding).toMatchObject({ status: "FAIL" });
});

test("blocklists: a note names what bypasses them", () => {
  const result = resultOf("network_zone_block_anonymized_proxies");
  expect(result.automated).toBe("PASS");
  expect(result.detail).toMatch(/the addresses of zone "DefaultExemptIpZone" \([\d./-]+\) bypass every blocklist;/);
});

function resultOf(check: string): CheckResult {
  const result = results.get(check);
  if (result === undefined) throw new Error(`No result of ${check}`);
  return result;
}

function findingOf(check: string, name: string): Finding | undefined {
  return resultOf(check).findings.find(({ resource }) => resource.name === name);
}
