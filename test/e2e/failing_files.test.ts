import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { catalog } from "../../scanner/catalog/catalog.ts";
import { countStates, type Report } from "../../shared/report.ts";
import { expectNoBug, startCommandOrg, startCommandStage, type CommandStage } from "../support/command_gateway.ts";
import { runCommand, startCommand } from "../support/command_line.ts";

/** What a scan does when a file cannot be written (a full disk, a directory in its place), or when it fails itself. */

let stage: CommandStage;

beforeAll(async () => {
  stage = await startCommandStage();
});
afterAll(() => stage[Symbol.asyncDispose]());

const oneCheck = ["--check", "authenticator_password_minimum_length_15"];

describe("artifacts on a full disk", () => {
  test("exit with 2 and one line, and the report, the stored scan and its end are there all the same", async () => {
    await using slow = await startCommandOrg(stage.cwd, 50);
    const running = startCommand(["scan", "--format", "json", "--concurrency", "1", "--save-artifacts", "/dev/full"], {
      cwd: stage.cwd,
      env: { ...stage.gateway.env, ...slow.env },
    });
    const [, id = ""] = await running.until("stderr", /Streaming as scan ([0-9a-f-]{36})/);
    const heard = stage.gateway.follow(id);
    const outcome = await running.finished;
    expectNoBug(outcome);
    expect(outcome.code).toBe(2);
    expect(outcome.stderr.match(/^.*no space left.*$/gm)).toEqual([
      'Cannot write --save-artifacts "/dev/full": no space left on device',
    ]);
    const report = JSON.parse(outcome.stdout) as Report;
    expect(report.checks).toHaveLength(catalog.length);
    expect((await heard).at(-1)).toBe("scan.end");
    expect(await stage.gateway.get(`/api/v1/scans/${id}`)).toMatchObject({
      status: "completed",
      ...countStates(report.checks),
    });
  });

  test("of collect exit with 2 and the reason", async () => {
    const outcome = await runCommand(["collect", ...oneCheck, "--save-artifacts", "/dev/full"], {
      cwd: stage.cwd,
      env: stage.idpEnv,
    });
    expectNoBug(outcome);
    expect(outcome.code).toBe(2);
    expect(outcome.stderr).toContain("no space left on device");
    expect(outcome.stderr).not.toContain("Saved evidence");
  });

  test("of an interrupted scan: 130 stays, and the reason is written", async () => {
    await using slow = await startCommandOrg(stage.cwd, 150);
    const running = startCommand(["scan", "--format", "json", "--concurrency", "1", "--save-artifacts", "/dev/full"], {
      cwd: stage.cwd,
      env: slow.env,
    });
    await running.until("stderr", /\[ 3\/\d+\]/);
    const { code, stdout, stderr } = await running.stop("SIGINT");
    expect(code).toBe(130);
    expect(stderr).toContain("no space left on device");
    expect((JSON.parse(stdout) as Report).scan.status).toBe("cancelled");
  });
});

describe("places that cannot be written are refused before the first request", () => {
  test.each([
    [
      "a directory in the place of the artifacts",
      ["--save-artifacts", "taken"],
      /--save-artifacts "taken": it is a directory/,
    ],
    [
      "a file in the place of a folder",
      ["--save-artifacts", "file/a.json"],
      /"file\/a\.json": a part of its path is a file/,
    ],
    [
      "a folder that is not there",
      ["--save-artifacts", "none/a.json"],
      /"none\/a\.json": the directory does not exist/,
    ],
    ["a name that is too long", ["--save-artifacts", "a".repeat(300)], /the name is too long/],
    ["a file in the place of --output", ["--output", "file"], /--output "file": it is a file; expected a directory/],
    ["a directory in the place of a report", ["--output", "."], /--output "scan\.txt": it is a directory/],
  ])("%s", async (_, args, message) => {
    await mkdir(join(stage.cwd, "taken"), { recursive: true });
    await mkdir(join(stage.cwd, "scan.txt"), { recursive: true });
    await writeFile(join(stage.cwd, "file"), "");
    const outcome = await runCommand(["scan", ...oneCheck, ...args], { cwd: stage.cwd, env: stage.idpEnv });
    expectNoBug(outcome);
    expect(outcome.code).toBe(2);
    expect(outcome.stderr).toMatch(message);
    expect(outcome.stderr).not.toMatch(/\bE[A-Z]{4,}\b/);
    expect(outcome.stderr).not.toContain("Scanning");
    expect(outcome.stdout).toBe("");
  });
});

