import { describe, expect, test } from "vitest";
import { createTenantText } from "../../command_line/watch/event_text.ts";
import { callCommand } from "../support/called_command.ts";
import { ownFolder } from "../support/clean_up.ts";
import { startCommand, type Outcome } from "../support/command_line.ts";
import { freePort } from "../support/free_port.ts";
import { reportUpload } from "../support/report_builders.ts";
import { createProducer } from "../support/producers.ts";
import { createMonitorClient, newMonitor } from "../support/monitor_client.ts";
import { createScan, openTestGateway } from "../support/test_gateway.ts";
import { problem, startScriptedServer, status, type Answer } from "../support/scripted_server.ts";

/** `watch` and `report` of what a gateway keeps, hostile events and answers, and a gateway that cannot be used. */

const gateway = await openTestGateway();
const producer = createProducer(gateway.url, gateway.acme.apiKey);
const options = { cwd: await ownFolder(), env: gateway.env };

function run(...args: readonly string[]): Promise<Outcome> {
  return callCommand(args, options);
}

test.each<[status: string, fail: number, code: number]>([
  ["completed", 0, 0],
  ["cancelled", 0, 1],
])("--exit-status of a scan that ends %s with %i failed checks is %i", async (end, fail, code) => {
  const scan = await producer.register({});
  const watching = startCommand(["watch", scan.id, "--exit-status"], options);
  await watching.until("stderr", /Following/);
  await scan.end(end, { pass: 1, fail, manual: 0 });
  expect((await watching.finished).code).toBe(code);
  // It has ended before the stream opens.
  const late = await run("watch", scan.id, "--exit-status");
  expect(late).toMatchObject({ code, stdout: expect.stringMatching(new RegExp(`^Scan ${end}: 1 PASS, ${fail} `)) });
  expect((await run("watch", scan.id)).code).toBe(0);
});

test("without an id follows everything of the tenant until Ctrl-C: what is under way, and what comes", async () => {
  const { apiKey } = await gateway.createTenant("Initech");
  const otherProducer = createProducer(gateway.url, apiKey);
  const running = await otherProducer.register({ org_url: "https://first.example", checks_total: 29 });
  const watching = startCommand(["watch"], { ...options, env: { ...gateway.env, SCANSTREAM_API_KEY: apiKey } });
  await watching.until("stderr", /^Following the tenant$/m);
  const next = await otherProducer.register({ org_url: "https://second.example" });
  await next.end("completed", { pass: 2, fail: 1, manual: 0 });
  await watching.until("stdout", new RegExp(`^Scan ${next.id} of \\S+ completed`, "m"));
  await watching.until("stdout", /^Organization second\.example: \d+ PASS, .*N\/A/m);
  const monitor = createMonitorClient(gateway);
  await monitor.put(newMonitor, `Api-Key ${apiKey}`);
  const problem = { log_status: "unreadable", error_code: "log_unreadable", error_detail: "no answer" };
  await monitor.patch(problem, `Api-Key ${apiKey}`);
  await watching.until("stdout", /^Monitor \S+ of \S+ running: .* N\/A, cannot read the System Log$/m);
  await watching.until("stdout", /^Monitor \S+ of https:\S+: no answer$/m);
  const { code, stdout } = await watching.stop("SIGINT");
  expect(code).toBe(130);
  // When the row of an organization changes is the gateway's own pace.
  const lines = stdout.split("\n").filter((line) => !/pending: 0 of 0|^Monitor |^Organization /.test(line));
  expect(lines).toEqual([
    "Scans under way: 1, monitors: 0",
    `Scan ${running.id} of https://first.example pending: 0 of 29 checks, 0 PASS, 0 FAIL, 0 MANUAL, 0 N/A`,
    `Scan ${next.id} of https://second.example registered`,
    `Scan ${next.id} of https://second.example completed: 2 PASS, 1 FAIL, 0 MANUAL, 0 N/A`,
    "",
  ]);
});

test("an outage is said once, however often the stream is tried again", async () => {
  await using server = await startScriptedServer(status(503), status(503), problem(404, "gone"));
  const env = { SCANSTREAM_URL: server.url, SCANSTREAM_API_KEY: "scs_key" };
  const { stderr } = await callCommand(["watch"], { ...options, env });
  expect(stderr.match(/^Reconnecting/gm)).toHaveLength(1);
});

test("a change, and a decision, is one line with its organization and who made it", () => {
  const named = { vuln_id: "V-1", cat: "CAT I", resource_name: "Console", actors: ["Ann", "Ann"] };
  const change = { ...named, from: null, to: "MANUAL", to_reason: "missing_scope", to_waived: true };
  const text = createTenantText(false);
  text("monitor.snapshot", { monitor_id: "m", org_url: "https://acme.example" });
  const line = text("finding.updated", { monitor_id: "m", ...change });
  expect(line).toBe("(none) → MANUAL missing_scope waived V-1 CAT I: Console of https://acme.example, by Ann");
  const decision = { kind: "waiver", status: null, state: "active", check: "V-1", by: "Bo", reason: "Until May" };
  const of = (org_url: string | null) => text("decision.created", { ...decision, org_url });
  expect(of("https://acme.example")).toBe("Decision active: waiver of V-1 of https://acme.example, by Bo: Until May");
  expect(of(null)).toBe("Decision active: waiver of V-1, by Bo: Until May");
});

