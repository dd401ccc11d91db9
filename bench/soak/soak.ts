import { get, type IncomingMessage } from "node:http";
import { pause } from "../../shared/abortable.ts";
import type { Scan } from "../../shared/schemas/scan.ts";
import { createRedisBroker } from "../../shared/brokers/redis.ts";
import { call, createScan, keyOf } from "../../test/contract/harness.ts";
import { openReader } from "../../test/faults/stream_reader.ts";
import { startTraffic, type Traffic } from "../../test/faults/traffic.ts";
import { startEdgeBackends, type EdgeBackends } from "../../test/support/edge_backends.ts";
import type { TestTenant } from "../../test/support/operator.ts";
import { temporaryFolder } from "../../test/support/temporary_folder.ts";
import { startGatewayProcess, type GatewayProcess } from "./gateway_process.ts";

export interface SoakOptions {
  readonly durationMs: number;
  /** Clients of the ordinary kind that are there at one time. */
  readonly clients: number;
  readonly log: (line: string) => void;
}

const tenantNames = ["Acme", "Globex", "Hooli", "Initech"] as const;
const everyMs = 40;
/** More than the system's buffers hold for long, twenty-five times a second. */
const torrentBytes = 60_000;

/** With the credential of its tenant. */
type OwnScan = Scan & { readonly as: string };

interface Run extends SoakOptions {
  readonly gateway: GatewayProcess;
  /** How often each thing happened. */
  readonly counts: Record<string, number>;
  readonly problems: Set<string>;
  /** Aborts when clients are to leave. */
  readonly over: AbortSignal;
}

/**
 * Runs a gateway in its own process, and clients and producers in this one: streams come and go, and networks break. Resolves with
 * what was not held.
 */
export async function runSoak(options: SoakOptions): Promise<readonly string[]> {
  const { durationMs, clients, log } = options;
  await using opened = new AsyncDisposableStack();
  const backends = await startEdgeBackends();
  opened.defer(() => backends.close());
  const broker = createRedisBroker({ url: backends.redis.url, database: 2 });
  opened.defer(() => broker.close());
  const perTenant = Math.ceil(clients / tenantNames.length);
  const bounds = {
    EVENTSTREAM_HEARTBEAT_SECONDS: "1",
    EVENTSTREAM_RECHECK_SECONDS: "3",
    EVENTSTREAM_MAX_BUFFER_BYTES: "131072",
    // The last tenant has more clients than it may have streams.
    EVENTSTREAM_MAX_STREAMS_PER_TENANT: String(perTenant + 8),
  };
  const folder = opened.use(await temporaryFolder()).path;
  const gateway = await startGatewayProcess({ ...backends.processEnvironment, ...bounds }, folder);
  opened.defer(async () => void (await gateway.stop()));
  const leaving = new AbortController();
  opened.defer(() => leaving.abort());
  const run: Run = { ...options, gateway, counts: {}, problems: new Set(), over: leaving.signal };
  const before = await measure(gateway, backends);

  const tenants = await Promise.all(tenantNames.map((name) => backends.createTenant(name)));
  const register = async (tenant: TestTenant) => ({ ...(await createScan(gateway, tenant)), as: keyOf(tenant) });
  const scans = await Promise.all(tenants.map(register));
  const [torrent] = await Promise.all(tenants.slice(0, 1).map(register));
  if (torrent === undefined) throw new Error("There is no tenant");
  const traffic = startTraffic(broker, { channels: scans.map(({ channel }) => channel), everyMs });
  const pouring = startTraffic(broker, { channels: [torrent.channel], everyMs, paddingBytes: torrentBytes });
  const running = scans.flatMap((scan) =>
    Array.from({ length: scan === scans.at(-1) ? perTenant + 12 : perTenant }, () => followAgain(run, scan, traffic)),
  );
  running.push(readNothing(run, torrent));
  const calm = new AbortController();
  const breaking = breakNetworks(backends, run, calm.signal);
  const heaps: number[] = [];
  for (const untilMs = performance.now() + durationMs; performance.now() < untilMs;) {
    await pause(Math.min(5000, untilMs - performance.now()), []);
    // The gateway ends a scan whose producer shows no sign of life.
    await Promise.all([...scans, torrent].map((scan) => beat(gateway, scan)));
    const held = await measure(gateway, backends);
    heaps.push(held.heapMiB);
    log(JSON.stringify({ ...held, ...run.counts }));
  }
  calm.abort();
  await breaking;
  leaving.abort();
  await Promise.all(running);
  await Promise.all([traffic.stop(), pouring.stop()]);
  for (const name of ["opened", "closed as lost", "closed as slow", "refused with 429"])
    if (run.counts[name] === undefined) run.problems.add(`no stream was ${name}`);
  for (const problem of await leaks(before, () => measure(gateway, backends))) run.problems.add(problem);
  if (isGrowing(heaps)) run.problems.add(`the heap grows: ${heaps.join(", ")} MiB`);
  const code = await gateway.stop();
  if (code !== 0) run.problems.add(`the gateway exited with ${code} after SIGTERM, expected 0`);
  return [...run.problems, ...gateway.complaints().map((line) => `the log says: ${line}`)];
}

function count({ counts }: Run, what: string): void {
  counts[what] = (counts[what] ?? 0) + 1;
}

