import { pause } from "../../shared/abortable.ts";
import { temporaryFolder } from "../../test/support/temporary_folder.ts";
import { ordinaryClient, slowReader } from "./clients.ts";
import { startEnvironment, type SoakEnvironment, type SoakTenant } from "./environment.ts";
import { startGatewayProcess, type GatewayProcess } from "./gateway_process.ts";
import { createTally, openLoadStream, type Tally } from "./load_stream.ts";
import { growingHeap, leakedResources, measureResources, type Resources } from "./measurements.ts";
import { createProducedScan } from "./producer.ts";

export interface SoakOptions {
  readonly durationMs: number;
  /** Clients of the ordinary kind that are there at one time. */
  readonly clients: number;
  readonly log: (line: string) => void;
}

export interface SoakFigures {
  readonly streams: Tally;
  readonly slowReaders: number;
  readonly faults: number;
  /** The gateway before the first client, and after the last. */
  readonly before: Resources;
  readonly after: Resources;
  /** Empty when every promise was kept. */
  readonly problems: readonly string[];
}

const tenantNames = ["Acme", "Globex", "Hooli", "Initech"] as const;
const scansPerTenant = 2;
const eventsPerSecond = 25;
/** More than the system's buffers hold for long, fifty times a second. */
const torrentBytes = 60_000;

/** Runs a gateway in its own process, and clients and producers in this one: streams come and go, and networks break. */
export async function runSoak({ durationMs, clients, log }: SoakOptions): Promise<SoakFigures> {
  await using opened = new AsyncDisposableStack();
  const environment = await startEnvironment();
  opened.defer(() => environment.close());
  const folder = opened.use(await temporaryFolder()).path;
  const perTenant = Math.ceil(clients / tenantNames.length);
  // The last tenant has more clients than it may have streams.
  const maxStreamsPerTenant = perTenant + 8;
  const gateway = await startGatewayProcess({
    cwd: folder,
    environment: {
      ...environment.environment,
      PORT: "0",
      EVENTSTREAM_HEARTBEAT_SECONDS: "1",
      EVENTSTREAM_RECHECK_SECONDS: "3",
      EVENTSTREAM_MAX_BUFFER_BYTES: "131072",
      EVENTSTREAM_MAX_STREAMS_PER_TENANT: String(maxStreamsPerTenant),
    },
  });
  opened.defer(async () => void (await gateway.stop()));
  const { url } = gateway;
  const over = new AbortController();
  opened.defer(() => over.abort());
  const run = { url, tally: createTally(), over: over.signal };
  const before = await measureResources(gateway, environment);
  log(`before: ${JSON.stringify(before)}`);

  const producer = { broker: environment.producer, gatewayUrl: url };
  const tenants = await Promise.all(tenantNames.map((name) => environment.createTenant(name)));
  const scans = await Promise.all(
    tenants.map((tenant) =>
      Promise.all(Array.from({ length: scansPerTenant }, () => createProducedScan(producer, tenant))),
    ),
  );
  const torrent = await createProducedScan(producer, tenants[0] as SoakTenant, torrentBytes);
  const published = new AbortController();
  const publishing = [
    ...scans.flat().map((scan) => scan.publish(eventsPerSecond, published.signal)),
    torrent.publish(2 * eventsPerSecond, published.signal),
  ];
  let slowReaders = 0;
  const crowd = maxStreamsPerTenant + 4;
  const running = [
    ...scans.flatMap((own, tenant) =>
      Array.from({ length: tenant === scans.length - 1 ? crowd : perTenant }, () => ordinaryClient(run, own)),
    ),
    slowReader(run, torrent, () => (slowReaders += 1)),
    slowReader(run, torrent, () => (slowReaders += 1)),
  ];
  const calm = new AbortController();
  const breaking = breakNetworks(environment, calm.signal);
  const samples = await sampleFor(durationMs, () => measureResources(gateway, environment), log);
  calm.abort();
  const faults = await breaking;
  over.abort();
  await Promise.all(running);
  published.abort();
  await Promise.all(publishing);
  const problems: string[] = [];
  for (const tenant of tenants) problems.push(...(await missingPlaces(url, tenant, maxStreamsPerTenant)));
  const after = await untilReleased(() => measureResources(gateway, environment), before);
  log(`after: ${JSON.stringify(after)}`);
  if (slowReaders === 0) problems.push("no slow reader was closed");
  problems.push(...streamProblems(run.tally), ...leakedResources(before, after), ...growingHeap(samples));
  problems.push(...(await stopProblems(gateway)));
  return { streams: run.tally, slowReaders, faults, before, after, problems };
}