/** Sets the title of a terminal, clears it, turns the direction of text, begins lines of its own. */
const hostile = "a\u001b]0;owned\u0007\u001b[2J\u009b31m\u202eb\u2028c\rd\ne\u0000f";
/** Anything that a terminal would obey, or that does not show. */
const steersTerminal = /[^\P{Cc}\n]|[\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

test("writes one clean line for each event, whatever was published, and as JSON the same values", async () => {
  const fields = ["scan_id", "check", "status", "code", "detail", "fingerprint", "severity", "resource_name"];
  const all = (value: unknown) => Object.fromEntries(fields.map((name) => [name, value]));
  const bodies = [
    all(hostile),
    { ...all("x"), checks_done: hostile },
    all(17),
    all(["a", hostile]),
    { [hostile]: 1 },
    {},
  ];
  const kinds = ["scan.start", "scan.progress", "finding.created", "scan.error", "scan.delta", "other.created"];
  const events = [
    ...kinds.flatMap((type) => bodies.map((data) => ({ type, data }))),
    { type: "scan.progress", data: { type: "scan.end", check: "a", status: "PASS", checks_done: 1, checks_total: 2 } },
  ];
  const scan = await createScan(gateway, gateway.acme);
  const [text, json] = [[], ["--format", "json"]].map((args) => startCommand(["watch", scan.id, ...args], options));
  for (const one of [text, json]) await one?.until("stderr", /Following/);
  const end = { type: "scan.end", data: { scan_id: scan.id, status: hostile, pass: 1, fail: 0, manual: hostile } };
  for (const event of [...events, end])
    await gateway.gateway.parts.dependencies.broker.publish(scan.channel, JSON.stringify(event));

  const [shown, written] = [await text?.finished, await json?.finished];
  for (const outcome of [shown, written]) {
    expect(outcome?.code).toBe(0);
    expect(outcome?.stdout).not.toMatch(steersTerminal);
  }
  const lines = shown?.stdout.trimEnd().split("\n") ?? [];
  expect(lines).toHaveLength(events.length + 1);
  expect(lines.at(-2)).toBe("[1/2] PASS   a");
  expect(lines.at(-1)).toMatch(/^Scan a b c d e f: 1 PASS, 0 FAIL, a b c d e f MANUAL, \?+ N\/A$/);
  expect(linesOf(written?.stdout ?? "").slice(0, -1)).toEqual(events.map(({ type, data }) => ({ ...data, type })));
});

function linesOf(ndjson: string): readonly Readonly<Record<string, unknown>>[] {
  const lines = ndjson.trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
}

const noScan = "00000000-0000-4000-8000-000000000000";

describe("what is wrong is one clean line", () => {
  test.each([
    [["watch", noScan, "--latest"], "--latest cannot be combined with SCAN_ID: give one of them\n"],
    [["watch", "x"], 'SCAN_ID "x": expected the UUID of a scan\n'],
    [["report", "x"], 'Cannot read the run, file or scan id "x": no such file\n'],
  ])("%j: exit 2", async (args, stderr) => {
    expect(await run(...args)).toEqual({ code: 2, stdout: "", stderr });
  });

  test("no gateway: exit 2; a key that is not valid, and a gateway that cannot be reached: exit 3", async () => {
    const report = (env: Readonly<Record<string, string>>) => callCommand(["report", noScan], { ...options, env });
    const unset = "SCANSTREAM_URL and SCANSTREAM_API_KEY are not set";
    expect(await report({})).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(unset) as string });
    const refused = await report({ ...gateway.env, SCANSTREAM_API_KEY: "scs_no" });
    expect([refused.code, refused.stderr]).toEqual([3, expect.stringMatching(/^Cannot read the report: 401 .*\n$/)]);
    const gone = await report({ ...gateway.env, SCANSTREAM_URL: `http://127.0.0.1:${await freePort()}` });
    expect([gone.code, gone.stderr]).toEqual([
      3,
      "Cannot read the report: the connection was refused; check SCANSTREAM_URL, and that the gateway runs\n",
    ]);
  });

  test.each<[command: string, what: string, answers: readonly [Answer, ...Answer[]]]>([
    ["watch", "a refusal", [problem(404, hostile)]],
    ["watch", "a scan that ended and is no JSON", [status(204), status(200, {}, hostile)]],
    ["report", "no report", [status(200, {}, "[]")]],
  ])("%s of a gateway that answers with %s: exit 3", async (command, _, answers) => {
    await using server = await startScriptedServer(...answers);
    const env = { SCANSTREAM_URL: server.url, SCANSTREAM_API_KEY: "scs_key" };
    const { code, stderr } = await callCommand([command, noScan], { ...options, env });
    expect(stderr).not.toMatch(steersTerminal);
    expect(stderr).toMatch(/^Cannot (?:follow the scan|read the report): (?!Cannot follow).*$/m);
    expect(code).toBe(3);
  });
});

test("report of a scan that the gateway keeps writes one format to stdout, a table unless another is named", async () => {
  const { id } = await producer.register({ org_url: "https://acme.okta.com" });
  expect(await run("report", id)).toEqual({
    code: 2,
    stdout: "",
    stderr: "Cannot read the report: 404 No report was uploaded for this scan\n",
  });
  const as = `Api-Key ${gateway.acme.apiKey}`;
  expect((await gateway.request(`/api/v1/scans/${id}/report`, { ...reportUpload(id), as })).ok).toBe(true);
  const table = await run("report", "--latest");
  expect(table.code).toBe(0);
  expect(table.stdout).toContain("V-273186");
  const json = await run("report", id, "--format", "json");
  expect(JSON.parse(json.stdout)).toMatchObject({ scan: { id } });
});
