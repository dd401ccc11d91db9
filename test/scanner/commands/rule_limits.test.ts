import { afterEach, expect, test } from "vitest";
import { defaultScopes } from "../../../scanner/settings/values.ts";
import { diagnose, type DoctorResult } from "../../../scanner/commands/doctor.ts";
import type { Step } from "../../../scanner/okta/examine.ts";
import { parseFault } from "../../../practice_org/api/faults.ts";
import { parseProfile } from "../../../practice_org/contents/profile.ts";
import {
  createPracticeOrg,
  type PracticeOrg,
  type PracticeOrgOptions,
} from "../../../practice_org/create_practice_org.ts";
import { scanPracticeOrg } from "../../support/scan_practice_org.ts";

let org: PracticeOrg | null = null;

afterEach(() => org?.stop());

/** Reasons why a scan cannot decide: it lacks a scope, a role, a feature, or a policy that is there to be judged. */
const limitReasons = new Set<unknown>(["missing_scope", "missing_role", "not_available"]);
const few = defaultScopes.filter((scope) => !["users.read", "networkZones.read", "brands.read"].includes(scope));

test.each<[profile: string, Omit<PracticeOrgOptions, "profile">, opened: readonly string[]]>([
  ["typical", { role: "read-only" }, ["V-273187", "V-273190", "V-273191", "V-273193", "V-273194"]],
  [
    "compliant",
    { role: "super", grantedScopes: few },
    ["V-273192", "V-279689", "V-279690", "V-279691", "V-279692", "V-279693"],
  ],
  [
    "compliant",
    { role: "super", faults: ["forbidden:/api/v1/logStreams", "forbidden:/api/v1/users/*/roles"].map(parseFault) },
    ["V-273202", "V-279690"],
  ],
  ["classic", { role: "super" }, ["V-273190", "V-273191", "V-273193", "V-273194", "V-273204", "V-273205", "V-279693"]],
])("the doctor of %s with %j names the rules that a scan then leaves open", async (profile, options, opened) => {
  org = await createPracticeOrg({ profile: parseProfile(profile), ...options });
  const { limits = [] } = await resultOf(org, "rules");
  const foretold = limits.filter(({ outcome }) => outcome === "manual").flatMap(({ rules }) => rules);
  // A rule that comes after V1R2 may be left open as well.
  expect([...new Set(foretold)].filter((rule) => rule <= "V-279693").toSorted()).toEqual(opened);
  const { results } = await scanPracticeOrg(org);
  const limited = results.filter(({ reason }) => limitReasons.has(reason)).map(({ vuln_id }) => vuln_id);
  expect(foretold).toEqual(expect.arrayContaining(limited));
  const manual = results.filter(({ status }) => status === "MANUAL").map(({ vuln_id }) => vuln_id);
  expect(manual).toEqual(expect.arrayContaining([...opened]));
});

test("a doctor without the built-in groups names the rules that may be for Everyone", async () => {
  const grantedScopes = defaultScopes.filter((scope) => scope !== "groups.read");
  org = await createPracticeOrg({ profile: { name: "compliant" }, role: "super", grantedScopes });
  const { state, limits = [] } = await resultOf(org, "rules");
  expect(state).toBe("ok");
  expect(limits.find(({ why }) => why.includes("okta.groups.read"))).toMatchObject({
    rules: ["V-273186", "V-273188", "V-273190", "V-273191", "V-273193", "V-273194", "V-273203", "V-273206", "V-279691"],
    outcome: "partial",
  });
});

test("a doctor says what this organization answers this role, with few requests", async () => {
  org = await createPracticeOrg({
    profile: { name: "typical" },
    role: "read-only",
    faults: [parseFault("forbidden:/api/v1/logStreams")],
  });
  const hidden = await resultOf(org, "role");
  expect(org.requests.filter(({ path }) => path.startsWith("/api/v1")).length).toBeLessThan(31);
  expect(hidden).toMatchObject({ state: "warn", remedy: null });
  expect(hidden.facts).toEqual([
    expect.stringContaining("only some of the apps"),
    expect.stringContaining("may read GET /api/v1/users/{id}/roles"),
    expect.stringMatching(/Not readable: .*logStreams.*403 E0000006/),
  ]);
  await org.stop();
  org = await createPracticeOrg({ profile: { name: "typical" }, role: "super" });
  const { facts = [] } = await resultOf(org, "role");
  expect(facts[0]).toContain("every app");
});

async function resultOf({ url, clientId, privateKeyPem }: PracticeOrg, step: Step): Promise<DoctorResult> {
  const env = { IDP_ORG_URL: url, IDP_CLIENT_ID: clientId, IDP_PRIVATE_KEY: privateKeyPem };
  for await (const result of diagnose({
    given: { command: "doctor", flags: {}, env },
    signal: new AbortController().signal,
  })) {
    if (result.step === step) return result;
  }
  throw new Error(`There is no result for ${step}`);
}
