import { afterAll, beforeAll, expect, test } from "vitest";
import { catalog } from "../../scanner/catalog/catalog.ts";
import type { Report } from "../../shared/report.ts";
import { countStates } from "../../shared/rule_result.ts";
import { expectNoBug, startCommandOrg, startCommandStage, type CommandStage } from "../support/command_gateway.ts";
import { startCommand } from "../support/command_line.ts";

/** A scan when a file or standard output cannot be written, or when the scan itself fails. */

let stage: CommandStage;

beforeAll(async () => {
  stage = await startCommandStage();
});
afterAll(() => stage[Symbol.asyncDispose]());

const oneCheck = ["--check", "authenticator_password_minimum_length_15"];

test("artifacts on a full disk: exit 2 and one line; the report, the stored scan and its end are there", async () => {
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

test.each([
  ["on a full disk", '"$@" > /dev/full', /^Cannot write standard output: no space left on device\n$/],
  [
    "whose reader ends",
    '"$@" | true; exit "${PIPESTATUS[0]}"',
    /Cannot write standard output: the program that reads it ended/,
  ],
])("standard output %s: exit 2 and the reason", async (_, shell, message) => {
  const args = ["scan", "--format", "json", "--fail-on", "never", "--quiet", ...oneCheck];
  const outcome = await stage.shell(shell, args, stage.idpEnv);
  expectNoBug(outcome);
  expect(outcome).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(message) as string });
});

test("an internal error of a scan: exit 4, and its followers receive the end", async () => {
  await using slow = await startCommandOrg(stage.cwd, 150);
  const bug = "process.on('SIGUSR2',()=>{throw(new(Error)('boom'))})";
  const running = startCommand(["scan", "--format", "json", "--concurrency", "1"], {
    cwd: stage.cwd,
    env: { ...stage.gateway.env, ...slow.env, NODE_OPTIONS: `--import=data:text/javascript,${bug}` },
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
