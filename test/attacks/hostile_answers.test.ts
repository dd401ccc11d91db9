import { isDeepStrictEqual } from "node:util";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../shared/json.ts";
import type { ArtifactName, CollectedArtifacts } from "../../scanner/evidence/artifacts.ts";
import { parseArtifacts } from "../../scanner/evidence/artifacts_document.ts";
import { evaluateTraced, toContext, type FinishedScan } from "../../scanner/run_scan.ts";
import type { CheckResult } from "../../shared/report.ts";
import { scanPracticeOrg } from "../support/scan_practice_org.ts";
import { catalog } from "../../scanner/catalog/catalog.ts";
import { createCollection } from "../../scanner/evidence/collect.ts";
import { evaluateCheck } from "../../scanner/evaluate.ts";
import { isHolding } from "../../shared/rule_result.ts";
import {
  aSessionPolicy,
  aSmartCardIdp,
  aToken,
  anApp,
  anAutomation,
  context,
  set,
} from "../support/artifact_builders.ts";
import { cleanUp } from "../support/clean_up.ts";
import { compliantOrg, paths } from "../support/compliant_org.ts";
import { mapIdpClient } from "../support/map_idp_client.ts";
import { apiError, createScriptedIdp, issueToken, tokenPath, type ScriptedIdp } from "../support/scripted_idp.ts";

/** Single odd answers in an org in which all else is compliant: what they cost, and what they must not. */

async function startCompliantOrg(answers: Readonly<Record<string, unknown>> = {}): Promise<ScriptedIdp> {
  const idp = await createScriptedIdp({
    otherwise({ url }) {
      const answer = answers[url] ?? compliantOrg[url];
      return answer === undefined ? apiError(404, "E0000007") : { body: JSON.stringify(answer) };
    },
  });
  cleanUp(() => idp.stop());
  return idp;
}

async function scan(answers: Readonly<Record<string, unknown>>) {
  const idp = await startCompliantOrg(answers);
  const finished = await scanOrg(idp);
  requireSoundResults(finished);
  await requireSameFromFile(finished);
  return { idp, finished, notPassed: finished.results.filter((result) => !isHolding(result)) };
}

const accessPolicy = (id: string) =>
  set(anApp(), "_links.accessPolicy.href", `https://acme.okta.com/api/v1/policies/${id}`);

describe.each([["bad\0id"], [".."], ["a b"], ["x".repeat(300)]])("the id %j", (id) => {
  test.each<[what: string, path: string, answer: unknown, check: string]>([
    ["of a session policy", paths.signOn, [aSessionPolicy({ id })], "signon_global_session_idle_timeout_15min"],
    ["of an automation", paths.lifecycle, [anAutomation({ id })], "user_inactivity_automation_35d_enabled"],
    ["of a token's owner", paths.tokens, [aToken({ userId: id })], "apitoken_not_super_admin"],
    [
      "of an owner's group",
      "/api/v1/users/00u1/groups",
      [{ id, profile: { name: "Everyone" } }],
      "apitoken_not_super_admin",
    ],
    ["of a brand", paths.brands, [{ id, name: "acme" }], "signon_dod_warning_banner_configured"],
    [
      "of an app's policy",
      paths.apps,
      [...(compliantOrg[paths.apps] as readonly JsonObject[]), accessPolicy(id)],
      "application_authentication_policy_network_zone_enforced",
    ],
  ])("%s costs its check a verdict, ends no scan and reaches no path", async (_, path, answer, check) => {
    const { idp, finished, notPassed } = await scan({ [path]: answer });
    expect(notPassed.map((result) => result.check)).toContain(check);
    // The checks of one list share what it costs.
    for (const result of notPassed)
      expect([result.status, result.reason], result.check).toEqual(["MANUAL", "unreadable"]);
    expect(notPassed.length).toBeLessThanOrEqual(4);
    expect(finished.status).toBe("completed");
    const asked = idp.requests
      .map((request) => request.url)
      .filter((url) => !(url in compliantOrg) && url.includes("api/v1"));
    expect(asked).toEqual([]);
  });
});

