import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { callCommand } from "../support/called_command.ts";
import { startCommandGateway, type CommandGateway } from "../support/command_gateway.ts";
import { startCommand, type Outcome } from "../support/command_line.ts";
import { problem, startScriptedServer, status, stream, type Answer } from "../support/scripted_server.ts";

/** What `watch` writes of events and answers that others made: anybody with a key of the tenant may publish any text. */

let gateway: CommandGateway;
let cwd: string;

beforeAll(async () => {
  gateway = await startCommandGateway();
  cwd = gateway.folder;
});

afterAll(() => gateway[Symbol.asyncDispose]());

interface PublishedEvent {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** `watch` of a new scan on whose channel these events are published, and then its end. */
async function watch(
  events: readonly PublishedEvent[],
  options: { readonly args?: readonly string[]; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<Outcome> {
  const { args = [], env = {} } = options;
  const scan = await gateway.registerScan();
  const running = startCommand(["watch", scan.id, ...args], { cwd, env: { ...gateway.env, ...env } });
  await running.until("stderr", /Following/);
  const end = { type: "scan.end", data: { scan_id: scan.id, status: hostile, pass: 1, fail: 0, manual: hostile } };
  for (const event of [...events, end]) await gateway.publish(scan, event);
  return running.finished;
}

/** Sets the title of a terminal, clears it, turns the direction of text, begins lines of its own. */
const hostile = "a\u001b]0;owned\u0007\u001b[2J\u009b31m\u202eb\u2028c\rd\ne\u0000f";

/** Anything that a terminal would obey, or that does not show. */
const steersTerminal = /[^\P{Cc}\n]|[\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

const fields = ["scan_id", "check", "status", "code", "detail", "fingerprint", "severity", "resource_name"];
const all = (value: unknown) => Object.fromEntries(fields.map((name) => [name, value]));

const events: readonly PublishedEvent[] = [
  ...["scan.start", "scan.progress", "finding.created", "scan.error", "scan.delta", "other.created"].flatMap((type) => [
    { type, data: all(hostile) },
    { type, data: { ...all("x"), checks_done: hostile, checks_total: hostile } },
    { type, data: all(17) },
    { type, data: all(null) },
    { type, data: all(["a", hostile]) },
    { type, data: all("toString") },
    { type, data: { [hostile]: hostile } },
    { type, data: {} },
  ]),
  { type: "scan.progress", data: { type: "scan.end", check: "a", status: "PASS", checks_done: 1, checks_total: 2 } },
];

describe("watch", () => {
  test("writes one clean line for each event, whatever was published", async () => {
    const { code, stdout, stderr } = await watch(events);
    expect(stderr).toMatch(/^Following scan \S+\n$/);
    expect(code).toBe(0);
    expect(stdout).not.toMatch(steersTerminal);
    const lines = stdout.trimEnd().split("\n");
    expect(lines).toHaveLength(events.length + 1);
    expect(lines.at(-2)).toBe("[1/2] PASS   a");
    expect(lines.at(-1)).toMatch(/^Scan a b c d e f: 1 passed, 0 failed, a b c d e f need manual review, \?+ N\/A$/);
  });

  test("--format json writes the same values as JSON, one line each, and the type that was published", async () => {
    const { code, stdout } = await watch(events, { args: ["--format", "json"] });
    expect(code).toBe(0);
    expect(stdout).not.toMatch(steersTerminal);
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.slice(0, -1)).toEqual(events.map(({ type, data }) => ({ ...data, type })));
  });
});

describe("watch of a gateway whose answers are hostile", () => {
  const scanId = "8b9df7a5-3c1f-4f53-9a3e-0f6c1d6a2b11";

  const cases: readonly (readonly [name: string, answers: readonly [Answer, ...Answer[]]])[] = [
    ["a refusal", [problem(404, hostile)]],
    [
      "an event that is none",
      [stream(`event: a${hostile.replaceAll(/[\r\n]/g, "")}\ndata: 1\n\n`), problem(404, hostile)],
    ],
    ["a scan that ended and cannot be read", [status(204), problem(500, hostile)]],
    ["a scan that ended and is none", [status(204), status(200, {}, "null")]],
    ["a scan that ended and is no JSON", [status(204), status(200, {}, hostile)]],
  ];

  test.each(cases)("%s: one clean line, and exit 3", async (_, answers) => {
    await using server = await startScriptedServer(...answers);
    const env = { SCANSTREAM_URL: server.url, SCANSTREAM_API_KEY: "scs_key" };
    const { code, stderr } = await callCommand(["watch", scanId], { cwd, env });
    expect(stderr).not.toMatch(steersTerminal);
    expect(stderr).toMatch(/^Cannot follow the scan: .*$/m);
    expect(stderr).not.toContain("This is a bug");
    expect(code).toBe(3);
  });

  test("a scan that ended: its end is one clean line", async () => {
    const state = JSON.stringify({ id: scanId, status: hostile, pass: 1, fail: [hostile], manual: null });
    await using server = await startScriptedServer(status(204), status(200, {}, state));
    const env = { SCANSTREAM_URL: server.url, SCANSTREAM_API_KEY: "scs_key" };
    const { code, stdout } = await callCommand(["watch", scanId], { cwd, env });
    expect(stdout).not.toMatch(steersTerminal);
    expect(stdout.trimEnd().split("\n")).toHaveLength(1);
    expect(code).toBe(0);
  });
});

test("scan writes no refusal of a gateway raw", async () => {
  await using server = await startScriptedServer(problem(403, hostile));
  const { stderr } = await callCommand(["scan", "--check", "V-273186"], {
    cwd,
    env: {
      SCANSTREAM_URL: server.url,
      SCANSTREAM_API_KEY: "scs_key",
      IDP_ORG_URL: "http://127.0.0.1:9",
      IDP_CLIENT_ID: "0oa1",
      IDP_PRIVATE_KEY: await newPrivateKey(),
    },
  });
  expect(stderr).toContain("the scan is not registered at the gateway: 403");
  expect(stderr).not.toMatch(steersTerminal);
});

async function newPrivateKey(): Promise<string> {
  const { privateKey } = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign"]);
  return JSON.stringify({ ...(await crypto.subtle.exportKey("jwk", privateKey)), kid: "a" });
}
