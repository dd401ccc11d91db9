import { createPrivateKey } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { catalog } from "../../scanner/catalog/catalog.ts";
import { parseFault } from "../../practice_org/api/faults.ts";
import { createPracticeOrg, type PracticeOrgOptions } from "../../practice_org/create_practice_org.ts";
import { runCommand, startCommand, temporaryFolder } from "../support/command_line.ts";

/** `--verbose`: each request, wait, collector and check on stderr, and nothing that is secret. */

async function setUp(options: Partial<PracticeOrgOptions> = {}) {
  const folder = await temporaryFolder();
  onTestFinished(() => folder[Symbol.asyncDispose]());
  const org = await createPracticeOrg({ profile: { name: "typical" }, role: "super", ...options });
  onTestFinished(() => org.stop());
  const env = { IDP_ORG_URL: org.url, IDP_CLIENT_ID: org.clientId, IDP_PRIVATE_KEY: org.privateKeyPem };
  return { org, cwd: folder.path, env, run: (...args: string[]) => runCommand(args, { cwd: folder.path, env }) };
}

const requestLine = /^request (?:GET|POST) \/\S+ (?:\d{3}|without an answer \(.*\)) [\d.]+ m?s$/;

function linesOf(stderr: string, kind: string): readonly string[] {
  return stderr.split("\n").filter((line) => line.startsWith(`${kind} `));
}

test("scan says what it requests, collects and evaluates, and the report on stdout is the same", async () => {
  const { run } = await setUp();
  const { code, stdout, stderr } = await run("scan", "-v", "-f", "json", "--fail-on", "never");
  expect(code).toBe(0);
  const report = JSON.parse(stdout) as { readonly scan: { readonly requests: { readonly total: number } } };
  const requests = linesOf(stderr, "request");
  expect(requests).toHaveLength(report.scan.requests.total);
  for (const line of requests) expect(line).toMatch(requestLine);
  expect(requests).toContainEqual(expect.stringMatching(/^request GET \/api\/v1\/policies\?type=PASSWORD 200 /));
  const evaluated = linesOf(stderr, "evaluated").map((line) => line.split(" ")[1]);
  expect(evaluated).toHaveLength(catalog.length);
  expect(evaluated).toEqual(expect.arrayContaining(catalog.map(({ name }) => name)));
  expect(linesOf(stderr, "collected")).toContainEqual(expect.stringMatching(/^collected password_policies [\d.]+ ms$/));
});

test("no line holds a key, an assertion, a token, a proof, a cursor or a search text", async () => {
  const { org, run } = await setUp({ profile: { name: "large", appCount: 450 } });
  const { stderr } = await run("scan", "--verbose", "--fail-on", "never");
  const requests = linesOf(stderr, "request");
  expect(requests).toContainEqual(expect.stringMatching(/^request GET \/api\/v1\/apps\?after=…&limit=200 200 /));
  const { d, n } = createPrivateKey(org.privateKeyPem).export({ format: "jwk" });
  for (const secret of [d, n, "PRIVATE KEY", "eyJ", "Bearer", "DPoP", "client_assertion"]) {
    expect(stderr).not.toContain(secret);
  }
  for (const line of requests) expect(line).not.toMatch(/(?:after|filter|q|search)=[^…]/);
});

test("says what is waited for, what is repeated and what could not be collected", async () => {
  const { run } = await setUp({
    faults: ["server-error*1:/api/v1/zones", "rate-limit*1:/api/v1/brands", "forbidden:/api/v1/logStreams"].map(
      parseFault,
    ),
  });
  const { stderr } = await run("scan", "--verbose", "--fail-on", "never");
  expect(linesOf(stderr, "request")).toContainEqual(expect.stringMatching(/\/api\/v1\/zones\S* 500 /));
  expect(linesOf(stderr, "request")).toContainEqual(expect.stringMatching(/\/api\/v1\/brands\S* 429 /));
  expect(linesOf(stderr, "wait")).toContainEqual(expect.stringMatching(/^wait for the next attempt [\d.]+ m?s$/));
  expect(linesOf(stderr, "wait")).toContainEqual(expect.stringMatching(/^wait for the rate limit [\d.]+ m?s$/));
  expect(linesOf(stderr, "collected")).toContainEqual(
    expect.stringMatching(/^collected log_streams [\d.]+ m?s, missing: missing_role$/),
  );
});

test("collect, evaluate, fix and doctor have it too", async () => {
  const { run } = await setUp();
  const collected = await run("collect", "-v", "--save-artifacts", "evidence.json");
  expect(collected.code).toBe(0);
  expect(linesOf(collected.stderr, "request").length).toBeGreaterThan(10);
  const evaluated = await run("evaluate", "-v", "--from-artifacts", "evidence.json", "--fail-on", "never");
  expect(evaluated.code).toBe(0);
  expect(linesOf(evaluated.stderr, "evaluated")).toHaveLength(catalog.length);
  const fixed = await run("fix", "-v", "-o", "fixes", "--check", "authenticator_okta_verify_fips_compliant");
  expect(fixed.code).toBe(0);
  expect(linesOf(fixed.stderr, "request").length).toBeGreaterThan(2);
  const doctor = await run("doctor", "-v");
  expect(doctor.code).toBe(0);
  expect(linesOf(doctor.stderr, "request").length).toBeGreaterThan(5);
});

test("follow has it while it runs", async () => {
  const { org, cwd, env } = await setUp();
  const running = startCommand(["follow", "-v", "-i", "2"], { cwd, env });
  await running.until("stderr", /^evaluated authenticator_okta_verify_fips_compliant /m);
  org.change("fips-on");
  await running.until("stderr", /^request GET \/api\/v1\/logs\?/m);
  await running.until("stderr", /^(evaluated authenticator_okta_verify_fips_compliant )[^]*^\1/m);
  expect((await running.stop()).code).toBe(0);
});

test("beside --quiet it is refused", async () => {
  const { run, cwd } = await setUp();
  await writeFile(join(cwd, "evidence.json"), "");
  const { code, stdout, stderr } = await run("scan", "-q", "-v");
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toMatch(/^error: option '-v, --verbose' cannot be used with option '-q, --quiet'\n/);
});