test("one of several reports that cannot be written is exit code 2, and everything else is done", async () => {
  await mkdir(join(stage.cwd, "some/scan.csv"), { recursive: true });
  const args = ["scan", ...oneCheck, "--format", "csv,json", "--output", "some"];
  const outcome = await runCommand(args, { cwd: stage.cwd, env: { ...stage.gateway.env, ...stage.idpEnv } });
  expectNoBug(outcome);
  expect(outcome.code).toBe(2);
  expect(outcome.stderr).toMatch(/--output "some\/scan\.csv": it is a directory/);
  const report = JSON.parse(await readFile(join(stage.cwd, "some/scan.json"), "utf8")) as Report;
  const { id } = report.scan;
  expect(await stage.gateway.get(`/api/v1/scans/${id}`)).toMatchObject({
    status: "completed",
    ...countStates(report.checks),
  });
});

test("practice-org without a place for its key exits with 2 and the reason", async () => {
  const outcome = await runCommand(["practice-org", "--port", "0", "--state", "/dev/null/state"], { cwd: stage.cwd });
  expectNoBug(outcome);
  expect(outcome.code).toBe(2);
  expect(outcome.stderr).toMatch(/^Cannot write --state "\/dev\/null\/state": .*expected a directory\n$/);
});

describe("reports in a folder", () => {
  test("on a disk that becomes full: what fits is written, nothing is there by half, exit 2", async () => {
    const output = join(stage.cwd, "full");
    await mkdir(output);
    await writeFile(join(output, "scan.ckl"), "the checklist of yesterday");
    const args = ["scan", "--format", "ckl,markdown,junit,csv", "--output", "full", "--quiet", ...oneCheck];
    const outcome = await stage.shell('ulimit -f 24; exec "$@"', args, stage.idpEnv);
    expectNoBug(outcome);
    expect(outcome.code).toBe(2);
    expect(outcome.stderr).toMatch(
      /^Cannot write --output "full\/scan\.ckl": the file is too large\nExit 2: a file could not be written; .*\n$/,
    );
    expect(await readFile(join(output, "scan.ckl"), "utf8")).toBe("the checklist of yesterday");
    expect((await readdir(output)).toSorted()).toEqual(["scan.ckl", "scan.csv", "scan.junit.xml", "scan.md"]);
    expect(await readFile(join(output, "scan.junit.xml"), "utf8")).toMatch(/<\/testsuites>\s*$/);
  });

  test("a link to a full device in the place of one: the others are written", async () => {
    const output = join(stage.cwd, "linked");
    await mkdir(output);
    await symlink("/dev/full", join(output, "scan.json"));
    const args = ["scan", "--format", "json,csv", "--output", "linked", "--fail-on", "never", ...oneCheck];
    const outcome = await runCommand(args, { cwd: stage.cwd, env: stage.idpEnv });
    expect(outcome.code).toBe(2);
    expect(outcome.stderr).toMatch(/^Cannot write --output "linked\/scan\.json": no space left on device$/m);
    expect(outcome.stderr).toContain("Wrote linked/scan.csv");
    expect(outcome.stderr).not.toContain("Wrote linked/scan.json");
  });
});

describe("a named pipe", () => {
  test("without a reader is not waited for", async () => {
    await promisify(execFile)("mkfifo", [join(stage.cwd, "unread")]);
    const args = ["collect", ...oneCheck, "--save-artifacts", "unread"];
    const outcome = await runCommand(args, { cwd: stage.cwd, env: stage.idpEnv });
    expect(outcome.code).toBe(2);
    expect(outcome.stderr).toMatch(/^Cannot write --save-artifacts "unread": it is a pipe without a reader$/m);
  });

  test("with a reader carries everything", async () => {
    await promisify(execFile)("mkfifo", [join(stage.cwd, "read")]);
    const args = ["collect", "--save-artifacts", "read"];
    const { code, stdout } = await stage.shell('"$@" & cat read; wait $!', args, stage.idpEnv);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ checks: expect.arrayContaining(oneCheck.slice(1)) });
  });
});

describe("an internal error", () => {
  test("of a scan exits with 4, and its followers receive the end", async () => {
    await using slow = await startCommandOrg(stage.cwd, 150);
    const bug = "process.on('SIGUSR2',()=>{throw(new(Error)('boom'))})";
    const running = startCommand(["scan", "--format", "json", "--concurrency", "1"], {
      cwd: stage.cwd,
      env: {
        ...stage.gateway.env,
        ...slow.env,
        NODE_OPTIONS: `--import=data:text/javascript,${bug}`,
      },
    });
    const [, id = ""] = await running.until("stderr", /Streaming as scan ([0-9a-f-]{36})/);
    const heard = stage.gateway.follow(id);
    await running.until("stderr", /\[ 3\/\d+\]/);
    const { code, stderr } = await running.stop("SIGUSR2");
    expect(code, stderr).toBe(4);
    expect(stderr).toMatch(/This is a bug of scanstream .*report it.*issue/);
    expect(stderr).toContain("boom");
    expect((await heard).at(-1)).toBe("scan.end");
    expect(["cancelled", "failed"]).toContain((await stage.gateway.get(`/api/v1/scans/${id}`))["status"]);
  });
});
