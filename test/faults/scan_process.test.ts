import { join } from "node:path";
import { EventSourceParserStream } from "eventsource-parser/stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import { catalog } from "../../scanner/catalog/catalog.ts";
import { createPracticeOrg, type PracticeOrg } from "../../practice_org/create_practice_org.ts";
import { publishCredentials } from "../../practice_org/auth/credentials.ts";
import { countStates, type Report } from "../../shared/report.ts";
import { runCommand, startCommand, temporaryFolder, type Outcome, type Running } from "../support/command_line.ts";
import { freePort } from "../support/free_port.ts";
import { startRedis, type RedisServer } from "../support/redis.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp_proxy.ts";
import { recordFault, seconds } from "./reliability_table.ts";

/** V5 with three processes: `scan`, `serve` with its embedded database, and Redis, and breakable networks between them. */

const here = "test/faults/scan_process.test.ts";
/** How long a scan may wait for its last words to be taken. */
const endBoundMs = 7000;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let org: PracticeOrg;
let redis: RedisServer;
/** Between the scanner and the gateway, and between the scanner and Redis. */
let gatewayNetwork: TcpProxy;
let brokerNetwork: TcpProxy;
let port: number;
let serve: Running;
let apiKey: string;
let idpEnvironment: Record<string, string>;
let calm: { readonly outcome: Outcome; readonly report: Report };

beforeAll(async () => {
  folder = await temporaryFolder();
  [redis, org, port] = await Promise.all([
    startRedis(),
    createPracticeOrg({ profile: { name: "typical" }, role: "super", latencyMs: 40 }),
    freePort(),
  ]);
  [gatewayNetwork, brokerNetwork] = await Promise.all([
    startTcpProxy({ host: "127.0.0.1", port }),
    startTcpProxy(redis),
  ]);
  await startServe();
  const { privateKeyFile } = await publishCredentials(org, join(folder.path, "org"));
  idpEnvironment = { IDP_ORG_URL: org.url, IDP_CLIENT_ID: org.clientId, IDP_PRIVATE_KEY_FILE: privateKeyFile };
  const outcome = await runCommand([...scanArguments, "--no-stream"], { cwd: folder.path, env: idpEnvironment });
  calm = { outcome, report: JSON.parse(outcome.stdout) as Report };
  const { id = "" } = await admin("tenant", "create", "--name", "Acme");
  apiKey = (await admin("api-key", "create", "--tenant", id, "--name", "ci"))["api_key"] ?? "";
});
afterAll(async () => {
  await serve.stop();
  await org.stop();
  await gatewayNetwork.close();
  await brokerNetwork.close();
  await redis.stop();
  await folder[Symbol.asyncDispose]();
});

const scanArguments = ["scan", "--format", "json", "--concurrency", "1"];

async function startServe(): Promise<void> {
  serve = startCommand(["serve"], { cwd: folder.path, env: { PORT: String(port), REDIS_URL: redis.url } });
  await serve.until("stdout", /http:\/\/127\.0\.0\.1:\d+/);
}

async function admin(...args: readonly string[]): Promise<Record<string, string>> {
  const { stdout } = await runCommand(["admin", ...args, "--format", "json"], { cwd: folder.path });
  return JSON.parse(stdout) as Record<string, string>;
}

interface RunningScan {
  readonly running: Running;
  readonly id: string;
}

/** A scan that is registered and has judged its first checks. */
async function startScan(environment: Readonly<Record<string, string>> = {}): Promise<RunningScan> {
  const running = startCommand(scanArguments, {
    cwd: folder.path,
    env: {
      ...idpEnvironment,
      SCANSTREAM_URL: `http://127.0.0.1:${gatewayNetwork.port}`,
      SCANSTREAM_API_KEY: apiKey,
      ...environment,
    },
  });
  const [, id = ""] = await running.until("stderr", /Streaming as scan ([0-9a-f-]{36})/);
  await running.until("stderr", /\[ 3\/\d+\]/);
  return { running, id };
}

