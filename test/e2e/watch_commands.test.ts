import { callCommand } from "../support/called_command.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startCommandGateway, type CommandGateway } from "../support/command_gateway.ts";
import { startCommand, type Outcome } from "../support/command_line.ts";
import { createScanProducer, type ScanProducer } from "../support/scan_producer.ts";
import { freePort } from "../support/free_port.ts";
import { problem, startScriptedServer, status } from "../support/scripted_server.ts";

/** `watch` of a scan and of a tenant, and what is wrong with a gateway. */

const noScan = "00000000-0000-4000-8000-000000000000";
/** Sets the title of a terminal, clears it, turns the direction of text, begins lines of its own. */
const hostile = "a\u001b]0;owned\u0007\u001b[2J\u202eb\u2028c\rd\ne\u0000f";
const steersTerminal = /[^\P{Cc}\n]|[\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

let gateway: CommandGateway;
let producer: ScanProducer;
beforeAll(async () => {
  gateway = await startCommandGateway();
  producer = createScanProducer(gateway.env["SCANSTREAM_URL"] ?? "", gateway.env["SCANSTREAM_API_KEY"] ?? "");
});
afterAll(() => gateway[Symbol.asyncDispose]());

function run(...args: readonly string[]): Promise<Outcome> {
  return callCommand(args, { cwd: gateway.folder, env: gateway.env });
}

test("--latest of a tenant without scans: exit 2", async () => {
  expect(await run("watch", "--latest")).toEqual({
    code: 2,
    stdout: "",
    stderr: "--latest: the tenant has no scan yet\n",
  });
});

describe("watch", () => {
  const ends: readonly (readonly [status: string, fail: number, code: number])[] = [
    ["completed", 0, 0],
    ["completed", 1, 1],
    ["failed", 0, 1],
    ["cancelled", 0, 1],
  ];
  test.each(ends)("--exit-status of a scan that ends %s with %i failed checks is %i", async (end, fail, code) => {
    const scan = await producer.register({});
    const watching = startCommand(["watch", scan.id, "--exit-status"], { cwd: gateway.folder, env: gateway.env });
    await watching.until("stderr", /Following/);
    await scan.end(end, { pass: 1, fail, manual: 0 });
    expect((await watching.finished).code).toBe(code);
    // It has ended before the stream opens.
    const late = await run("watch", scan.id, "--exit-status");
    expect(late).toMatchObject({ code, stdout: expect.stringMatching(new RegExp(`^Scan ${end}: 1 passed, ${fail} `)) });
    expect((await run("watch", scan.id)).code).toBe(0);
  });

  test("without an id follows everything of the tenant until Ctrl-C: what is under way, and what comes", async () => {
    await using other = await startCommandGateway();
    const otherProducer = createScanProducer(other.env["SCANSTREAM_URL"] ?? "", other.env["SCANSTREAM_API_KEY"] ?? "");
    const running = await otherProducer.register({ org_url: "https://first.example", checks_total: 29 });
    const options = { cwd: other.folder, env: other.env };
    const watching = startCommand(["watch"], options);
    const ndjson = startCommand(["watch", "--format", "ndjson"], options);
    for (const command of [watching, ndjson]) await command.until("stderr", /^Following the tenant$/m);
    const next = await otherProducer.register({ org_url: "https://second.example" });
    await next.end("completed", { pass: 2, fail: 1, manual: 0 });
    await watching.until("stdout", new RegExp(`^Scan ${next.id} completed`, "m"));
    await ndjson.until("stdout", /"scan\.end"/);
    await watching.until("stdout", /^Organization second\.example: /m);
    const { code, stdout } = await watching.stop("SIGINT");
    expect(code).toBe(130);
    const lines = stdout.split("\n").filter((line) => !line.includes("pending: 0 of 0") && !line.includes(" running:"));
    // When its row changes is the gateway's own pace.
    const ofOrganizations = lines.filter((line) => line.startsWith("Organization "));
    for (const line of ofOrganizations)
      expect(line).toMatch(/^Organization (first|second)\.example: \d+ passed, .*N\/A(?:, \d+ could not be read)?$/);
    expect(lines.filter((line) => !line.startsWith("Organization "))).toEqual([
      "Scans under way: 1, monitors: 0",
      `Scan ${running.id} pending: 0 of 29 checks, 0 passed, 0 failed, 0 need manual review, 0 N/A`,
      `Scan ${next.id} registered: https://second.example`,
      `Scan ${next.id} completed: 2 passed, 1 failed, 0 need manual review, 0 N/A`,
      "",
    ]);
    const types = (await ndjson.stop("SIGINT")).stdout
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as { type: string }).type);
    expect(types.filter((type) => type !== "scan.updated" && type !== "organization.updated")).toEqual([
      "tenant.snapshot",
      "scan.snapshot",
      "organization.snapshot",
      "scan.created",
      "scan.end",
    ]);
  });
});

