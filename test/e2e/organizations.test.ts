import { callCommand } from "../support/called_command.ts";
import { aDocument } from "../support/org_policy_builder.ts";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import configSchema from "../../shared/config.schema.json" with { type: "json" };
import type { Report } from "../../shared/report.ts";
import summarySchema from "../../shared/summary.schema.json" with { type: "json" };
import type { Summary } from "../../scanner/commands/summary.ts";
import { ownFolder } from "../support/clean_up.ts";
import { startCommand } from "../support/command_line.ts";
import { bySchema } from "../support/json_schema.ts";
import { startCommandOrg, type CommandOrg } from "../support/org_stage.ts";

/** `scan` with `scanstream.config.json`: its options, and several organizations in one run. */

const acme = await startCommandOrg();
const globex = await startCommandOrg({ profile: { name: "compliant" } });

const asConfig = bySchema(configSchema);
const asSummary = bySchema(summarySchema);

/** Its entry in the file; a later member wins. */
function entry(name: string, { env }: CommandOrg, more: object = {}): Readonly<Record<string, unknown>> {
  const { IDP_ORG_URL: org_url, IDP_CLIENT_ID: client_id, IDP_PRIVATE_KEY_FILE: private_key_file } = env;
  return { name, org_url, client_id, private_key_file, ...more };
}

/** A working directory with the file, and commands that run there. */
async function inFolder(config: object) {
  const cwd = await ownFolder();
  await writeFile(join(cwd, "scanstream.config.json"), JSON.stringify(asConfig(config), null, 2));
  return { cwd, run: (...args: readonly string[]) => callCommand(args, { cwd }) };
}

async function summaryIn(cwd: string, output = "reports"): Promise<Summary> {
  return asSummary(JSON.parse(await readFile(join(cwd, output, "summary.json"), "utf8"))) as Summary;
}

async function reportIn(cwd: string, path: string): Promise<Report> {
  return JSON.parse(await readFile(join(cwd, path), "utf8")) as Report;
}

describe("a command that works on one organization", () => {
  test("takes the one that --org names, and names them all where it has to be told", async () => {
    const { cwd, run } = await inFolder({ organizations: [entry("acme", acme), entry("globex", globex)] });
    const collected = await run("collect", "--org", "globex", "--save-artifacts", "globex.json", "-q");
    expect(collected).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(await readFile(join(cwd, "globex.json"), "utf8"))).toMatchObject({
      scan: { org_url: globex.org.url },
    });
    expect(await run("fix", "--output", "x")).toMatchObject({
      code: 2,
      stderr:
        "--org: this command works on one organization, and scanstream.config.json has several: expected one of acme, globex\n",
    });
    const text = await run("explain", "V-273195");
    expect(text).toMatchObject({
      code: 0,
      stderr: "To see what decides in your org, add --org with one of acme, globex\n",
    });
    expect(text.stdout).not.toContain("In http");
    const { stderr } = await run("scan", "--org", "acme");
    const [, next = ""] = /Next: scanstream (.*), then scanstream fix --org acme -o fixes\n/.exec(stderr) ?? [];
    expect((await run(...next.split(" "))).stdout).toContain(`In ${acme.org.url}: FAIL`);
  });

  test("refuses to guess where a variable names another than the file", async () => {
    const { cwd } = await inFolder({ organizations: [entry("globex", globex)] });
    const options = { cwd, env: { IDP_ORG_URL: acme.org.url } };
    expect(await callCommand(["collect", "--save-artifacts", "one.json"], options)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^IDP_ORG_URL names one organization, and scanstream.config.json names another/),
    });
  });
});

