import { callCommand } from "../support/called_command.ts";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Report } from "../../shared/report.ts";
import { expectNoBug, startCommandStage, type CommandStage } from "../support/command_gateway.ts";
import { startCommand } from "../support/command_line.ts";

/** What a command does when standard output or standard error cannot be written: a full disk, a closed pipe. */

let stage: CommandStage;

beforeAll(async () => {
  stage = await startCommandStage();
});
afterAll(() => stage[Symbol.asyncDispose]());

const oneCheck = ["--check", "authenticator_password_minimum_length_15"];

describe("standard output", () => {
  test("on a full disk loses a report: exit 2 and one line", async () => {
    const args = ["scan", "--format", "json", "--fail-on", "never", "--quiet", ...oneCheck];
    const outcome = await stage.shell('"$@" > /dev/full', args, stage.idpEnv);
    expect(outcome).toEqual({
      code: 2,
      stdout: "",
      stderr: "Cannot write standard output: no space left on device\n",
    });
  });

  test("on a disk that becomes full in the middle of a report: exit 2 and the reason", async () => {
    const outcome = await stage.shell('ulimit -f 1; "$@" > cut.json', ["checks", "--format", "json"]);
    expect(outcome.code).toBe(2);
    expect(outcome.stderr).toMatch(/^Cannot write standard output: the file is too large\n$/);
  });

  test("an artifacts file that is standard output gets there", async () => {
    const args = ["collect", "--save-artifacts", "/dev/stdout", "--quiet", ...oneCheck];
    const { code, stdout } = await stage.shell('"$@" | cat', args, stage.idpEnv);
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { checks: [oneCheck[1]] }]);
  });

  test("that its reader closes ends with 2 and the reason, and the stored scan is whole", async () => {
    const args = ["scan", "--format", "json", ...oneCheck];
    const outcome = await stage.shell('"$@" | true; exit "${PIPESTATUS[0]}"', args, {
      ...stage.gateway.env,
      ...stage.idpEnv,
    });
    expectNoBug(outcome);
    expect(outcome.code).toBe(2);
    expect(outcome.stderr).toMatch(/Cannot write standard output: the program that reads it ended/);
    const [, id = ""] = /Streaming as scan ([0-9a-f-]{36})/.exec(outcome.stderr) ?? [];
    expect(await stage.gateway.get(`/api/v1/scans/${id}`)).toMatchObject({ status: "completed", checks_done: 1 });
  });

  test.each([
    ["checks", ["checks"]],
    ["help", ["--help"]],
  ])("of %s on a full disk: exit 2 and one line", async (_, args) => {
    const outcome = await stage.shell('"$@" > /dev/full', args, stage.idpEnv);
    expect(outcome.code).toBe(2);
    expect(outcome.stderr).toMatch(/^Cannot write standard output: no space left on device\n$/);
  });

  test("of evaluate on a full disk: exit 2", async () => {
    await callCommand(["collect", ...oneCheck, "--save-artifacts", "kept.json"], { cwd: stage.cwd, env: stage.idpEnv });
    const outcome = await stage.shell('"$@" > /dev/full', ["evaluate", "--from-artifacts", "kept.json"]);
    expect(outcome.code).toBe(2);
    expect(outcome.stderr).toMatch(
      /^Exit 1: .*--fail-on fail.*\n(?:.*\n)*Cannot write standard output: no space left on device\n$/,
    );
  });

  test.each([
    ["on a full disk", '"$@" > /dev/full', 2],
    ["that its reader closes", '"$@" | true; exit "${PIPESTATUS[0]}"', 2],
  ])("of watch %s: it stops following", async (_, line, code) => {
    const scan = await stage.gateway.registerScan();
    const watching = startCommand(["watch", scan.id], { cwd: stage.cwd, env: stage.gateway.env, shell: line });
    await watching.until("stderr", /Following/);
    await stage.gateway.publish(scan, { type: "scan.progress", data: { check: "a" } });
    expect((await watching.finished).code).toBe(code);
  });

  test("of serve on a full disk: the gateway stays up until it is stopped, and exits with 2", async () => {
    const folder = join(stage.cwd, "served");
    await mkdir(folder);
    const served = startCommand(["serve"], { cwd: folder, env: { PORT: "0" }, shell: 'exec "$@" > /dev/full' });
    const [, url = ""] = await served.until("stderr", /"url":"(http:[^"]+)"/);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect((await served.stop()).code).toBe(2);
  });
});

describe("standard error", () => {
  test.each([
    ["scan", ["scan", "--output", "quiet", "--fail-on", "never"]],
    ["collect", ["collect", "--save-artifacts", "quiet.json"]],
  ])("of %s --quiet is empty where there is no problem", async (_, args) => {
    const outcome = await callCommand([...args, "--quiet", "--check", "V-273201"], {
      cwd: stage.cwd,
      env: { ...stage.idpEnv, ...(args[0] === "scan" ? stage.gateway.env : {}) },
    });
    expect(outcome).toMatchObject({ stdout: "", stderr: "" });
  });

  test.each([
    ["is on a full disk", '"$@" 2> /dev/full'],
    ["is closed", '"$@" 2>&-'],
    ["has no reader", '{ "$@" 2>&1 >&3 3>&- | true; exit "${PIPESTATUS[0]}"; } 3>&1'],
  ])("that %s ends no scan", async (_, line) => {
    const { code, stdout } = await stage.shell(line, ["scan", "--format", "json", ...oneCheck], stage.idpEnv);
    expect((JSON.parse(stdout) as Report).checks).toHaveLength(1);
    expect(code).toBe(1);
  });
});
