import { expect, test } from "vitest";
import { diagnose, type DoctorResult } from "../../../scanner/commands/doctor.ts";
import { steps, type Step } from "../../../scanner/okta/examine.ts";
import { parseFault } from "../../../practice_org/api/faults.ts";
import { parseProfile } from "../../../practice_org/contents/profile.ts";
import type { PracticeOrg, PracticeOrgOptions } from "../../../practice_org/create_practice_org.ts";
import { defaultScopes } from "../../../scanner/settings/values.ts";
import { scanPracticeOrg } from "../../support/scan_practice_org.ts";
import { startOrg } from "../../practice_org/start_org.ts";
import { cleanUp } from "../../support/clean_up.ts";
import { createFakeClock } from "../../support/fake_clock.ts";
import {
  createScriptedIdp,
  oauthError,
  rateHeaders,
  tokenPath,
  type Reply,
  type ScriptedIdp,
} from "../../support/scripted_idp.ts";

test("a doctor finds nothing wrong with a read-only service application but what its role cannot see", async () => {
  const results = await examineOrg(await startOrg({ role: "read-only" }));
  const others: Partial<Record<Step, string>> = { rules: "warn", public_client_admins: "skipped" };
  expect(results.map(({ step, state }) => [step, state])).toEqual(steps.map((step) => [step, others[step] ?? "ok"]));
  expect(detailOf(results, "private_key")).toContain("RS256");
  expect(detailOf(results, "organization")).toContain("Identity Engine");
  expect(detailOf(results, "dpop")).toContain("DPoP");
  expect(detailOf(results, "scopes")).toContain("11 of 11");
  expect(detailOf(results, "role")).toContain("READ_ONLY_ADMIN");
  expect(detailOf(results, "rate_limits")).toContain("150 a minute (token)");
});

test("doctor reports an accepted client when no scope is granted", async () => {
  const results = await examineOrg(await startOrg({ role: "read-only", grantedScopes: [] }));
  expect(states(results)).toMatchObject({ token: "ok", dpop: "skipped", scopes: "fail", role: "skipped" });
});

test.each<[string, Reply, Step, string]>([
  [
    "a wrong client",
    oauthError(401, "invalid_client", "Invalid value for 'client_id' parameter."),
    "token",
    "the client id",
  ],
  ["refused proofs", oauthError(400, "invalid_dpop_proof", "The DPoP proof JWT header is missing."), "dpop", "DPoP"],
])("a doctor that meets %s fails there and skips what needs it", async (_, reply, step, remedy) => {
  const idp = await createScriptedIdp();
  cleanUp(() => idp.stop());
  idp.on("POST", tokenPath, reply);
  const results = await examineIdp(idp);
  expect(resultOf(results, step)).toMatchObject({ state: "fail", remedy: expect.stringContaining(remedy) as string });
  expect(states(results)).toMatchObject({ organization: "ok", role: "skipped", rate_limits: "skipped" });
  expect(results.map(({ step }) => step)).toEqual(steps);
});

test("a doctor names every configuration problem and goes no further", async () => {
  const results = await examine({ IDP_ORG_URL: "ftp://acme.okta.com", IDP_PRIVATE_KEY: "hunter2-hunter2" });
  expect(states(results)).toMatchObject({ configuration: "fail", private_key: "fail", organization: "skipped" });
  expect(detailOf(results, "configuration")).toMatch(/IDP_ORG_URL.*IDP_CLIENT_ID/s);
  expect(resultOf(results, "private_key").remedy).toContain("scanstream setup makes one for you");
  expect(JSON.stringify(results)).not.toContain("hunter2");
  expect(results.map(({ step }) => step)).toEqual(steps);
});

test("a doctor warns when a rate limit is nearly used up", async () => {
  const clock = createFakeClock();
  const idp = await createScriptedIdp({ nowMs: () => clock.nowMs() });
  cleanUp(() => idp.stop());
  idp.on("GET", "/api/v1/policies", { body: [], headers: rateHeaders(100, 9, 30, clock.nowMs()) });
  const scopes = { IDP_SCOPES: "policies.read" };
  expect(resultOf(await examineIdp(idp, scopes), "rate_limits")).toMatchObject({
    state: "warn",
    detail: expect.stringContaining("9 of 100 left") as string,
  });
  idp.on("GET", "/api/v1/policies", { body: [], headers: rateHeaders(100, 10, 30, clock.nowMs()) });
  expect(resultOf(await examineIdp(idp, scopes), "rate_limits").state).toBe("ok");
});

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
  const org = await startOrg({ profile: parseProfile(profile), ...options });
  const { limits = [] } = resultOf(await examineOrg(org), "rules");
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
  const org = await startOrg({ profile: { name: "compliant" }, grantedScopes });
  const { state, limits = [] } = resultOf(await examineOrg(org), "rules");
  expect(state).toBe("ok");
  expect(limits.find(({ why }) => why.includes("okta.groups.read"))).toMatchObject({
    rules: ["V-273186", "V-273188", "V-273190", "V-273191", "V-273193", "V-273194", "V-273203", "V-273206", "V-279691"],
    outcome: "partial",
  });
});

test("a doctor says what this organization answers this role, with few requests", async () => {
  const faults = [parseFault("forbidden:/api/v1/logStreams")];
  const org = await startOrg({ role: "read-only", faults });
  const hidden = resultOf(await examineOrg(org), "role");
  expect(org.requests.filter(({ path }) => path.startsWith("/api/v1")).length).toBeLessThan(31);
  expect(hidden).toMatchObject({ state: "warn", remedy: null });
  expect(hidden.facts).toEqual([
    expect.stringContaining("only some of the apps"),
    expect.stringContaining("may read GET /api/v1/users/{id}/roles"),
    expect.stringMatching(/Not readable: .*logStreams.*403 E0000006/),
  ]);
  expect(resultOf(await examineOrg(await startOrg()), "role").facts?.[0]).toContain("every app");
});

function examineOrg({ url, clientId, privateKeyPem }: PracticeOrg): Promise<readonly DoctorResult[]> {
  return examine({ IDP_ORG_URL: url, IDP_CLIENT_ID: clientId, IDP_PRIVATE_KEY: privateKeyPem });
}

function examineIdp({ url, clientId, privateKey }: ScriptedIdp, more: Readonly<Record<string, string>> = {}) {
  return examine({ IDP_ORG_URL: url, IDP_CLIENT_ID: clientId, IDP_PRIVATE_KEY: privateKey, ...more });
}

async function examine(env: Readonly<Record<string, string>>): Promise<readonly DoctorResult[]> {
  const given = { command: "doctor", flags: {}, env } as const;
  const results: DoctorResult[] = [];
  for await (const result of diagnose({ given, signal: new AbortController().signal })) results.push(result);
  return results;
}

function resultOf(results: readonly DoctorResult[], step: Step): DoctorResult {
  const result = results.find((candidate) => candidate.step === step);
  if (result === undefined) throw new Error(`There is no result for ${step}`);
  return result;
}

function detailOf(results: readonly DoctorResult[], step: Step): string {
  return resultOf(results, step).detail;
}

function states(results: readonly DoctorResult[]): Readonly<Record<string, string>> {
  return Object.fromEntries(results.map(({ step, state }) => [step, state]));
}