test("evaluate, fix and follow obey the file as scan does, offline by the organization's address", async () => {
  const reason = { reason: "CHG-1", by: "J. Doe", expires: "never" };
  const own = {
    exclude: ["V-273195"],
    fail_on: "never",
    format: "json",
    decisions: "waivers.json",
    org_policy: "policy.json",
    save_artifacts: "kept.json",
  };
  const { cwd, run } = await inFolder({
    defaults: { fail_on: "fail" },
    organizations: [entry("acme", acme, { ...own }), entry("globex", globex)],
  });
  await writeFile(join(cwd, "waivers.json"), JSON.stringify([{ check: "V-273186", ...reason }]));
  const policy = { ...aDocument, org_url: acme.org.url, limits: { global_session_idle_minutes: 600 } };
  await writeFile(join(cwd, "policy.json"), JSON.stringify(policy));
  const scanned = await run("scan", "--org", "acme", "-q");
  const evaluated = await run("evaluate", "--from-artifacts", "kept.json", "-q");
  expect([scanned.code, evaluated.code]).toEqual([0, 0]);
  const checksOf = ({ stdout }: typeof scanned) => (JSON.parse(stdout) as Report).checks;
  expect(checksOf(scanned)).toEqual(checksOf(evaluated));
  const idle = checksOf(scanned).find(({ vuln_id: id }) => id === "V-273186");
  expect(idle?.findings.some(({ waived }) => waived)).toBe(true);
  const without = await run("evaluate", "--from-artifacts", "kept.json", "-q", "--no-config");
  expect(without.code).toBe(1);
  expect((await run("fix", "--from-artifacts", "kept.json", "-o", "fixes", "-q")).code).toBe(0);
  const plan = await readFile(join(cwd, "fixes/plan.md"), "utf8");
  expect([plan.includes("V-273195"), plan.includes("V-273201")]).toEqual([false, true]);
  const { stdout } = await run("follow", "--once", "--org", "acme", "--format", "ndjson");
  expect([
    stdout.includes("authenticator_password_minimum_length_15"),
    stdout.includes("authenticator_password_maximum_age_60d"),
  ]).toEqual([false, true]);
  // Each follower has its state in a folder of its own.
  expect((await run("follow", "--once", "--org", "globex", "-q")).code).toBe(0);
});