describe("values of another shape", () => {
  const odd: unknown[] = [{ toString: 1 }, { toString: null, valueOf: {} }, [], ["Default Rule"], 7, true, null, {}];
  const lists = Object.entries(compliantOrg).filter((entry): entry is [string, readonly JsonObject[]] =>
    Array.isArray(entry[1]),
  );

  test.each(odd.map((value) => [JSON.stringify(value), value]))(
    "%s in every field of every list ends no scan",
    async (_, value) => {
      const spoiled = lists.map(([path, entries]) => [
        path,
        entries.flatMap((entry) => Object.keys(entry).map((field) => ({ ...entry, [field]: value }))),
      ]);
      await scan(Object.fromEntries(spoiled));
    },
  );

  test("an app name or rule name of another shape leaves the role known, and makes no rule built in", async () => {
    const idp = await startCompliantOrg({
      [paths.apps]: [anApp({ name: ["saasure"] }), anApp({ name: { toString: 1 } })],
    });
    const { document } = await scanOrg(idp);
    expect(document.scan.role).not.toBe("unknown");
    const rule = (name: unknown) => [{ id: "1", status: "ACTIVE", priority: 1, name, actions: {} }];
    for (const name of [["Default Rule"], { toString: 1 }]) {
      const { finished } = await scan({ "/api/v1/policies/00p1/rules": rule(name) });
      const result = finished.results.find(({ check }) => check === "signon_global_session_idle_timeout_15min");
      expect(result?.findings[0]?.actual).not.toContain("built-in");
      expect(result?.status).toBe("FAIL");
    }
  });
});

test("error texts, headers, scopes and an organization's own texts become lines too", async () => {
  const odd = "bad\u0000\ud800\u202e\u001b[2J\r\n::error::forged 😀".repeat(20);
  const idp = await startCompliantOrg();
  idp.on("GET", "/.well-known/okta-organization", { body: JSON.stringify({ id: odd, pipeline: odd }) });
  idp.on("POST", tokenPath, (request) => issueToken(request, { scope: `okta.policies.read ${odd}` }));
  idp.on("GET", "/api/v1/policies", { status: 403, body: JSON.stringify({ errorCode: odd, errorSummary: odd }) });
  const refusal = await scanOrg(idp).catch((error: unknown) => error);
  expect(refusal).toMatchObject({ code: expect.any(String), name: "IdpError" });
  expect((refusal as Error).message).not.toMatch(/[\p{Cc}\p{Cs}\u202e]/u);

  idp.on("GET", "/api/v1/policies", { body: [], headers: { link: "\u0085\u009b<x", "x-odd": "\u0080" } });
  const finished = await scanOrg(idp);
  requireSoundResults(finished);
  expect(JSON.stringify(finished.document.scan)).not.toMatch(/\\u|\\r|\\n|\u202e/);
});

describe("time", () => {
  test.each([["."], ["/"], [" "], ["a "], [";"], ["="], ["\ud800"], ["\0"], ["<"], ["eyJ"]])(
    "a name of hundreds of kilobytes of %j takes none",
    async (unit) => {
      const name = unit.repeat(300_000 / unit.length);
      const apps = Array.from({ length: 5 }, (_, index) => ({
        ...set(anApp({ id: `0oa${index}`, label: name }), "_links.accessPolicy.href", name),
      }));
      const answers = {
        [paths.apps]: apps,
        [paths.idps]: [set(aSmartCardIdp({ name }), "protocol.credentials.trust.issuer", `OU=DoD${name}`)],
        [paths.logStreams]: [{ id: name, name, status: name }],
        "/api/v1/brands/bnd1/pages/sign-in/customized": { pageContent: name },
      };
      // Quadratic work on one of them takes longer than a test may.
      await scan(answers);
    },
  );
});

