import { createTally, type TallyFigures } from "./tally.ts";
import { openLoadStream } from "./load_stream.ts";
import { pause } from "../../shared/abortable.ts";
import { temporaryFolder } from "../../test/support/temporary_folder.ts";
import {
  crossTenantClient,
  endedAuthorities,
  ordinaryClient,
  scanRepeatedly,
  slowReader,
  type SoakCounts,
  type SoakRun,
} from "./clients.ts";
import { startEnvironment, type SoakEnvironment } from "./environment.ts";
import { injectFaults } from "./faults.ts";
import { startGatewayProcess, type GatewayProcess } from "./gateway_process.ts";
import {
  growingMetrics,
  leakedResources,
  measureResources,
  takeSample,
  type Resources,
  type Sample,
} from "./measurements.ts";
import { createProducedScan, type SoakTenant } from "./producer.ts";

export interface SoakOptions {
  readonly durationMs: number;
  /** Clients of the ordinary kind that are there at one time. */
  readonly clients: number;
  readonly hasFaults: boolean;
  readonly log: (line: string) => void;
}

export interface SoakFigures {
  readonly streams: TallyFigures;
  readonly counts: SoakCounts;
  readonly faults: Readonly<Record<string, number>>;
  /** The gateway before the first client, and after the last. */
  readonly before: Resources;
  readonly after: Resources;
  /** The samples of each process of the gateway. */
  readonly lives: readonly (readonly Sample[])[];
  /** Empty when every promise was kept. */
  readonly problems: readonly string[];
}

const tenantNames = ["Acme", "Globex", "Hooli", "Initech"] as const;
const scansPerTenant = 2;
const eventsPerSecond = 25;
/** More than the system's buffers hold for long, fifty times a second. */
const torrentBytes = 60_000;
const maxProblems = 50;

/**
 * Runs a gateway in its own process, and clients and producers in this one: streams come and go, scans run, authority ends, faults
 * are injected, and halfway the gateway is restarted.
 */
export async function runSoak({ durationMs, clients, hasFaults, log }: SoakOptions): Promise<SoakFigures> {
  await using opened = new AsyncDisposableStack();
  const environment = await startEnvironment();
  opened.defer(() => environment.close());
  const folder = opened.use(await temporaryFolder()).path;
  const perTenant = Math.ceil(clients / tenantNames.length);
  // The last tenant has more clients than it may have streams.
  const maxStreamsPerTenant = perTenant + 8;
  const startGateway = (port: number) =>
    startGatewayProcess({
      cwd: folder,
      environment: {
        ...environment.environment,
        PORT: String(port),
        EVENTSTREAM_HEARTBEAT_SECONDS: "1",
        EVENTSTREAM_RECHECK_SECONDS: "3",
        EVENTSTREAM_MAX_BUFFER_BYTES: "131072",
        EVENTSTREAM_MAX_STREAMS_PER_TENANT: String(maxStreamsPerTenant),
      },
    });
  let gateway = await startGateway(0);
  opened.defer(async () => void (await gateway.stop()));
  const { url } = gateway;

  const problems: string[] = [];
  const over = new AbortController();
  opened.defer(() => over.abort());
  const run: SoakRun = {
    environment,
    url,
    tally: createTally(),
    over: over.signal,
    counts: { scans: 0, slowReaders: 0, revoked: 0, expired: 0, crossTenantRequests: 0 },
    report: (problem) => void (problems.length < maxProblems && problems.push(problem)),
  };
  const before = await measureResources(gateway, environment);
  log(`before: ${JSON.stringify(before)}`);

  const producer = { broker: environment.producer, gatewayUrl: url };
  const tenants = await Promise.all(tenantNames.map((name) => createTenant(environment, name)));
  const scans = await Promise.all(
    tenants.map((tenant) =>
      Promise.all(Array.from({ length: scansPerTenant }, () => createProducedScan(producer, tenant))),
    ),
  );
  const [acme, globex] = tenants as [SoakTenant, SoakTenant];
  const ownScan = await createProducedScan(producer, acme);
  const torrent = await createProducedScan(producer, globex, torrentBytes);
  const published = new AbortController();
  const publishing = [
    ...[...scans.flat(), ownScan].map((scan) => scan.publish(eventsPerSecond, published.signal)),
    torrent.publish(2 * eventsPerSecond, published.signal),
  ];
  const crowd = maxStreamsPerTenant + 4;
  const running = [
    ...scans.flatMap((own, tenant) =>
      Array.from({ length: tenant === scans.length - 1 ? crowd : perTenant }, (_, index) =>
        ordinaryClient(run, own, index),
      ),
    ),
    slowReader(run, torrent),
    slowReader(run, torrent),
    endedAuthorities(run, ownScan),
    crossTenantClient(run, acme, torrent),
    scanRepeatedly(run, acme),
  ];

  const faults: Record<string, number> = {};
  const lives: (readonly Sample[])[] = [];
  for (const life of [1, 2]) {
    const calm = new AbortController();
    const injecting = hasFaults ? injectFaults(environment, faults, calm.signal) : null;
    lives.push(await sampleFor(durationMs / 2, gateway, log));
    calm.abort();
    await injecting;
    if (life === 2) break;
    log("Restarting the gateway");
    await untilManyAreOpen(gateway, clients / 2);
    await stopGateway(gateway, run);
    gateway = await startGateway(Number(new URL(url).port));
  }
  over.abort();
  await Promise.all(running);
  published.abort();
  await Promise.all(publishing);
  for (const tenant of tenants) await requireAllPlaces(run, tenant, maxStreamsPerTenant);
  const after = await untilReleased(() => measureResources(gateway, environment), before);
  log(`after: ${JSON.stringify(after)}`);
  await stopGateway(gateway, run);
  const streams = run.tally.figures();
  problems.push(...streamProblems(streams, hasFaults), ...missingKinds(run.counts), ...leakedResources(before, after));
  problems.push(...lives.flatMap(growingMetrics));
  return { streams, counts: run.counts, faults, before, after, lives, problems };
}