describe("several organizations", () => {
  test("each organization has a report, and all have one summary; an unreachable one stops no other", async () => {
    const { cwd, run } = await inFolder({
      defaults: { output: "reports", format: ["json", "table"] },
      organizations: [
        entry("acme", acme),
        entry("gone", acme, { org_url: "http://127.0.0.1:9" }),
        entry("globex", globex, { format: "csv" }),
      ],
    });
    const { code, stdout, stderr } = await run("scan");
    expect(code).toBe(3);
    expect(stdout.split("\n").map((line) => line.split(/ {2,}/).slice(0, 2))).toEqual([
      ["organization", "status"],
      ["acme", "completed"],
      ["gone", "failed"],
      ["globex", "completed"],
      ["all", "2 of 3"],
      [""],
      ["gone: Cannot reach http://127.0.0.1:9: the connection failed"],
      [""],
    ]);
    expect(stderr).toMatch(/^gone: Cannot reach http:\/\/127\.0\.0\.1:9/m);
    expect(stderr).toMatch(/^acme: 29 of 29 checks evaluated in \d+ s$/m);
    expect(await readdir(join(cwd, "reports/acme"))).toEqual(["scan.json", "scan.txt"]);
    expect(await readdir(join(cwd, "reports/globex"))).toEqual(["scan.csv"]);
    const report = await reportIn(cwd, "reports/acme/scan.json");
    expect(report.scan.org_url).toBe(acme.org.url);
    const summary = await summaryIn(cwd);
    expect(summary).toMatchObject({
      exit_code: 3,
      organizations: [
        {
          name: "acme",
          status: "completed",
          exit_code: 1,
          scan_id: report.scan.id,
          files: ["reports/acme/scan.json", "reports/acme/scan.txt"],
        },
        { name: "gone", status: "failed", exit_code: 3, checks: null, error: { code: "unreachable" } },
        { name: "globex", status: "completed", checks: { fail: 0, not_applicable: 0 } },
      ],
    });
    expect(await readFile(join(cwd, "reports/summary.md"), "utf8")).toContain("| globex | completed | 0 |");
  });

  test("everything that is wrong with any of them is said before the first request, in the words of the file", async () => {
    const { run } = await inFolder({
      organizations: [
        entry("acme", acme, { org_url: "ftp://acme.okta.com" }),
        entry("globex", globex, { decisions: "nothere.json", private_key_file: "gone.pem" }),
        entry("third", globex, { check: "nonsense" }),
        { name: "fourth", org_url: globex.org.url, client_id: globex.org.clientId, private_key_env: "NOT_SET" },
      ],
    });
    const { code, stdout, stderr } = await run("scan");
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr.trimEnd().split("\n")).toEqual([
      expect.stringMatching(/^scanstream\.config\.json: organization acme: org_url is not https:\/\//),
      expect.stringMatching(
        /^scanstream\.config\.json: organization globex: private_key_file names a file that cannot be read/,
      ),
      expect.stringMatching(/^scanstream\.config\.json: organization third: check: unknown rule "nonsense"/),
      "scanstream.config.json: organization fourth: private_key_env: the variable NOT_SET is not set: expected a private key in it",
    ]);
  });

  test.each<[readonly string[], RegExp]>([
    [["-f", "json"], /^--format json: 2 organizations need --output DIR, with a folder for each/m],
    [["--org", "acmee"], /has no organization of this name: did you mean "acme"\?$/m],
    [["--baseline", "scan.json"], /^--baseline belongs to one organization/m],
    [["--org-url", "https://acme.okta.com"], /^--org-url: scanstream\.config\.json lists no organization/m],
  ])("%j is refused", async (args, problem) => {
    const { cwd, run } = await inFolder({ organizations: [entry("acme", acme), entry("globex", globex)] });
    const { code, stdout, stderr } = await run("scan", ...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(problem);
    expect(await readdir(cwd)).toEqual(["scanstream.config.json"]);
  });

  test("Ctrl-C: those under way end as cancelled with their reports, the others are not run", async () => {
    const slow = await startCommandOrg({ latencyMs: 400 });
    const { cwd } = await inFolder({
      defaults: { output: "reports", format: "json", concurrency: 1 },
      parallel: 1,
      organizations: [entry("globex", globex), entry("slow", slow), entry("acme", acme)],
    });
    const running = startCommand(["scan", "-v"], { cwd });
    await running.until("stderr", /^slow: evaluated /m);
    const { code, stdout } = await running.stop("SIGINT");
    expect(code).toBe(130);
    expect(stdout).toMatch(/^acme +not run/m);
    expect((await reportIn(cwd, "reports/slow/scan.json")).scan.status).toBe("cancelled");
    expect(await summaryIn(cwd)).toMatchObject({
      exit_code: 130,
      organizations: [
        { name: "globex", status: "completed", exit_code: 0 },
        { name: "slow", status: "cancelled", exit_code: 130 },
        { name: "acme", status: "not_run", exit_code: null },
      ],
    });
    expect(await readdir(join(cwd, "reports"))).not.toContain("acme/scan.json");
  });

  test("a job summary of GitHub has all of them, and annotations name the organization", async () => {
    const { cwd } = await inFolder({
      defaults: { output: "reports", format: "json" },
      organizations: [entry("acme", acme), entry("globex", globex)],
    });
    const inJob = (file: string, ...args: readonly string[]) =>
      callCommand(["scan", ...args], {
        cwd,
        env: { GITHUB_ACTIONS: "true", GITHUB_STEP_SUMMARY: join(cwd, file) },
      });
    const { stderr } = await inJob("job.md");
    const job = await readFile(join(cwd, "job.md"), "utf8");
    expect(job).toMatch(/^# Okta IDaaS STIG: all organizations$/m);
    expect(job.match(/^# STIG assessment of /gm)).toHaveLength(2);
    expect(stderr.match(/^::error title=acme V-/gm)).toHaveLength(10);
    // A red job without a failing finding says why.
    const { stderr: reviewed } = await inJob("one.md", "--org", "globex", "--fail-on", "manual");
    expect(reviewed).toMatch(/^::error title=scanstream::Exit 1: \d+ findings need manual review .*: V-/m);
    expect(await readFile(join(cwd, "one.md"), "utf8")).toMatch(/^Exit 1: \d+ findings need manual review/);
    const ofOther = ["--baseline", "reports/acme/scan.json"];
    const { stderr: compared } = await inJob("one.md", "--org", "globex", "-q", ...ofOther);
    expect(compared).toMatch(/^--baseline is a report of http.*; this scan is of http/m);
    const report = await reportIn(cwd, "reports/acme/scan.json");
    const last = report.checks.findLast(({ status }) => status === "FAIL");
    const checks = report.checks.filter((check) => check !== last);
    await writeFile(join(cwd, "known.json"), JSON.stringify({ ...report, checks }));
    const { stderr: ofNew } = await inJob("one.md", "--org", "acme", "--baseline", "known.json");
    expect(/^::error title=(V-\d+)/m.exec(ofNew)?.[1]).toBe(last?.vuln_id);
    const { stderr: refused } = await inJob("wrong.md", "--fail-on", "all");
    expect(refused).toMatch(/^::error title=scanstream::--fail-on "all": expected fail/m);
    expect(await readFile(join(cwd, "wrong.md"), "utf8")).toMatch(/--fail-on.*expected fail/);
  });
});
