import { callCommand } from "../support/called_command.ts";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { catalog } from "../../scanner/catalog/catalog.ts";
import { createPracticeOrg, type PracticeOrg } from "../../practice_org/create_practice_org.ts";
import { publishCredentials } from "../../practice_org/auth/credentials.ts";
import { isHolding } from "../../shared/rule_result.ts";
import type { Report } from "../../shared/report.ts";
import reportSchema from "../../shared/report.schema.json" with { type: "json" };
import { runCommand, startCommand, temporaryFolder } from "../support/command_line.ts";

const superAdminChecks = [
  "application_admin_console_session_idle_timeout_15min",
  "application_admin_console_mfa_required",
  "application_dashboard_mfa_required",
  "application_admin_console_phishing_resistant_authentication",
  "application_dashboard_phishing_resistant_authentication",
];

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let readOnly: PracticeOrg;
let compliant: PracticeOrg;

beforeAll(async () => {
  folder = await temporaryFolder();
  [readOnly, compliant] = await Promise.all([
    createPracticeOrg({ profile: { name: "typical" }, role: "read-only" }),
    createPracticeOrg({ profile: { name: "compliant" }, role: "super" }),
  ]);
});

afterAll(async () => {
  await Promise.all([readOnly.stop(), compliant.stop()]);
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
    const report = parseReport(stdout);
    expect(code).toBe(1);
    expect(report.scan).toMatchObject({ role: "read_only_admin", engine: "identity", status: "completed" });
    for (const name of superAdminChecks) {
      expect(report.checks.find(({ check }) => check === name)).toMatchObject({
        status: "MANUAL",
        reason: "missing_role",
      });
    }
    const others = report.checks.filter(({ check }) => !superAdminChecks.includes(check));
    const unseen = others.filter(({ reason }) => reason === "missing_role" || reason === "missing_scope");
    expect(unseen.map(({ vuln_id }) => vuln_id)).toEqual([]);
    expect(others.filter(({ status }) => status === "FAIL").length).toBeGreaterThan(5);
    expect(report.checks).toHaveLength(catalog.length);
    expect(stderr).toContain(`[${catalog.length}/${catalog.length}]`);
  });

  test("of a compliant org under Super Administrator passes every check", async () => {
    const { code, stdout } = await scan(await envOf(compliant), "--format", "json", "--quiet");
    const report = parseReport(stdout);
    expect(report.checks.filter((check) => !isHolding(check))).toEqual([]);
    expect(report.summary).toMatchObject({ fail: 0, not_applicable: 0, attested: 0 });
    expect(report.scan.role).toBe("super_admin");
    expect(code).toBe(0);
  });

  test.each([
    ["fail", 1],
    ["manual", 1],
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

  test("in GitHub Actions writes a job summary and annotations, and leaves stdout to the report", async () => {
    const summary = join(folder.path, "summary.md");
    const env = { ...(await envOf(readOnly)), GITHUB_ACTIONS: "true", GITHUB_STEP_SUMMARY: summary };
    const { stdout, stderr } = await scan(env, "--severity", "medium", "--format", "json", "--quiet");
    parseReport(stdout);
    expect(stderr).toMatch(/^::error title=V-\d+ CAT I+::/m);
    expect(await readFile(summary, "utf8")).toMatch(/^# STIG assessment of /);
  });

  test("--baseline marks findings, and --fail-on-new lets known ones pass", async () => {
    const env = await envOf(readOnly);
    const baseline = join(folder.path, "baseline.json");
    const args = ["--check", "authenticator_password_minimum_length_15", "--format", "json", "--quiet"];
    await writeFile(baseline, (await scan(env, ...args)).stdout);
    const { code, stdout } = await scan(env, ...args, "--baseline", baseline, "--fail-on-new");
    expect(code).toBe(0);
    const report = parseReport(stdout);
    expect(report.baseline).toMatchObject({ new: 0, resolved: 0 });
    expect(report.checks[0]?.findings.every(({ change }) => change === "unchanged")).toBe(true);
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

test("an uncaught error exits with 4: Node's own 1 would say that there are findings", async () => {
  const bug = "setTimeout(()=>{throw(new(Error)('boom'))},100)";
  const options = { cwd: folder.path, env: { NODE_OPTIONS: `--import=data:text/javascript,${bug}` } };
  const { code, stderr } = await startCommand(["practice-org", "--port", "0"], options).finished;
  expect(code, stderr).toBe(4);
  expect(stderr).toMatch(/This is a bug of scanstream[^]*boom/);
});

describe("usage and configuration exit with 2", () => {
  test("every missing variable is named in one message", async () => {
    const { code, stdout, stderr } = await scan({});
    expect(code).toBe(2);
    expect(stdout).toBe("");
    for (const name of ["IDP_ORG_URL", "IDP_CLIENT_ID", "IDP_PRIVATE_KEY"]) expect(stderr).toContain(name);
  });

  test.each([
    [["scan", "--format", "pdf"], /pdf.*table/s],
    [["scan", "--format", "table,json"], /--output/],
    [["scan", "--fail-on", "always"], /fail, manual or never/],
    [["scan", "--check", "authenticator_password_minimum_lenght_15"], /did you mean/],
    [["scan", "--check", "V-273187", "--exclude", "OKTA-APP-000025"], /leaves no check/],
    [["scan", "--decisions", "missing.json"], /missing\.json.*no such file/],
    [["scan", "--fail-on-new"], /--baseline/],
    [["scan", "--no-such-option"], /unknown option/],
    [["scann"], /unknown command/],
    [["evaluate"], /--from-artifacts/],
    [["collect"], /--save-artifacts/],
    [["explain", "no_such_check"], /Unknown rule "no_such_check"/],
    [["scan", "--check", ""], /--check: expected names or ids of checks/],
    [["practice-org", "--profile", "large:x"], /large:N/],
  ])("%j", async (args, message) => {
    const env = await envOf(readOnly);
    const { code, stdout, stderr } = await callCommand(args, { cwd: folder.path, env });
    expect(stderr).toMatch(message);
    expect(stdout).toBe("");
    expect(code).toBe(2);
    expect(stderr).not.toMatch(/\n\s+at /);
  });
});