async function createTenant({ admin }: SoakEnvironment, name: string): Promise<SoakTenant> {
  const { id } = (await admin("tenant.create", { name })) as { readonly id: string };
  await admin("user.create", { tenant: id, sub: "ann" });
  const key = (await admin("api-key.create", { tenant: id, name: "soak" })) as { readonly api_key: string };
  return { id, apiKey: key.api_key };
}

/** Few enough collections that V8 decides what is resident, and enough to see where the heap goes. */
const collections = 15;

async function sampleFor(ms: number, gateway: GatewayProcess, log: (line: string) => void): Promise<readonly Sample[]> {
  const startedMs = performance.now();
  const everyMs = Math.min(5000, Math.max(500, ms / 60));
  const perCollection = Math.max(2, Math.round(ms / everyMs / collections));
  const samples: Sample[] = [];
  while (performance.now() - startedMs < ms) {
    await pause(everyMs, []);
    const collect = (samples.length + 1) % perCollection === 0;
    const sample = await takeSample(gateway, (performance.now() - startedMs) / 1000, collect);
    samples.push(sample);
    if (collect) log(JSON.stringify(sample));
  }
  return samples;
}

/** SIGTERM: the gateway drains and exits with 0, and its log holds no error and no secret. */
async function stopGateway(gateway: GatewayProcess, { report }: SoakRun): Promise<void> {
  const code = await gateway.stop();
  if (code !== 0) report(`the gateway exited with ${code} after SIGTERM, expected 0`);
  for (const line of gateway.log.secrets) report(`the log holds a secret: ${line}`);
  for (const line of gateway.log.errors) report(`the log holds an error: ${line}`);
}

/** After the last fault clients need some seconds to come back. Without streams there would be nothing to drain. */
async function untilManyAreOpen(gateway: GatewayProcess, count: number): Promise<void> {
  const untilMs = performance.now() + 30_000;
  while ((await gateway.metric("scanstream_streams_open")) < count && performance.now() < untilMs) await pause(100, []);
}

/** Every place for a stream that was ever taken is free again. */
async function requireAllPlaces({ url, report }: SoakRun, { apiKey }: SoakTenant, places: number): Promise<void> {
  const tally = createTally();
  const streams = Array.from({ length: places }, () =>
    openLoadStream({ url: new URL("/api/v1/event-stream", url), credentials: { apiKey }, tally, published: null }),
  );
  await Promise.all(streams.map(({ answered }) => answered));
  const open = streams.filter(({ isOpen }) => isOpen).length;
  await Promise.all(streams.map((stream) => stream.close()));
  if (open !== places) report(`a tenant that may have ${places} streams got ${open} after every client had left`);
}

/** The gateway keeps an idle connection of a client for 75 s, one to the database for 30 s, the last subscriptions for 5 s. */
const releaseMs = 90_000;

/** Measures until as little is held as before, or for as long as a release may take. */
async function untilReleased(measure: () => Promise<Resources>, before: Resources): Promise<Resources> {
  const untilMs = performance.now() + releaseMs;
  for (;;) {
    const after = await measure();
    if (leakedResources(before, after).length === 0 || performance.now() > untilMs) return after;
    await pause(500, []);
  }
}

/** What clients may see is a place that is taken, a gateway that is away, and the reasons for closing that were caused. */
function streamProblems(figures: TallyFigures, hasFaults: boolean): readonly string[] {
  const { opened, events, lost, repeated, refused, failed, closed } = figures;
  const allowed = hasFaults ? ["drain", "lost"] : ["drain"];
  return [
    ...(opened === 0 || events === 0 ? ["no stream was opened, or no event came"] : []),
    ...(lost > 0 ? [`${lost} events were lost while a stream was open`] : []),
    ...(repeated > 0 ? [`${repeated} events came twice or out of order`] : []),
    ...refused
      .filter(({ status }) => status !== 429 && status !== 503)
      .map(({ status, detail, count }) => `${count} streams were refused with ${status}: ${detail}`),
    ...(refused.some(({ status }) => status === 429) ? [] : ["no stream was refused at the tenant's limit"]),
    ...refused
      .filter(({ retryAfterMs }) => retryAfterMs === null)
      .map(({ status, count }) => `${count} refusals with ${status} had no Retry-After`),
    ...Object.entries(failed)
      .filter(([code]) => code !== "unreachable")
      .map(([code, count]) => `${count} streams failed: ${code}`),
    ...Object.entries(closed)
      .filter(([reason]) => !allowed.includes(reason))
      .map(([reason, count]) => `${count} streams were closed as ${reason}`),
    ...allowed.filter((reason) => !(reason in closed)).map((reason) => `no stream was closed as ${reason}`),
  ];
}

/** A kind of event that never happened was not tested. */
function missingKinds(counts: SoakCounts): readonly string[] {
  return Object.entries(counts).flatMap(([kind, count]) => (count === 0 ? [`${kind}: never happened`] : []));
}
