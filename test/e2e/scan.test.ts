import { callCommand } from "../support/called_command.ts";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { catalog } from "../../scanner/catalog/catalog.ts";
import { createPracticeOrg, type PracticeOrg } from "../../practice_org/create_practice_org.ts";
import { publishCredentials } from "../../practice_org/auth/credentials.ts";
import type { Report } from "../../shared/report.ts";
import reportSchema from "../../shared/report.schema.json" with { type: "json" };
import { runCommand, startCommand, temporaryFolder } from "../support/command_line.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let readOnly: PracticeOrg;

beforeAll(async () => {
  folder = await temporaryFolder();
  readOnly = await createPracticeOrg({ profile: { name: "typical" }, role: "read-only" });
});

afterAll(async () => {
  await readOnly.stop();
  await folder[Symbol.asyncDispose]();
});

async function envOf(org: PracticeOrg): Promise<Record<string, string>> {
  const { privateKeyFile } = await publishCredentials(org, join(folder.path, new URL(org.url).port));
  return { IDP_ORG_URL: org.url, IDP_CLIENT_ID: org.clientId, IDP_PRIVATE_KEY_FILE: privateKeyFile };
}

function scan(env: Record<string, string>, ...args: readonly string[]) {
  return callCommand(["scan", ...args], { cwd: folder.path, env });
}

const ajv = new Ajv2020({ allErrors: true });
addFormats.default(ajv);
const validate = ajv.compile(reportSchema);

function parseReport(text: string): Report {
  const report: unknown = JSON.parse(text);
  expect(validate(report), JSON.stringify(validate.errors?.slice(0, 3))).toBe(true);
  return report as Report;
}

describe("scan", () => {
  test("under Read-Only leaves what its role cannot see to a person and judges the rest", async () => {
    const { code, stdout, stderr } = await scan(await envOf(readOnly), "--format", "json");
    const { scan: facts, checks } = parseReport(stdout);
    expect(code).toBe(1);
    expect(facts).toMatchObject({ role: "read_only_admin", engine: "identity", status: "completed" });
    expect(checks).toHaveLength(catalog.length);
    expect(checks.filter(({ reason }) => reason === "missing_role")).toHaveLength(5);
    expect(stderr).toContain(`[${catalog.length}/${catalog.length}]`);
  });

  test.each([
    ["fail", 1],
    ["never", 0],
  ])("--fail-on %s exits with %i on an org that fails", async (failOn, expected) => {
    const args = ["--check", "authenticator_password_minimum_length_15", "--fail-on", failOn, "--quiet"];
    const { code, stderr } = await scan(await envOf(readOnly), ...args, "--format", "json", "--output", folder.path);
    expect(code).toBe(expected);
    // However quiet, a run that fails says why in one line.
    expect(stderr).toMatch(expected === 1 ? /^Exit 1: 1 finding failed.* \(--fail-on .*\): V-273195/ : /^$/);
  });

  test("writes the same verdicts again from saved artifacts, offline", async () => {
    const file = join(folder.path, "artifacts.json");
    const online = await scan(await envOf(readOnly), "--format", "json", "--quiet", "--save-artifacts", file);
    const offline = await callCommand(["evaluate", "--from-artifacts", file, "--format", "json"], { cwd: folder.path });
    expect(offline.code).toBe(1);
    expect(parseReport(offline.stdout).checks).toEqual(parseReport(online.stdout).checks);
    expect(await readFile(file, "utf8")).not.toMatch(/PRIVATE KEY|Bearer|DPoP/);
  });

  test("without an admin role exits with 3, evaluates nothing and says so as JSON", async () => {
    const org = await createPracticeOrg({ profile: { name: "typical" }, role: "none" });
    const { code, stdout, stderr } = await scan(await envOf(org), "--format", "json");
    await org.stop();
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({
      schema: "scanstream.error/1",
      code: "no_role",
      remedy: expect.any(String),
    });
    expect(stderr).toContain("Read-Only Administrator");
    expect(stderr).not.toContain(`[1/${catalog.length}]`);
  });

  test("interrupted writes what was evaluated and exits with 130", async () => {
    const org = await createPracticeOrg({ profile: { name: "typical" }, role: "super", latencyMs: 150 });
    const running = startCommand(["scan", "--format", "json", "--concurrency", "1"], {
      cwd: folder.path,
      env: await envOf(org),
    });
    await running.until("stderr", /\[ 3\/\d+\]/);
    const { code, stdout, stderr } = await running.stop("SIGINT");
    await org.stop();
    expect(code).toBe(130);
    const report = parseReport(stdout);
    expect(report.scan.status).toBe("cancelled");
    expect(report.checks).toHaveLength(catalog.length);
    const done = report.checks.filter(({ reason }) => reason !== "interrupted").length;
    expect(done).toBeGreaterThanOrEqual(3);
    expect(catalog.length - done).toBeGreaterThan(5);
    expect(report.checks.filter(({ reason }) => reason === "provider_error")).toEqual([]);
    // The findings of those that were evaluated would exit with 1.
    expect(stderr).toContain(`Exit 130: the scan was interrupted after ${done} of ${catalog.length} rules`);
  });
});

test("collect writes the evidence to stdout and evaluate reads it from stdin, where both are given -", async () => {
  const { stdout } = await runCommand(["collect", "--quiet", "--save-artifacts", "-"], {
    cwd: folder.path,
    env: await envOf(readOnly),
    shell: `"$@" | "$1" "$2" evaluate --from-artifacts - --format json`,
  });
  expect((JSON.parse(stdout) as Report).checks).toHaveLength(catalog.length);
});

describe("usage and configuration exit with 2", () => {
  test.each([
    [["scan", "--format", "table,json"], /--output/],
    [["scan", "--check", "authenticator_password_minimum_lenght_15"], /did you mean/],
    [["scan", "--decisions", "missing.json"], /missing\.json.*no such file/],
    [["scan", "--fail-on-new"], /--baseline/],
    [["scan", "--no-such-option"], /unknown option/],
    [["scann"], /unknown command/],
    [["evaluate"], /--from-artifacts/],
    [["collect"], /--save-artifacts/],
    [["explain", "no_such_check"], /Unknown rule "no_such_check"/],
  ])("%j", async (args, message) => {
    const env = await envOf(readOnly);
    const { code, stdout, stderr } = await callCommand(args, { cwd: folder.path, env });
    expect(stderr).toMatch(message);
    expect(stdout).toBe("");
    expect(code).toBe(2);
    expect(stderr).not.toMatch(/\n\s+at /);
  });
});
