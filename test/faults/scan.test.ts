import { afterAll, beforeAll, expect, test } from "vitest";
import { catalog } from "../../scanner/catalog/catalog.ts";
import { createPracticeOrg, type PracticeOrg } from "../../practice_org/create_practice_org.ts";
import type { Report } from "../../shared/report.ts";
import { countStates } from "../../shared/rule_result.ts";
import { ownFolder } from "../support/clean_up.ts";
import { startCommand, type Outcome, type Running } from "../support/command_line.ts";
import { freePort } from "../support/free_port.ts";
import { placeEmbeddedDatabase } from "../support/pglite.ts";
import { eventsIn } from "../support/published.ts";
import { startRedis, type RedisServer } from "../support/redis.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp_proxy.ts";
import { readStream } from "../support/test_gateway.ts";

/**
 * V5 with three processes (`scan`, `serve` with its embedded database, Redis) and breakable networks between them: the report and the
 * exit code of a scan are those of one without followers.
 */

const folder = await ownFolder();
let org: PracticeOrg;
let redis: RedisServer;
/** Between the scanner and the gateway, between the scanner and Redis, and between the gateway and Redis. */
let [gatewayNetwork, brokerNetwork, gatewayBrokerNetwork]: TcpProxy[] = [];
let port: number;
let serve: Running;
let apiKey: string;
let calm: { readonly outcome: Outcome; readonly report: Report };

beforeAll(async () => {
  await placeEmbeddedDatabase(folder);
  [redis, org, port] = await Promise.all([
    startRedis(),
    createPracticeOrg({ profile: { name: "typical" }, role: "super", latencyMs: 40 }),
    freePort(),
  ]);
  [gatewayNetwork, brokerNetwork, gatewayBrokerNetwork] = await Promise.all(
    [{ host: "127.0.0.1", port }, redis, redis].map(startTcpProxy),
  );
  await startServe();
  [, apiKey = ""] = await serve.until("stdout", /shown this once: (\S+)/);
  const outcome = await startCommand([...scanArguments, "--no-stream"], { cwd: folder, env: envOf(org) }).finished;
  calm = { outcome, report: JSON.parse(outcome.stdout) as Report };
  expect(outcome.code).toBe(1);
});
afterAll(async () => {
  await serve.stop();
  await org.stop();
  for (const network of [gatewayNetwork, brokerNetwork, gatewayBrokerNetwork]) await network?.close();
  await redis.stop();
});

const scanArguments = ["scan", "--format", "json", "--concurrency", "1"];

function envOf({ url, clientId, privateKeyPem }: PracticeOrg): Readonly<Record<string, string>> {
  return { IDP_ORG_URL: url, IDP_CLIENT_ID: clientId, IDP_PRIVATE_KEY: privateKeyPem };
}

async function startServe(): Promise<void> {
  const env = { PORT: String(port), REDIS_URL: `redis://127.0.0.1:${gatewayBrokerNetwork?.port}` };
  serve = startCommand(["serve"], { cwd: folder, env });
  await serve.until("stdout", /http:\/\/127\.0\.0\.1:\d+/);
}

interface RunningScan {
  readonly running: Running;
  readonly id: string;
}