test("a collector that fails, and a check that cannot say what it needs, cost their checks and no others", async () => {
  const client = mapIdpClient(compliantOrg);
  const failing = {
    ...client,
    getList: (request: Parameters<typeof client.getList>[0]) =>
      request.path === paths.zones ? Promise.reject(new TypeError("x is not \0 a function")) : client.getList(request),
  };
  const concerned = [
    "network_zone_block_anonymized_proxies",
    "apitoken_restricted_to_network_zone",
    "signon_global_session_policy_network_zone_enforced",
    "application_authentication_policy_network_zone_enforced",
  ];
  const collection = createCollection(failing);
  for (const check of catalog) {
    const result = evaluateCheck(check, await collection.obtainFor(check), context);
    if (concerned.includes(check.name))
      expect(result, check.name).toMatchObject({ status: "MANUAL", reason: "unreadable" });
    else expect(isHolding(result), check.name).toBe(true);
  }
  const [check] = catalog;
  if (check === undefined) throw new Error("There is no check");
  const unsure = {
    ...check,
    further: () => {
      throw new TypeError("odd");
    },
  };
  expect(evaluateCheck(unsure, await collection.obtainFor(unsure), context)).toMatchObject({ status: "PASS" });
});

test("an abort is no odd answer: it still ends the collection", async () => {
  const stop = new AbortController();
  const client = { getObject: () => Promise.reject(new Error("cut")), getList: () => Promise.reject(new Error("cut")) };
  const collection = createCollection(client, { signal: stop.signal });
  const pending = collection.obtain(["network_zones"]);
  stop.abort(new Error("stopped"));
  await expect(pending).rejects.toThrow("stopped");
});

/** All checks, by the real client over HTTP. Rejects where the command would end with 3 or 4. */
function scanOrg({ url, clientId, privateKey }: ScriptedIdp): Promise<FinishedScan> {
  return scanPracticeOrg({ url, clientId, privateKeyPem: privateKey });
}

/** Each check once and with findings, no verdict without evidence, and texts that every reader can carry. */
function requireSoundResults({ results, document }: FinishedScan): void {
  expect(results.map((result) => result.check)).toEqual(catalog.map((check) => check.name));
  for (const [index, result] of results.entries()) {
    const missing = catalog[index]?.artifacts.map((name) => isNothing(document.artifacts, name)) ?? [];
    // A FAIL may be proven by what is there.
    if (missing.includes(true) && (result.status === "PASS" || (result.status === "FAIL" && !missing.includes(false))))
      throw new Error(`${result.check} is ${result.status} from no evidence`);
    if (result.findings.length === 0) throw new Error(`${result.check} has no finding`);
    if ((result.reason === null) !== (result.status !== "MANUAL"))
      throw new Error(`${result.check} has a wrong reason`);
    requireLines(result);
  }
}

/** Nothing arrived of it, not even the first pages. */
function isNothing(artifacts: CollectedArtifacts, name: ArtifactName): boolean {
  const evidence = artifacts[name];
  return evidence === undefined || (evidence.state === "missing" && evidence.partial === null);
}

const notALine = /[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

function requireLines(result: CheckResult): void {
  const texts = result.findings.flatMap(({ resource, expected, actual, detail }) => {
    return [resource.type, resource.id, resource.name, expected, actual, detail];
  });
  const odd = [result.detail, ...texts].find((text) => notALine.test(text) || text.length > 5000);
  if (odd !== undefined) throw new Error(`${result.check} holds ${JSON.stringify(odd.slice(0, 200))}`);
}

/** Requires that the saved evidence gives the same verdicts again. */
async function requireSameFromFile({ results, document }: FinishedScan): Promise<void> {
  const saved = parseArtifacts(JSON.stringify(document));
  const { engine, org_url: orgUrl } = saved.scan;
  const context = toContext({ engine, orgUrl, evaluatedAt: saved.evaluated_at, orgPolicy: null });
  for (const [index, check] of catalog.entries()) {
    const again = evaluateTraced(check, saved.artifacts, { context, trace: undefined });
    // `toEqual` names the difference, but takes ten times as long for thousands of findings.
    if (!isDeepStrictEqual(again, results[index])) expect(again, check.name).toEqual(results[index]);
  }
}