describe("what is wrong is one line", () => {
  const wrong: readonly (readonly [args: string, message: string])[] = [
    [`watch ${noScan} --latest`, "--latest cannot be combined with SCAN_ID: give one of them\n"],
    ["watch --exit-status", "--exit-status needs SCAN_ID or --latest, because the stream of a tenant does not end\n"],
    ["watch x", 'SCAN_ID "x": expected the UUID of a scan\n'],
  ];
  test.each(wrong)("%s: exit 2", async (args, message) => {
    expect(await run(...args.split(" "))).toEqual({ code: 2, stdout: "", stderr: message });
  });

  test.each([`report ${noScan}`, "watch"])("%s without a gateway: exit 2", async (args) => {
    expect(await callCommand(args.split(" "), { cwd: gateway.folder })).toEqual({
      code: 2,
      stdout: "",
      stderr:
        "SCANSTREAM_URL and SCANSTREAM_API_KEY are not set: expected the address of a gateway, and an API key for it\n",
    });
  });

  test("a key that is not valid, and a gateway that cannot be reached: exit 3", async () => {
    const refused = await callCommand(["report", noScan], {
      cwd: gateway.folder,
      env: { ...gateway.env, SCANSTREAM_API_KEY: "scs_no" },
    });
    expect(refused).toEqual({
      code: 3,
      stdout: "",
      stderr: expect.stringMatching(/^Cannot read the report: 401 .*\n$/),
    });
    const unreachable = await callCommand(["report", noScan], {
      cwd: gateway.folder,
      env: { ...gateway.env, SCANSTREAM_URL: `http://127.0.0.1:${await freePort()}` },
    });
    expect(unreachable).toMatchObject({ code: 3, stdout: "" });
    expect(unreachable.stderr).toBe(
      "Cannot read the report: the connection was refused; check SCANSTREAM_URL, and that the gateway runs\n",
    );
    // `fetch` refuses this port by itself, and gives no code.
    const blocked = { ...gateway.env, SCANSTREAM_URL: "http://127.0.0.1:1" };
    expect((await callCommand(["report", noScan], { cwd: gateway.folder, env: blocked })).stderr).toBe(
      "Cannot read the report: the connection failed; check SCANSTREAM_URL, and that the gateway runs\n",
    );
  });

  const answers = [
    ["a refusal", problem(500, hostile)],
    ["no JSON", status(200, {}, hostile)],
    ["no report", status(200, {}, "[]")],
  ] as const;
  test.each(answers)("a gateway that answers with %s: exit 3, and a clean line", async (_, answer) => {
    await using server = await startScriptedServer(answer);
    const env = { SCANSTREAM_URL: server.url, SCANSTREAM_API_KEY: "scs_key" };
    const { code, stdout, stderr } = await callCommand(["report", noScan], { cwd: gateway.folder, env });
    expect(stderr).toMatch(/^Cannot read the report: .*\n$/);
    expect(stderr).not.toMatch(steersTerminal);
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
  });
});
