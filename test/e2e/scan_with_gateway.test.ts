import { expect, test } from "vitest";
import { catalog } from "../../scanner/catalog/catalog.ts";
import type { Report } from "../../shared/report.ts";
import { countStates } from "../../shared/rule_result.ts";
import { callCommand } from "../support/called_command.ts";
import { runCommand, startCommand, type Outcome } from "../support/command_line.ts";
import { freePort } from "../support/free_port.ts";
import { openOrgStage, startCommandOrg } from "../support/org_stage.ts";
import { openTestGateway, readStream } from "../support/test_gateway.ts";

/** A scan with a gateway: what cannot be written, a scan that fails, and decisions that the gateway keeps. */

const [stage, gateway] = await Promise.all([openOrgStage(), openTestGateway()]);

const request = (path: string) => gateway.request(`/api/v1/scans/${path}`, { as: `Api-Key ${gateway.acme.apiKey}` });

/** `heard`: everything that a subscriber of the scan receives from its registration until the stream ends. */
async function startSlowScan({ latencyMs, env = {} }: SlowScan, ...args: readonly string[]) {
  const slow = await startCommandOrg({ latencyMs });
  const running = startCommand(["scan", "--format", "json", "--concurrency", "1", ...args], {
    cwd: stage.path,
    env: { ...gateway.env, ...slow.env, ...env },
  });
  const [, id = ""] = await running.until("stderr", /Streaming as scan ([0-9a-f-]{36})/);
  const heard = request(`${id}/event-stream`).then((response) => readStream(response, /^\u0000/));
  return { running, id, heard };
}

interface SlowScan {
  readonly latencyMs: number;
  readonly env?: Readonly<Record<string, string>>;
}

function expectNoBug({ stderr }: Outcome): void {
  expect(stderr).not.toContain("This is a bug");
  expect(stderr).not.toMatch(/\n\s+at /);
}

const oneCheck = ["--check", "authenticator_password_minimum_length_15"];

test("artifacts on a full disk: exit 2 and one line; the report, the stored scan and its end are there", async () => {
  const { running, id, heard } = await startSlowScan({ latencyMs: 50 }, "--save-artifacts", "/dev/full");
  const outcome = await running.finished;
  expectNoBug(outcome);
  expect(outcome.code).toBe(2);
  expect(outcome.stderr.match(/^.*no space left.*$/gm)).toEqual([
    'Cannot write --save-artifacts "/dev/full": no space left on device',
  ]);
  const report = JSON.parse(outcome.stdout) as Report;
  expect(report.checks).toHaveLength(catalog.length);
  expect(await heard).toContain("event: scan.end");
  expect(await (await request(id)).json()).toMatchObject({ status: "completed", ...countStates(report.checks) });
});

test.each([
  ["on a full disk", '"$@" > /dev/full', /^Cannot write .*: no space left on device, so the exit code is 2\n$/],
  [
    "whose reader ends",
    '"$@" | true; exit "${PIPESTATUS[0]}"',
    /Cannot write standard output: the program that reads it ended/,
  ],
])("standard output %s: exit 2 and the reason", async (_, shell, message) => {
  const args = ["scan", "--format", "json", "--fail-on", "never", "--quiet", ...oneCheck];
  const outcome = await runCommand(args, { cwd: stage.path, env: stage.env, shell });
  expectNoBug(outcome);
  expect(outcome).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(message) as string });
});

test("a help text whose reader ends: no error", async () => {
  const shell = '"$@" | true; exit "${PIPESTATUS[0]}"';
  const outcome = await runCommand(["scan", "--help"], { cwd: stage.path, env: stage.env, shell });
  expect(outcome).toMatchObject({ code: 0, stderr: "" });
});

test("an internal error of a scan: exit 4, and its followers receive the end", async () => {
  const bug = "process.on('SIGUSR2',()=>{throw(new(Error)('boom'))})";
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${bug}` };
  const { running, id, heard } = await startSlowScan({ latencyMs: 150, env });
  await running.until("stderr", /\[ 3\/\d+\]/);
  const { code, stderr } = await running.stop("SIGUSR2");
  expect(code, stderr).toBe(4);
  expect(stderr).toMatch(/This is a bug of scanstream .*report it.*issue/);
  expect(stderr).toContain("boom");
  expect(await heard).toContain("event: scan.end");
  expect(await (await request(id)).json()).toMatchObject({ status: expect.stringMatching(/cancelled|failed/) });
});

const check = "signon_global_session_idle_timeout_15min";
const call = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Outcome> =>
  callCommand(args, { cwd: stage.path, env: { ...stage.env, ...gateway.env, ...env } });
const scan = (...args: readonly string[]) => call(["scan", "--check", check, "--quiet", "--status", "fail", ...args]);

test("a waiver is counted by a scan and offline, until it is withdrawn", async () => {
  expect((await scan("--save-artifacts", "evidence.json")).code).toBe(1);
  const waiver = { kind: "waiver", reason: "Moves in January", expires: "2099-01-31", org_url: stage.org.url };
  const as = `Api-Key ${gateway.acme.apiKey}`;
  const added = await gateway.request("/api/v1/decisions", { as, json: { check, ...waiver } });
  const { id } = (await added.json()) as { readonly id: string };
  const waived = await scan("--decisions-from-gateway");
  expect([waived.code, waived.stderr]).toEqual([0, ""]);
  expect(waived.stdout.replaceAll(/\s+/g, " ")).toContain(
    "waived by test (gateway) until 2099-01-31: Moves in January",
  );
  expect((await call(["evaluate", "--from-artifacts", "evidence.json", "--decisions-from-gateway"])).code).toBe(0);

  await gateway.request(`/api/v1/decisions/${id}`, { method: "DELETE", as });
  expect((await scan("--decisions-from-gateway")).code).toBe(1);
});

test("without the decisions that were asked for nothing is scanned: 2, one line, no report", async () => {
  const env = { ...gateway.env, SCANSTREAM_URL: `http://127.0.0.1:${await freePort()}` };
  const gone = await call(["scan", "--check", check, "--no-stream", "--decisions-from-gateway"], env);
  expect([gone.code, gone.stdout]).toEqual([2, ""]);
  expect(gone.stderr).toMatch(/^Cannot use --decisions-from-gateway: [^\n]*the connection was refused[^\n]*\n$/);
  const unnamed = await stage.run("scan", "--check", check, "--decisions-from-gateway");
  expect([unnamed.code, unnamed.stdout]).toEqual([2, ""]);
  expect(unnamed.stderr).toMatch(/SCANSTREAM_URL and SCANSTREAM_API_KEY are not set/);
});