const calmMs = 3000;
const silenceMs = 1500;

/** Cuts and silences one network after the other, with a pause between them, until stopped. Resolves with the number of faults. */
async function breakNetworks(environment: SoakEnvironment, stopped: AbortSignal): Promise<number> {
  const networks = [environment.databaseNetwork, environment.brokerNetwork];
  let faults = 0;
  while (!stopped.aborted) {
    const network = networks[faults % 2];
    if (faults % 4 < 2) network?.cut();
    else network?.stall();
    faults += 1;
    await pause(silenceMs, []);
    network?.restore();
    await pause(calmMs, [stopped]);
  }
  return faults;
}

async function sampleFor(
  ms: number,
  measure: () => Promise<Resources>,
  log: (line: string) => void,
): Promise<readonly Resources[]> {
  const untilMs = performance.now() + ms;
  const everyMs = Math.max(5000, ms / 60);
  const samples: Resources[] = [];
  while (performance.now() < untilMs) {
    await pause(Math.min(everyMs, untilMs - performance.now()), []);
    const sample = await measure();
    samples.push(sample);
    log(JSON.stringify(sample));
  }
  return samples;
}

/** SIGTERM: the gateway drains and exits with 0, and its log holds no error and no secret. */
async function stopProblems(gateway: GatewayProcess): Promise<readonly string[]> {
  const code = await gateway.stop();
  return [
    ...(code === 0 ? [] : [`the gateway exited with ${code} after SIGTERM, expected 0`]),
    ...gateway.log.secrets.map((line) => `the log holds a secret: ${line}`),
    ...gateway.log.errors.map((line) => `the log holds an error: ${line}`),
  ];
}

/** Every place for a stream that was ever taken is free again. */
async function missingPlaces(url: string, { apiKey }: SoakTenant, places: number): Promise<readonly string[]> {
  const tally = createTally();
  const streams = Array.from({ length: places }, () =>
    openLoadStream({ url: new URL("/api/v1/event-stream", url), apiKey, tally, published: null }),
  );
  await Promise.all(streams.map(({ answered }) => answered));
  const open = streams.filter(({ isOpen }) => isOpen).length;
  await Promise.all(streams.map((stream) => stream.close()));
  if (open === places) return [];
  return [`a tenant that may have ${places} streams got ${open} after every client had left`];
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

/** Clients may see a place that is taken, a gateway without its database, and a broker that was lost. */
function streamProblems({ opened, events, lost, repeated, refused, failed, closed }: Tally): readonly string[] {
  const refusals = Object.keys(refused);
  return [
    ...(opened === 0 || events === 0 ? ["no stream was opened, or no event came"] : []),
    ...(lost > 0 ? [`${lost} events were lost while a stream was open`] : []),
    ...(repeated > 0 ? [`${repeated} events came twice or out of order`] : []),
    ...(refusals.some((refusal) => refusal.startsWith("429 ")) ? [] : ["no stream was refused at the tenant's limit"]),
    ...refusals
      .filter((refusal) => !/^(429|503) /.test(refusal) || refusal.endsWith(", without Retry-After"))
      .map((refusal) => `${refused[refusal]} streams were refused with ${refusal}`),
    ...Object.entries(failed).map(([code, count]) => `${count} streams failed: ${code}`),
    ...Object.entries(closed)
      .filter(([reason]) => reason !== "lost")
      .map(([reason, count]) => `${count} streams were closed as ${reason}`),
    ...("lost" in closed ? [] : ["no stream was closed as lost"]),
  ];
}
