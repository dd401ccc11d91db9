import { temporaryFolder } from "../test/support/command_line.ts";
import { crowdedClient, deafClient, ordinaryClient } from "./clients.ts";
import { createTenants } from "./create_tenants.ts";
import { expiringToken, removedMember, revokedKey } from "./ended_authority.ts";
import { restore, sprinkleFaults } from "./faults.ts";
import { measureHeld, settle, whatStayed, whatStillRises, type Held, type LifeFigures } from "./held.ts";
import { startTraffic } from "./numbered_traffic.ts";
import { requireAllPlaces } from "./places.ts";
import { restart, stopGateway } from "./restart.ts";
import { rotatedKey } from "./rotated_key.ts";
import { takeSample } from "./samples.ts";
import { keepScansAlive, runScans } from "./scan_runs.ts";
import { startLife } from "./start_life.ts";
import { startSurroundings } from "./surroundings.ts";
import { trespasser } from "./trespasser.ts";
import { complain, noCounts, pause, type Counts, type SoakTenant, type Work } from "./work.ts";

export interface SoakOptions {
  readonly durationMs: number;
  /** Ordinary clients that are there concurrently; those of other kinds come on top. */
  readonly clients: number;
  /** Default true. */
  readonly hasFaults?: boolean;
  readonly say: (line: string) => void;
}

export interface SoakFigures {
  readonly counts: Counts;
  readonly faults: Readonly<Record<string, number>>;
  /** The gateway before the first client, and after the last. */
  readonly before: Held;
  readonly after: Held;
  readonly lives: readonly LifeFigures[];
  /** Empty when everything was as promised. */
  readonly problems: readonly string[];
}

/**
 * A gateway in a process of its own, clients and producers in this one: streams come and go, scans run, authority ends,
 * faults are sprinkled, and halfway the gateway is restarted. Nobody may miss an event, hear of another tenant's, or be
 * told anything but what was promised; and afterwards everything is as it was.
 */
export async function runSoak(options: SoakOptions): Promise<SoakFigures> {
  await using opened = new AsyncDisposableStack();
  const surroundings = await startSurroundings();
  opened.defer(() => surroundings.close());
  const folder = opened.use(await temporaryFolder()).path;
  const perTenant = Math.ceil(options.clients / ordinaryTenants.length);
  const maxStreamsPerTenant = perTenant * 2 + 8;
  const maxStreams = maxStreamsPerTenant * (ordinaryTenants.length + 1);
  const bounds = { surroundings, folder, maxStreams, maxStreamsPerTenant };
  const life = startLife(bounds, 0);
  const { url } = await life.gateway;
  opened.defer(async () => void (await (await work.life.gateway).stop()));
  const work: Work = {
    ...bounds,
    ...(await createTenants(surroundings, url, ordinaryTenants)),
    url,
    life,
    isOn: true,
    counts: noCounts(),
    faults: {},
    problems: [],
  };
  const traffic = startAllTraffic(work);
  opened.defer(async () => void (await Promise.all(traffic.map((one) => one.stop()))));
  const before = await measureHeld(work);
  options.say(`held before: ${JSON.stringify(before)}`);
  const course = runCourse(work, options).finally(() => {
    work.isOn = false;
  });
  const [lives] = await Promise.all([course, ...startClients(work, perTenant)]);
  const after = await settle(work, before);
  await requireAllPlaces(work);
  await stopGateway(work);
  options.say(`held after: ${JSON.stringify(after)}`);
  const problems = [...work.problems, ...whatStayed(before, after), ...lives.flatMap(whatStillRises)];
  return { counts: work.counts, faults: work.faults, before, after, lives, problems };
}

const ordinaryTenants = ["Acme", "Globex", "Hooli", "Initech"] as const;
const everyMs = 40;
/** 60 KB fifty times a second: more than the system's buffers hold for long. */
const torrent = { everyMs: 20, padding: 60_000 };

function startAllTraffic(work: Work) {
  const onFailure = (error: unknown) => complain(work, `an event could not be published: ${String(error)}`);
  const scans = [...work.tenants, work.crowded].flatMap((tenant) => tenant.scans);
  return [
    ...scans.map(({ channel }) =>
      startTraffic(work.surroundings.producer, channel, { everyMs, padding: 0, onFailure }),
    ),
    startTraffic(work.surroundings.producer, work.torrent.channel, { ...torrent, onFailure }),
  ];
}

function startClients(work: Work, perTenant: number): readonly Promise<void>[] {
  const [acme, globex, hooli, initech] = work.tenants as [SoakTenant, SoakTenant, SoakTenant, SoakTenant];
  const crowd = Math.ceil(work.maxStreamsPerTenant * 1.2);
  return [
    ...work.tenants.flatMap((tenant) =>
      Array.from({ length: perTenant }, (_, index) => ordinaryClient(work, tenant, index)),
    ),
    ...Array.from({ length: crowd }, () => crowdedClient(work)),
    deafClient(work),
    deafClient(work),
    revokedKey(work, acme),
    removedMember(work, globex),
    expiringToken(work, hooli),
    trespasser(work, [initech, acme]),
    rotatedKey(work, initech),
    runScans(work, acme.apiKey),
    keepScansAlive(work),
  ];
}

async function runCourse(work: Work, options: SoakOptions): Promise<readonly LifeFigures[]> {
  const first = await live(work, options, () => false);
  await restart(work);
  const second = await live(work, options, () => neverSeen(work, options).length > 0);
  for (const kind of neverSeen(work, options)) complain(work, `nothing was ever counted as ${kind}`);
  return [first, second];
}

/** What did not happen at all was not tested. */
function neverSeen({ counts }: Work, { hasFaults = true }: SoakOptions): readonly string[] {
  const { longestRevocationMs: _ms, lost, ...others } = counts;
  const needed = { ...others, ...(hasFaults ? { lost } : {}) };
  return Object.entries(needed).flatMap(([kind, count]) => (count === 0 ? [kind] : []));
}

/** How much longer a slow machine may take until everything has happened. */
const graceMs = 60_000;

/** Half of the soak, with the gateway that is there, or as long as `isWaiting`; no fault is left at its end. */
async function live(work: Work, options: SoakOptions, isWaiting: () => boolean): Promise<LifeFigures> {
  const { durationMs, hasFaults = true, say } = options;
  const { life } = work;
  const gateway = await life.gateway;
  const halfMs = durationMs / 2;
  const untilMs = Date.now() + halfMs;
  const calm = new AbortController();
  const faults = hasFaults ? sprinkleFaults(work, calm.signal) : null;
  const sampleMs = Math.min(5000, Math.max(500, halfMs / 60));
  const samplesPerCollection = Math.max(2, Math.round(halfMs / sampleMs / collections));
  for (let turn = 1; Date.now() < untilMs || (isWaiting() && Date.now() < untilMs + graceMs); turn += 1) {
    await pause(sampleMs);
    const collect = turn % samplesPerCollection === 0;
    const sample = await takeSample(gateway, { atSeconds: (Date.now() - life.startedAtMs) / 1000, collect });
    life.samples.push(sample);
    if (collect) say(`${work.counts.streams} streams, ${work.counts.events} events, ${JSON.stringify(sample)}`);
  }
  calm.abort();
  await faults;
  restore(work.surroundings);
  await pause(calmMs);
  return { samples: life.samples };
}

/** Of ours, in each life: enough to see where the heap goes, and rare, so that it is V8 that decides what is resident. */
const collections = 15;
/** For what the last fault has broken to be told. */
const calmMs = 500;
