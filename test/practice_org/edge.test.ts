import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createPracticeOrg, type PracticeOrg } from "../../practice_org/create_practice_org.ts";
import { parseProfile, profileNames } from "../../practice_org/profiles/profile.ts";
import { catalog } from "../../scanner/catalog/catalog.ts";
import type { CheckResult } from "../../shared/report.ts";
import { scanPracticeOrg } from "../support/scan_practice_org.ts";

describe("a scan of the profile edge", () => {
  let org: PracticeOrg;
  let results: ReadonlyMap<string, CheckResult>;

  beforeAll(async () => {
    org = await createPracticeOrg({ profile: { name: "edge" }, role: "super" });
    results = resultsById((await scanPracticeOrg(org)).results);
  });

  afterAll(() => org.stop());

  test.each<[rule: string, resource: string, verdict: string, says: RegExp]>([
    ["V-273186", "Denied first", "PASS full", /rule "Everybody else"/],
    ["V-273186", "Office, then lax", "PASS partial", /network.*"On the road" decides, which is FAIL/],
    ["V-279691", "Denied first", "PASS partial", /where rule "Not as a guest" denies access/],
    ["V-279691", "All but a closed zone", "FAIL full", /not in the inactive zone "Closed office"/],
    ["V-279691", "Default Policy", "FAIL full", /ALL_ZONES of every address/],
    ["V-273190", "Okta Dashboard", "PASS partial", /device, network.*"Other devices" decides, which is FAIL/],
    ["V-273191", "Okta Admin Console", "PASS full", /rule "Everyone"/],
    ["V-279693", "Denied without a zone", "PASS partial", /1 rule with its zones/],
    ["V-279693", "All but a deleted zone", "FAIL full", /not in the unknown zone/],
    ["V-279693", "Any defined zone", "FAIL full", /ALL_ZONES of every address/],
    ["V-279693", "Nearly everywhere", "FAIL full", /of every address/],
    ["V-279693", "Everywhere but one country", "needs_review full", /only excludes/],
    ["V-279693", "Unclear zone, open catch-all", "FAIL full", /ALLOW in the catch-all/],
    ["V-279693", "Identity source", "needs_review full", /may have no sign-in/],
    ["V-273189", "Active Directory Policy", "not_applicable full", /users of a directory/],
    ["V-273204", "Smart Card Authenticator", "PASS full", /ACTIVE/],
    ["V-279689", "Old token", "FAIL full", /no network restriction/],
  ])("%s, %s: %s", (rule, resource, verdict, says) => {
    const finding = results.get(rule)?.findings.find(({ resource: { name } }) => name === resource);
    expect(`${finding?.reason ?? finding?.status} ${finding?.coverage}`).toBe(verdict);
    expect(`${finding?.actual}; ${finding?.coverage_reason}`).toMatch(says);
  });
});

describe("under the role and the scopes of README.md", () => {
  const profiles = Object.keys(profileNames).map((name) => (name === "large:N" ? "large:300" : name));

  test.each(profiles)("no full PASS of %s rests on evidence that is not whole", async (name) => {
    const org = await createPracticeOrg({ profile: parseProfile(name), role: "read-only" });
    try {
      const { results, document } = await scanPracticeOrg(org);
      for (const { check, rule, artifacts: needed } of catalog.map((entry) => ({ ...entry, check: entry.name }))) {
        const result = results.find((candidate) => candidate.check === check);
        if (result?.status !== "PASS" || result.coverage !== "full") continue;
        expect(rule.scopes, check).not.toContain("apps.read");
        const evidence = JSON.stringify(needed.map((artifact) => document.artifacts[artifact]));
        expect(evidence, check).not.toMatch(/"state":"missing"/);
      }
    } finally {
      await org.stop();
    }
  });

  test("a PASS about some of the apps says that others were not seen", async () => {
    const org = await createPracticeOrg({ profile: { name: "edge" }, role: "read-only" });
    try {
      const apps = resultsById((await scanPracticeOrg(org)).results).get("V-279693");
      expect(apps).toMatchObject({ status: "PASS", coverage: "partial" });
      expect(apps?.findings[0]?.coverage_reason).toMatch(/Only the 2 apps .* can see were evaluated/);
    } finally {
      await org.stop();
    }
  });
});

function resultsById(results: readonly CheckResult[]): ReadonlyMap<string, CheckResult> {
  return new Map(results.map((result) => [result.vuln_id, result]));
}
