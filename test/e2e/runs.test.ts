import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import type { Report } from "../../shared/report.ts";
import type { Diff } from "../../scanner/diff/diff_schema.ts";
import type { History } from "../../shared/schemas/history.ts";
import { v1r1File } from "../support/stig_files.ts";
import { callCommand } from "../support/called_command.ts";
import { ownFolder } from "../support/clean_up.ts";
import { openOrgStage } from "../support/org_stage.ts";

/** Runs that a scan keeps, and the commands that use them without being told a folder. */

async function workplace() {
  const { org, path: cwd, run } = await openOrgStage();
  return { org, cwd, place: join(cwd, ".scanstream/runs", new URL(org.url).host.replace(":", "_")), run };
}

test("a kept run is read by its owner only, and serves the next commands without the org", async () => {
  const { org, cwd, place, run } = await workplace();
  const scanned = await run("scan", "-q", "-f", "json");
  await org.stop();
  const [time = "", ...others] = await readdir(place);
  expect(others).toEqual([]);
  const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);
  const [evidence, report] = ["evidence.json.gz", "report.json.gz"].map((name) => join(place, time, name));
  expect(await Promise.all([place, join(place, time), evidence ?? "", report ?? ""].map(modeOf))).toEqual([
    "700",
    "700",
    "600",
    "600",
  ]);
  expect(await readFile(join(cwd, ".scanstream/.gitignore"), "utf8")).toBe("*\n");
  const { scan, checks } = JSON.parse(scanned.stdout) as Report;
  const again = JSON.parse((await run("report", "-f", "json")).stdout) as Report;
  expect([again.scan.id, again.checks]).toEqual([scan.id, checks]);
  const ofFolder = await run("report", join(place, time), "-f", "json");
  expect((JSON.parse(ofFolder.stdout) as Report).checks).toEqual(checks);
  expect((JSON.parse((await run("report", report ?? "", "-f", "json")).stdout) as Report).scan.id).toBe(scan.id);
  const refused = { code: 2, stderr: expect.stringMatching(/^--fresh scans the organization, and .*names/) };
  expect(await run("report", report ?? "", "--fresh")).toMatchObject(refused);
  expect(await run("fix", "-o", "x", "--fresh", "--from-artifacts", evidence ?? "")).toMatchObject(refused);
  const explained = await run("explain", "V-273195");
  expect(explained).toMatchObject({ code: 0, stdout: expect.stringMatching(/^In http.*: FAIL/) });
  const rules = await run("explain");
  for (const line of `${explained.stdout}${rules.stdout}`.split("\n"))
    expect(line.length, line).toBeLessThanOrEqual(100);
  expect((await run("fix", "-o", "fixes", "-q")).code).toBe(0);
  const history = JSON.parse((await run("history", "--days", "1", "--format", "json")).stdout) as History;
  expect(history.organizations.map((one) => one.org_url)).toEqual([org.url]);
  expect((await run("report", "--fresh")).code).toBe(3);
  expect((await run("report", ".scanstream/.gitignore")).stderr).toMatch(
    /^Cannot use the run, file or scan id ".*": it is not JSON/,
  );

  const old = JSON.parse(gunzipSync(await readFile(evidence ?? "")).toString()) as { evaluated_at: string };
  const evaluated_at = new Date(Date.now() - 25 * 3_600_000).toISOString();
  await writeFile(evidence ?? "", gzipSync(JSON.stringify({ ...old, evaluated_at })));
  expect(await run("fix", "-o", "later")).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^The last run is 25 hours old .*--fresh/),
  });
});

