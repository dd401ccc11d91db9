import { afterEach, expect, test } from "vitest";
import { diagnose, type DoctorResult } from "../../../scanner/commands/doctor.ts";
import { steps, type Step } from "../../../scanner/okta/examine.ts";
import { createPracticeOrg, type PracticeOrgOptions } from "../../../practice_org/create_practice_org.ts";
import { createFakeClock } from "../../support/fake_clock.ts";
import { createScriptedIdp, oauthError, rateHeaders, tokenPath, type Reply } from "../../support/scripted_idp.ts";
import { createSelfSigned } from "../../support/self_signed.ts";

const owned: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const stop of owned.splice(0).toReversed()) await stop();
});

test("a doctor finds nothing wrong with a read-only service application but what its role cannot see", async () => {
  const results = await examinePractice({ role: "read-only" });
  expect(results.map(({ step, state }) => [step, state])).toEqual(
    steps.map((step) => [step, step === "rules" ? "warn" : "ok"]),
  );
  expect(detailOf(results, "private_key")).toContain("RS256");
  expect(detailOf(results, "organization")).toContain("Identity Engine");
  expect(detailOf(results, "dpop")).toContain("DPoP");
  expect(detailOf(results, "scopes")).toContain("11 of 11");
  expect(detailOf(results, "role")).toContain("READ_ONLY_ADMIN");
  expect(detailOf(results, "rate_limits")).toContain("150 a minute (token)");
});

test("a doctor names the scopes that are not granted", async () => {
  const scopes = resultOf(
    await examinePractice({ role: "read-only", grantedScopes: ["policies.read", "apps.read"] }),
    "scopes",
  );
  expect(scopes).toMatchObject({ state: "warn", detail: expect.stringContaining("2 of 11") as string });
  expect(scopes.detail).toContain("okta.logStreams.read");
  expect(scopes.remedy).toContain("Okta API Scopes");
});

test("doctor reports an accepted client when no scope is granted", async () => {
  const results = await examinePractice({ role: "read-only", grantedScopes: [] });
  expect(states(results)).toMatchObject({
    token: "ok",
    dpop: "skipped",
    scopes: "fail",
    role: "skipped",
    rate_limits: "skipped",
  });
});

test.each<[string, Reply, Step, string]>([
  [
    "a wrong client",
    oauthError(401, "invalid_client", "Invalid value for 'client_id' parameter."),
    "token",
    "IDP_CLIENT_ID",
  ],
  ["refused proofs", oauthError(400, "invalid_dpop_proof", "The DPoP proof JWT header is missing."), "dpop", "DPoP"],
])("a doctor that meets %s fails there and skips what needs it", async (_, reply, step, remedy) => {
  const idp = await createScriptedIdp();
  owned.push(() => idp.stop());
  idp.on("POST", tokenPath, reply);
  const results = await examine({ IDP_ORG_URL: idp.url, IDP_CLIENT_ID: idp.clientId, IDP_PRIVATE_KEY: idp.privateKey });
  expect(resultOf(results, step)).toMatchObject({ state: "fail", remedy: expect.stringContaining(remedy) as string });
  expect(states(results)).toMatchObject({ organization: "ok", role: "skipped", rate_limits: "skipped" });
  expect(results.map(({ step }) => step)).toEqual(steps);
});

test("doctor distinguishes an unreachable organization from an unknown certificate authority", async () => {
  const idp = await createScriptedIdp({ tls: createSelfSigned("localhost") });
  const env = { IDP_ORG_URL: idp.url, IDP_CLIENT_ID: idp.clientId, IDP_PRIVATE_KEY: idp.privateKey };
  expect(resultOf(await examine(env), "organization").remedy).toContain("NODE_EXTRA_CA_CERTS");
  await idp.stop();
  const results = await examine(env);
  expect(resultOf(results, "organization")).toMatchObject({
    state: "fail",
    detail: expect.stringContaining("refused") as string,
  });
  expect(states(results)).toMatchObject({ private_key: "ok", clock: "skipped", token: "skipped" });
  expect(detailOf(results, "token")).toBe('Fix "organization" first');
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
  owned.push(() => idp.stop());
  idp.on("GET", "/api/v1/policies", { body: [], headers: rateHeaders(100, 9, 30, clock.nowMs()) });
  const env = {
    IDP_ORG_URL: idp.url,
    IDP_CLIENT_ID: idp.clientId,
    IDP_PRIVATE_KEY: idp.privateKey,
    IDP_SCOPES: "policies.read",
  };
  expect(resultOf(await examine(env), "rate_limits")).toMatchObject({
    state: "warn",
    detail: expect.stringContaining("9 of 100 left") as string,
  });
  idp.on("GET", "/api/v1/policies", { body: [], headers: rateHeaders(100, 10, 30, clock.nowMs()) });
  expect(resultOf(await examine(env), "rate_limits").state).toBe("ok");
});

async function examinePractice(options: Omit<PracticeOrgOptions, "profile">): Promise<readonly DoctorResult[]> {
  const org = await createPracticeOrg({ profile: { name: "typical" }, ...options });
  owned.push(() => org.stop());
  return examine({ IDP_ORG_URL: org.url, IDP_CLIENT_ID: org.clientId, IDP_PRIVATE_KEY: org.privateKeyPem });
}

function examine(env: Readonly<Record<string, string>>): Promise<readonly DoctorResult[]> {
  return walk(env, new AbortController().signal);
}

async function walk(env: Readonly<Record<string, string>>, signal: AbortSignal): Promise<readonly DoctorResult[]> {
  const results: DoctorResult[] = [];
  for await (const result of diagnose({ given: { command: "doctor", flags: {}, env }, signal })) results.push(result);
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