async function get(path: string): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: `Api-Key ${apiKey}` } });
}

async function stored(id: string): Promise<Record<string, unknown>> {
  return (await (await get(`/api/v1/scans/${id}`)).json()) as Record<string, unknown>;
}

async function storedFingerprints(id: string): Promise<readonly string[]> {
  const response = await get(`/api/v1/scans/${id}/findings?limit=200`);
  const { items, next_cursor: next } = (await response.json()) as {
    readonly items: readonly { readonly fingerprint: string }[];
    readonly next_cursor: string | null;
  };
  expect(next).toBeNull();
  return items.map(({ fingerprint }) => fingerprint).toSorted();
}

interface Event {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Everything that a client of the gateway sees of the scan, from now to the stream's end. */
async function follow(id: string): Promise<{ readonly events: Promise<readonly Event[]> }> {
  const response = await get(`/api/v1/scans/${id}/event-stream`);
  expect(response.status).toBe(200);
  return { events: readAll(response) };
}

async function readAll(response: Response): Promise<readonly Event[]> {
  const events: Event[] = [];
  const messages = response.body?.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  for await (const { event = "", data } of messages ?? []) {
    events.push({ type: event, data: JSON.parse(data) as Event["data"] });
  }
  return events;
}

function fingerprintsOf({ checks }: Report): readonly string[] {
  return checks.flatMap(({ findings }) => findings.map(({ fingerprint }) => fingerprint)).toSorted();
}

/** The report is all of stdout, and of the trouble there is one line on stderr, or none. */
function reportOf({ stdout, stderr }: Outcome, warningCount: number): Report {
  const report = JSON.parse(stdout) as Report & { readonly schema: string };
  expect(report.schema).toBe("scanstream.report/1");
  const others = stderr
    .split("\n")
    .filter(
      (line) =>
        !/^(\[ ?\d+\/\d+\] .*|Streaming as scan \S+ at \S+|Scanning: \d+ checks|\d+ of \d+ rules failed .*|Exit \d+: .*|)$/.test(
          line,
        ),
    );
  expect(others.filter((line) => /goes on without its live view/.test(line))).toHaveLength(warningCount);
  expect(others.filter((line) => !/goes on without its live view|was given up/.test(line))).toEqual([]);
  expect(stderr).not.toContain(apiKey);
  return report;
}

function expectCalmVerdicts(outcome: Outcome, warningCount: number): Report {
  const report = reportOf(outcome, warningCount);
  expect(outcome.code).toBe(calm.outcome.code);
  expect([report.summary, report.checks]).toEqual([calm.report.summary, calm.report.checks]);
  return report;
}

test("a gateway that is killed in the middle of a scan and started again: the scan is stored whole, with one warning", async () => {
  const { running, id } = await startScan();
  const killedAtMs = performance.now();
  await serve.stop("SIGKILL");
  await running.until("stderr", /goes on without its live view/);
  const tried = gatewayNetwork.acceptedCount;
  await expect.poll(() => gatewayNetwork.acceptedCount, { timeout: 10_000 }).toBeGreaterThan(tried);
  // Else it depends on the machine which of the two is sooner: the gateway's return or the scan's end.
  running.process.kill("SIGSTOP");
  await startServe();
  running.process.kill("SIGCONT");
  const awayMs = performance.now() - killedAtMs;
  const report = expectCalmVerdicts(await running.finished, 1);
  expect(await stored(id)).toMatchObject({
    status: "completed",
    checks_done: catalog.length,
    ...countStates(report.checks),
  });
  expect(await storedFingerprints(id)).toEqual(fingerprintsOf(report));
  recordFault(
    {
      fault: "gateway killed and restarted in the middle of a scan",
      on: "Node, `serve`",
      client: "the scanner warns once",
      soon: `the gateway is back after ${seconds(awayMs)}`,
      recovers: "what waits is sent when it is back",
      lost: "live events; the stored scan is whole",
    },
    here,
  );
});

test("an interrupted scan: exit 130, the report of what was evaluated, and its followers receive that it was cancelled", async () => {
  const { running, id } = await startScan();
  const { events } = await follow(id);
  const interruptedAtMs = performance.now();
  const outcome = await running.stop("SIGINT");
  const tookMs = performance.now() - interruptedAtMs;
  expect(outcome.code).toBe(130);
  expect(tookMs).toBeLessThan(endBoundMs);
  const report = reportOf(outcome, 0);
  expect(report.scan).toMatchObject({ id, status: "cancelled" });
  expect(report.checks).toHaveLength(catalog.length);
  const evaluated = report.checks.filter(({ detail }) => !detail.includes("interrupted"));
  expect(evaluated.length).toBeGreaterThanOrEqual(3);
  expect(evaluated.length).toBeLessThan(catalog.length);
  const last = (await events).at(-1);
  expect(last).toMatchObject({ type: "scan.end", data: { scan_id: id, status: "cancelled" } });
  expect(await stored(id)).toMatchObject({ status: "cancelled" });
  recordFault(
    {
      fault: "scanner interrupted (SIGINT) in the middle of a scan",
      on: "Node, `serve`",
      client: "`scan.end` with the status `cancelled`; the scanner exits with 130",
      soon: seconds(tookMs),
      recovers: "the next scan",
      lost: "nothing: the report says of each check that was not evaluated that it was not",
    },
    here,
  );
});

test("an interrupted scan whose gateway is gone: exit 130 and the report all the same, soon", async () => {
  const { running } = await startScan();
  gatewayNetwork.refuse();
  const interruptedAtMs = performance.now();
  const outcome = await running.stop("SIGINT");
  gatewayNetwork.restore();
  const tookMs = performance.now() - interruptedAtMs;
  expect(outcome.code).toBe(130);
  expect(tookMs).toBeLessThan(endBoundMs);
  expect(reportOf(outcome, 1).scan.status).toBe("cancelled");
});

test("a broker whose plug is pulled while a scan publishes straight to it: nothing but live events waits for it", async () => {
  const { running, id } = await startScan({ REDIS_URL: `redis://127.0.0.1:${brokerNetwork.port}` });
  expect(brokerNetwork.openCount).toBeGreaterThan(0);
  brokerNetwork.refuse();
  const outcome = await running.finished;
  brokerNetwork.restore();
  const report = expectCalmVerdicts(outcome, 1);
  expect(await stored(id)).toMatchObject({ status: "completed", ...countStates(report.checks) });
  expect(await storedFingerprints(id)).toEqual(fingerprintsOf(report));
  recordFault(
    {
      fault: "broker unavailable while a scan publishes straight to it",
      on: "Node, `serve`",
      client: "the scanner warns once; followers receive nothing more, and find the scan's end when they refetch",
      soon: "at once",
      recovers: "what waits is sent when the broker is back in time",
      lost: "live events; the stored scan is whole",
    },
    here,
  );
});

test("a broker that comes back in the middle of such a scan: followers receive every finding, and the end", async () => {
  const { running, id } = await startScan({ REDIS_URL: `redis://127.0.0.1:${brokerNetwork.port}` });
  const { events } = await follow(id);
  const known = await storedFingerprints(id);
  brokerNetwork.refuse();
  await running.until("stderr", /goes on without its live view/);
  brokerNetwork.restore();
  const report = expectCalmVerdicts(await running.finished, 1);
  const heard = await events;
  expect(heard.at(-1)).toMatchObject({
    type: "scan.end",
    data: { scan_id: id, status: "completed", ...countStates(report.checks) },
  });
  const told = heard.filter(({ type }) => type === "finding.created").map(({ data }) => String(data["fingerprint"]));
  // What was published before there was a follower is in the state that a follower reads when its stream is open.
  expect(known.length).toBeLessThan(fingerprintsOf(report).length);
  expect(Array.from(new Set([...known, ...told])).toSorted()).toEqual(fingerprintsOf(report));
});