test("the newest runs stay, and a run is compared with the one before", async () => {
  const { org, place, run } = await workplace();
  const gate = ["scan", "-q", "--keep", "2", "--baseline", "last", "--fail-on-new"];
  const first = await run(...gate);
  expect([first.code, first.stderr]).toEqual([1, expect.stringMatching(/^--baseline last: no earlier run of http/)]);
  const second = await run(...gate);
  expect([second.code, second.stderr]).toEqual([0, ""]);
  const kept = await readdir(place);
  expect((await run("scan", "-q", "--no-keep")).code).toBe(1);
  expect((await run("scan", "-q", "--keep", "0")).code).toBe(1);
  const narrowed = await run("scan", "--check", "V-273195");
  expect([narrowed.code, narrowed.stderr]).toEqual([1, expect.stringContaining("Scanning: 1 check\n")]);
  // Other commands would answer about the last run that was kept.
  expect(narrowed.stderr).not.toMatch(/scanstream (?:report|explain|fix)/);
  expect(await readdir(place)).toEqual(kept);
  expect((await run(...gate)).code).toBe(0);
  const later = await readdir(place);
  expect([kept.length, later.length, later.at(0)]).toEqual([2, 2, kept.at(1)]);
  // A run that a wrong clock named is removed first. A person's own folder stays.
  await mkdir(join(place, "of-mine"));
  // A scan was killed while it kept its run.
  await mkdir(join(place, ".2026-01-01T00-00-00.000Z"));
  await rename(join(place, later.at(0) ?? ""), join(place, "2999-01-01T00-00-00.000Z"));
  expect((await run(...gate)).code).toBe(0);
  expect(await readdir(place)).toEqual([later.at(1), expect.stringMatching(/^20[2-9]/), "of-mine"]);
  const compared = await run("diff", "-f", "json");
  expect([compared.code, (JSON.parse(compared.stdout) as Diff).kind]).toEqual([0, "artifacts"]);
  expect((await run("scan", "-q", "--benchmark", v1r1File, "--fail-on", "never")).code).toBe(0);
  const other = join(place, (await readdir(place)).findLast((name) => name.startsWith("20")) ?? "");
  for (const again of [["report"], ["report", other], ["diff"], ["diff", other, other]])
    expect((await run(...again)).stderr, again.join(" ")).toMatch(/judged by okta-idaas-stig-v1r1, .*--benchmark/);
  expect((await run("org-policy", "draft")).stderr).not.toContain("judged by");
  await rm(join(other, "report.json.gz"));
  expect((await run("report", other)).stdout).toContain("V-273209");
  const named = await run("diff", other, other, "--benchmark", v1r1File, "-f", "json");
  expect([named.stderr, (JSON.parse(named.stdout) as Diff).before.benchmark]).toEqual(["", "okta-idaas-stig-v1r1"]);
  await org.stop();
});

test("without a run a command scans once and keeps it; without an org it says what is missing", async () => {
  const { org, cwd, place, run } = await workplace();
  expect(await run("diff")).toMatchObject({ code: 2, stderr: expect.stringContaining("none is kept") });
  expect((await run("explain", "V-273195")).stdout).toMatch(/^In http/);
  expect(await readdir(place)).toHaveLength(1);
  const requests = org.requests.length;
  expect((await run("report")).stdout).toContain("V-273209");
  expect(org.requests.length).toBe(requests);
  await org.stop();
  // The only organization that has runs needs no name.
  expect((await callCommand(["report"], { cwd })).stdout).toContain("V-273209");
  await mkdir(join(place, "..", "globex.okta.com", "2026-01-01T00-00-00.000Z"), { recursive: true });
  for (const command of ["report", "diff"])
    expect(await callCommand([command], { cwd })).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^Runs of several organizations are kept, .*globex\.okta\.com: .*--org-url/),
    });
  const unnamed = await callCommand(["explain", "V-273195"], { cwd });
  expect(unnamed).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/--org-url with one of .*globex\.okta\.com/),
  });
  const empty = await ownFolder();
  expect(await callCommand(["report"], { cwd: empty })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("IDP_ORG_URL is not set"),
  });
  expect((await callCommand(["explain", "V-273195"], { cwd: empty })).stdout).toMatch(/^V-273195 CAT II/);
});