/** Opens a stream, reads for up to three seconds and leaves, again and again. No event may be missing in between. */
async function followAgain(run: Run, scan: OwnScan, traffic: Traffic): Promise<void> {
  const { gateway, over, problems } = run;
  while (!over.aborted) {
    const reader = await openReader(gateway.url + scan.event_stream, scan.as);
    if (reader.status === 200) count(run, "opened");
    else if ([429, 503].includes(reader.status) && Number(reader.retryAfter) > 0) {
      count(run, `refused with ${reader.status}`);
    } else problems.add(`a stream was refused with ${reader.status}, Retry-After ${reader.retryAfter}`);
    const left = new AbortController();
    void reader.closed.then(() => left.abort());
    await pause(50 + Math.random() * 3000, [over, left.signal]);
    if (reader.isClosed && reader.status === 200) {
      count(run, `closed as ${reader.closeReason}`);
      if (reader.closeReason !== "lost") problems.add(`a stream was closed as ${reader.closeReason}`);
    }
    const gap = traffic.gapIn(scan.channel, reader);
    if (gap !== null) problems.add(gap);
    reader.leave();
    await reader.closed;
    await pause(50 + Math.random() * 500, [over]);
  }
}

/** Reads nothing of much traffic for some seconds: the gateway closes the stream as slow, and its memory stays bounded. */
async function readNothing(run: Run, { event_stream: path, as }: OwnScan): Promise<void> {
  while (!run.over.aborted) {
    const request = get(run.gateway.url + path, { agent: false, headers: { authorization: as } });
    const closed = new Promise<void>((done) => void request.once("close", done).on("error", () => done()));
    const response = await Promise.race([
      new Promise<IncomingMessage>((resolve) => void request.once("response", resolve)),
      closed.then(() => null),
    ]);
    let tail = "";
    await pause(5000, [run.over]);
    response
      ?.on("error", () => undefined)
      .on("data", (bytes: Buffer) => (tail = (tail + bytes.toString()).slice(-100)));
    const isEnded = await Promise.race([closed.then(() => true), pause(2000, []).then(() => false)]);
    // A stream that is closed as slow has its last bytes, or a reset in their place.
    if (response?.statusCode === 200 && isEnded && !/: close lost/.test(tail)) count(run, "closed as slow");
    request.destroy();
    await closed;
  }
}

async function beat(gateway: GatewayProcess, { id, as }: OwnScan): Promise<void> {
  const answer = await call(gateway, `/api/v1/scans/${id}`, { method: "PATCH", as, json: { status: "running" } });
  await answer.body?.cancel();
}

const calmMs = 3000;
const silenceMs = 1500;

/** Cuts and silences one network after the other, with a pause between them, until stopped. */
async function breakNetworks(backends: EdgeBackends, run: Run, stopped: AbortSignal): Promise<void> {
  const { databaseNetwork: database, redisNetwork: redis } = backends;
  const faults = [() => database.cut(), () => redis.cut(), () => database.stall(), () => redis.stall()];
  for (let n = 0; !stopped.aborted; n += 1) {
    faults[n % faults.length]?.();
    count(run, "faults");
    await pause(silenceMs, []);
    database.restore();
    redis.restore();
    await pause(calmMs, [stopped]);
  }
}

/** Resources that the gateway holds. */
async function measure(gateway: GatewayProcess, { redis }: EdgeBackends) {
  const metrics = await gateway.metrics();
  const of = (name: string) => metrics.get(name) ?? 0;
  const channels = (await redis.command("PUBSUB", "CHANNELS", "scanstream:2:scan:*")) as readonly string[];
  return {
    streams: of("scanstream_streams_open"),
    unended: of("scanstream_streams_opened_total") - of("scanstream_streams_closed_total"),
    subscriptions: channels.length,
    descriptors: of("process_open_fds"),
    timers: of('nodejs_active_resources{type="Timeout"}'),
    heapMiB: Math.round(of("nodejs_heap_size_used_bytes") / 1_048_576),
  };
}

/** How much more than before is no leak: kept-alive connections of the pool and of clients, each with its timer. */
const slack = { streams: 0, unended: 0, subscriptions: 0, descriptors: 16, timers: 16 } as const;
/** The gateway keeps an idle connection of a client for 75 s, one to the database for 30 s, the last subscriptions for 5 s. */
const releaseMs = 90_000;

type Held = Awaited<ReturnType<typeof measure>>;

/** Measures until as little is held as before, or for as long as a release may take. */
async function leaks(before: Held, measureNow: () => Promise<Held>): Promise<readonly string[]> {
  for (const untilMs = performance.now() + releaseMs; ; await pause(500, [])) {
    const after = await measureNow();
    const more = (Object.keys(slack) as (keyof typeof slack)[])
      .filter((name) => after[name] > before[name] + slack[name])
      .map((name) => `${name}: ${after[name]} after every client had left, ${before[name]} before`);
    if (more.length === 0 || performance.now() > untilMs) return more;
  }
}

/** In the first third code is compiled, and the heap finds its size. With fewer samples that is not over. */
const minSamples = 30;
const maxRiseMiB = 8;

/** Compares the least of the middle and of the last third: what a collection leaves. */
function isGrowing(heaps: readonly number[]): boolean {
  const third = Math.floor(heaps.length / 3);
  return (
    heaps.length >= minSamples &&
    Math.min(...heaps.slice(-third)) > Math.min(...heaps.slice(third, -third)) + maxRiseMiB
  );
}