/** A scan that is registered and has judged its first checks. */
async function startScan(environment: Readonly<Record<string, string>> = {}): Promise<RunningScan> {
  const gateway = { SCANSTREAM_URL: `http://127.0.0.1:${gatewayNetwork?.port}`, SCANSTREAM_API_KEY: apiKey };
  const running = startCommand(scanArguments, {
    cwd: folder,
    env: { ...envOf(org), ...gateway, ...environment },
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
  const page = (await (await get(`/api/v1/scans/${id}/findings?limit=200`)).json()) as {
    readonly items: readonly { readonly fingerprint: string }[];
    readonly next_cursor: string | null;
  };
  expect(page.next_cursor).toBeNull();
  return page.items.map(({ fingerprint }) => fingerprint).toSorted();
}

/** Everything that a client of the gateway sees of the scan, from now to the stream's end. */
async function follow(id: string) {
  const response = await get(`/api/v1/scans/${id}/event-stream`);
  expect(response.status).toBe(200);
  return { events: readStream(response, /^\u0000/).then(eventsIn) };
}

function fingerprintsOf({ checks }: Report): readonly string[] {
  return checks.flatMap(({ findings }) => findings.map(({ fingerprint }) => fingerprint)).toSorted();
}

const usual =
  /^(\[ ?\d+\/\d+\] .*|Streaming as scan \S+ at \S+|Scanning: \d+ checks|\d+ of \d+ rules failed .*|Exit \d+: .*|)$/;

/** The report is all of stdout, and of the trouble there is one line on stderr, or none. */
function reportOf({ stdout, stderr }: Outcome, maxWarnings: number): Report {
  const report = JSON.parse(stdout) as Report & { readonly schema: string };
  expect(report.schema).toBe("scanstream.report/1");
  const others = stderr.split("\n").filter((line) => !usual.test(line));
  const warnings = others.filter((line) => /stores no findings|continues without its live view/.test(line));
  expect(warnings.length).toBeLessThanOrEqual(maxWarnings);
  expect(others.filter((line) => !warnings.includes(line) && !/Stopped trying|was not stored/.test(line))).toEqual([]);
  expect(stderr).not.toContain(apiKey);
  return report;
}

/** Everything but when it was read. */
function verdictsOf({ summary, checks }: Report): unknown {
  return JSON.parse(JSON.stringify([summary, checks]).replaceAll(/ at \d{4}-[\d:.T-]+Z/g, ""));
}

function expectCalmVerdicts(outcome: Outcome, maxWarnings: number): Report {
  const report = reportOf(outcome, maxWarnings);
  expect(outcome.code).toBe(calm.outcome.code);
  expect(verdictsOf(report)).toEqual(verdictsOf(calm.report));
  return report;
}

async function expectStoredWhole(id: string, report: Report): Promise<void> {
  expect(await stored(id)).toMatchObject({
    status: "completed",
    checks_done: catalog.length,
    ...countStates(report.checks),
  });
  expect(await storedFingerprints(id)).toEqual(fingerprintsOf(report));
}

test("a gateway that is killed and started again: the scan is stored whole, with one warning", async () => {
  const { running, id } = await startScan();
  await serve.stop("SIGKILL");
  await running.until("stderr", /continues without its live view/);
  const tried = gatewayNetwork?.acceptedCount() ?? 0;
  await expect.poll(() => gatewayNetwork?.acceptedCount()).toBeGreaterThan(tried);
  // Else it depends on the machine which of the two is sooner: the gateway's return or the scan's end.
  running.process.kill("SIGSTOP");
  await startServe();
  running.process.kill("SIGCONT");
  await expectStoredWhole(id, expectCalmVerdicts(await running.finished, 1));
});

test.each<[fault: string, breakIt: () => () => void, isStored: boolean]>([
  ["gateway silent in the middle of a scan", () => (gatewayNetwork?.stall(), () => {}), false],
  [
    "connections to the gateway cut eight times during a scan",
    () => {
      // On a busy machine no request is answered in this time.
      let left = 8;
      const cuts = setInterval(() => left-- > 0 && gatewayNetwork?.cut(), 300);
      return () => clearInterval(cuts);
    },
    true,
  ],
  ["broker unavailable during a scan", () => (gatewayBrokerNetwork?.refuse(), () => {}), true],
])("%s: no verdict, report or exit code changes, and the scan ends", async (_, breakIt, isStored) => {
  const { running, id } = await startScan();
  const repair = breakIt();
  const outcome = await running.finished;
  repair();
  gatewayNetwork?.restore();
  gatewayBrokerNetwork?.restore();
  const report = expectCalmVerdicts(outcome, 1);
  if (isStored) await expectStoredWhole(id, report);
});

test("an interrupted scan: exit 130, the report of what was evaluated, and its followers receive that it was cancelled", async () => {
  const { running, id } = await startScan();
  const { events } = await follow(id);
  const outcome = await running.stop("SIGINT");
  expect(outcome.code).toBe(130);
  const report = reportOf(outcome, 0);
  expect(report.scan).toMatchObject({ id, status: "cancelled" });
  expect(report.checks).toHaveLength(catalog.length);
  const evaluated = report.checks.filter(({ reason }) => reason !== "interrupted");
  expect(report.checks.filter(({ reason }) => reason === "provider_error")).toEqual([]);
  // The findings of those that were evaluated would exit with 1.
  expect(outcome.stderr).toContain(`Exit 130: the scan was interrupted after ${evaluated.length} of ${catalog.length}`);
  expect(outcome.stderr).not.toContain("scanstream doctor");
  expect(evaluated.length).toBeGreaterThanOrEqual(3);
  expect(evaluated.length).toBeLessThan(catalog.length);
  expect((await events).at(-1)).toMatchObject({ type: "scan.end", data: { scan_id: id, status: "cancelled" } });
  expect(await stored(id)).toMatchObject({ status: "cancelled", checks_done: evaluated.length });
});

test("an interrupted scan whose gateway is gone: exit 130 and the report all the same", async () => {
  const { running } = await startScan();
  gatewayNetwork?.refuse();
  const outcome = await running.stop("SIGINT");
  gatewayNetwork?.restore();
  expect(outcome.code).toBe(130);
  expect(reportOf(outcome, 1).scan.status).toBe("cancelled");
});

test("a broker that breaks while a scan publishes straight to it, and comes back: the end arrives, and nothing is stored", async () => {
  const { running, id } = await startScan({ REDIS_URL: `redis://127.0.0.1:${brokerNetwork?.port}` });
  await running.until("stderr", /stores no findings of this scan/);
  expect(brokerNetwork?.openCount()).toBeGreaterThan(0);
  const { events } = await follow(id);
  brokerNetwork?.refuse();
  await running.until("stderr", /continues without its live view/);
  brokerNetwork?.restore();
  const report = expectCalmVerdicts(await running.finished, 2);
  const heard = await events;
  const counts = countStates(report.checks);
  expect(heard.at(-1)).toMatchObject({ type: "scan.end", data: { scan_id: id, status: "completed", ...counts } });
  const told = heard.filter(({ type }) => type === "finding.created").map(({ data }) => String(data["fingerprint"]));
  expect(told).toEqual(Array.from(new Set(told)));
  expect(await storedFingerprints(id)).toEqual([]);
});
