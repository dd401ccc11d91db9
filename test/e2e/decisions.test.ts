import { callCommand } from "../support/called_command.ts";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startCommandStage, type CommandStage } from "../support/command_gateway.ts";
import { type Outcome } from "../support/command_line.ts";
import { freePort } from "../support/free_port.ts";

/** Decisions that are kept at a gateway: made, listed and withdrawn by commands, counted by a scan and offline. */

const check = "signon_global_session_idle_timeout_15min";

let stage: CommandStage;
beforeAll(async () => {
  stage = await startCommandStage();
});
afterAll(() => stage[Symbol.asyncDispose]());

const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Outcome> =>
  callCommand(args, { cwd: stage.cwd, env: { ...stage.idpEnv, ...stage.gateway.env, ...env } });
const decisions = (...args: readonly string[]) => run(["decisions", ...args]);
const scan = (...args: readonly string[]) => run(["scan", "--check", check, "--quiet", "--status", "fail", ...args]);

async function waive(...args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await decisions("waive", check, "--reason", "Moves in January", "-f", "json", ...args);
  expect(stderr).toBe("");
  return (JSON.parse(stdout) as { id: string }).id;
}

test("a waiver is made, listed, counted by a scan and offline, and withdrawn", async () => {
  expect(await decisions("list")).toEqual({ code: 0, stdout: "Nothing found\n", stderr: "" });
  expect((await scan("--save-artifacts", "evidence.json")).code).toBe(1);
  const id = await waive("--expires", "2099-01-31", "--org-url", stage.idpEnv["IDP_ORG_URL"] ?? "");
  const listed = (await decisions("list", "--kind", "waiver")).stdout.split("\n").map((line) => line.split(/ {2,}/));
  expect(listed).toEqual([
    ["DECISION", "KIND", "STATE", "CHECK", "ABOUT", "EXPIRES", "BY", "REASON"],
    [id, "waiver", "active", check, "every finding", "2099-01-31", "test", "Moves in January"],
    [""],
  ]);

  const waived = await scan("--decisions-from-gateway");
  expect([waived.code, waived.stderr]).toEqual([0, ""]);
  expect(waived.stdout.replaceAll(/\s+/g, " ")).toContain(
    "waived by test (gateway) until 2099-01-31: Moves in January",
  );
  expect((await run(["evaluate", "--from-artifacts", "evidence.json", "--decisions-from-gateway"])).code).toBe(0);

  expect(await decisions("withdraw", id)).toEqual({
    code: 0,
    stdout: "",
    stderr: `Withdrew ${id}: later scans ignore it\n`,
  });
  expect((await scan("--decisions-from-gateway")).code).toBe(1);
  expect((await decisions("list")).stdout).toBe("Nothing found\n");
  expect((await decisions("list", "--all")).stdout).toMatch(new RegExp(`^${id} +waiver +withdrawn`, "m"));
});

test("a decision takes every name of its rule, and an unknown one is refused with the nearest", async () => {
  const decide = (name: string) => decisions("waive", name, "--reason", "Moves in January");
  expect((await decide("sv-279690")).code).toBe(0);
  expect((await decisions("list", "--check", "OKTA-APP-003241")).stdout).toContain("apitoken_not_super_admin");
  const wrong = await decide("apitoken_not_super_admim");
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('did you mean "apitoken_not_super_admin"?')]);
  const [, id = ""] = /^([0-9a-f-]{36}) /m.exec((await decisions("list", "--check", "V-279690")).stdout) ?? [];
  expect((await decisions("withdraw", id)).code).toBe(0);
});

test("a file's waiver of the same counts before the gateway's, and both are named", async () => {
  const id = await waive();
  await writeFile(join(stage.cwd, "waivers.json"), JSON.stringify([{ check, reason: "of the file" }]));
  const { code, stdout, stderr } = await scan("--decisions-from-gateway", "--waivers", "waivers.json");
  expect(code).toBe(0);
  expect(stderr).toBe(`The waiver of ${check} by test at the gateway is ignored: --waivers has its own\n`);
  expect(stdout.replaceAll(/\s+/g, " ")).toContain("waived: of the file");
  await decisions("withdraw", id);
});

test("the attestation of the help is made and counted, and a second one is refused with the first one's name", async () => {
  const streams = "systemlog_streaming_enabled";
  await run(["scan", "--check", streams, "--quiet", "--save-artifacts", "streams.json"]);
  const evidence = JSON.parse(await readFile(join(stage.cwd, "streams.json"), "utf8")) as { artifacts: object };
  const artifacts = { ...evidence.artifacts, log_streams: { state: "obtained", value: [] } };
  await writeFile(join(stage.cwd, "streams.json"), JSON.stringify({ ...evidence, artifacts }));
  const judge = (...args: readonly string[]) =>
    run(["evaluate", "--from-artifacts", "streams.json", "--check", streams, "--fail-on", "manual", ...args]);
  expect((await judge()).code).toBe(1);

  const { stdout: help } = await decisions("attest", "--help");
  const [, example = ""] = /\$ scanstream decisions attest (.*)/.exec(help) ?? [];
  expect(example).toContain(streams);
  const words = [...example.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? "");
  const attest = () => decisions("attest", ...words, "-f", "json");
  const { id } = JSON.parse((await attest()).stdout) as { id: string };
  expect((await judge("--decisions-from-gateway")).code).toBe(0);
  const again = await attest();
  expect([again.code, again.stdout]).toEqual([2, ""]);
  expect(again.stderr).toMatch(new RegExp(`^Cannot attest: 409 The same decision exists already: ${id}\\. [^\n]*\n$`));
});

test.each([
  [["waive", check], /--reason/],
  [["attest", check, "--reason", "x"], /--status/],
  [["attest", check, "--reason", "x", "--status", "MAYBE"], /PASS, FAIL, NOT_APPLICABLE/],
  [
    ["waive", check, "--reason", "x", "--expires", "2020-01-31"],
    /\/expires is in the past: expected a future day or time/,
  ],
  [["waive", check, "--reason", "x", "--expires", "soon"], /\/expires expected a day \(2027-01-31\)/],
  [["withdraw", "1"], /ID "1": expected the UUID of a decision/],
])("decisions %j: 2, and what was wrong", async (args, message) => {
  const { code, stdout, stderr } = await decisions(...args);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(message);
});

test("without the decisions that were asked for nothing is scanned: 2, one line, no report", async () => {
  const env = { ...stage.gateway.env, SCANSTREAM_URL: `http://127.0.0.1:${await freePort()}` };
  const gone = await run(["scan", "--check", check, "--no-stream", "--decisions-from-gateway"], env);
  expect([gone.code, gone.stdout]).toEqual([2, ""]);
  expect(gone.stderr).toMatch(/^Cannot use --decisions-from-gateway: [^\n]*the connection was refused[^\n]*\n$/);
  const options = { cwd: stage.cwd, env: stage.idpEnv };
  const unnamed = await callCommand(["scan", "--check", check, "--decisions-from-gateway"], options);
  expect([unnamed.code, unnamed.stdout]).toEqual([2, ""]);
  expect(unnamed.stderr).toMatch(/SCANSTREAM_URL and SCANSTREAM_API_KEY are not set/);
});
