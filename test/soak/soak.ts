import { readdirSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createPracticeOrg } from "../../scanner/practice_org/create_practice_org.ts";
import { publishCredentials } from "../../scanner/practice_org/credentials.ts";
import { startFaultyGateway, type FaultyGateway, type FaultyScan } from "../faults/faulty_gateway.ts";
import { openDeafClient, openReader } from "../faults/stream_reader.ts";
import { startTraffic, type Traffic } from "../faults/traffic.ts";
import { runCommand, temporaryFolder } from "../support/command_line.ts";

export interface SoakOptions {
  readonly durationMs: number;
  /** Clients at a time. */
  readonly clients: number;
  readonly say: (line: string) => void;
}

export interface SoakFigures {
  readonly streams: number;
  readonly events: number;
  readonly refused: number;
  readonly lost: number;
  readonly scans: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly before: Held;
  readonly after: Held;
  /** Empty when everything was as promised. */
  readonly problems: readonly string[];
}

/** What this process, in which the gateway and its clients both run, holds while nothing is going on. */
export interface Held {
  readonly descriptors: number;
  readonly timers: number;
  readonly streams: number;
  readonly subscriptions: number;
  readonly heapMiB: number;
  readonly rssMiB: number;
}

/** Streams come and go, scans run, faults are sprinkled; afterwards everything is as it was, and nobody missed an event. */
export async function runSoak(options: SoakOptions): Promise<SoakFigures> {
  const faulty = await startFaultyGateway({
    EVENTSTREAM_HEARTBEAT_SECONDS: "1",
    EVENTSTREAM_MAX_BUFFER_BYTES: "131072",
  });
  const tenants = await Promise.all(["Acme", "Globex"].map((name) => faulty.createTenant(name)));
  const scans = await Promise.all(
    Array.from({ length: 10 }, (_, n) => faulty.createScan(tenants[n % 2] ?? neverTenant())),
  );
  const work: Work = {
    faulty,
    scans,
    streams: 0,
    events: 0,
    refused: 0,
    lost: 0,
    scanRuns: 0,
    faults: {},
    problems: [],
  };
  try {
    // Warm: code is compiled, pools are filled. What is held after that is what has to come back.
    await round(work, {
      durationMs: Math.min(5000, options.durationMs / 4),
      clients: options.clients,
      hasFaults: false,
    });
    const before = await settle(faulty, null);
    options.say(`held before: ${JSON.stringify(before)}`);
    await Promise.all([
      round(work, { ...options, hasFaults: true }),
      scanUntil(work, Date.now() + options.durationMs, tenants[0]?.apiKey ?? ""),
      report(work, options),
    ]);
    const after = await settle(faulty, before);
    options.say(`held after: ${JSON.stringify(after)}`);
    const problems = [...work.problems, ...whatStayed(before, after)];
    const { streams, events, refused, lost, scanRuns, faults } = work;
    return { streams, events, refused, lost, scans: scanRuns, faults, before, after, problems };
  } finally {
    await faulty.close();
  }
}

interface Work {
  readonly faulty: FaultyGateway;
  readonly scans: readonly FaultyScan[];
  streams: number;
  events: number;
  refused: number;
  lost: number;
  scanRuns: number;
  readonly faults: Record<string, number>;
  readonly problems: string[];
}

interface RoundOptions {
  readonly durationMs: number;
  readonly clients: number;
  readonly hasFaults: boolean;
}

async function round(work: Work, { durationMs, clients, hasFaults }: RoundOptions): Promise<void> {
  const channels = work.scans.map(({ channel }) => channel);
  const traffic = startTraffic(work.faulty.producer, { channels, everyMs: 20 });
  const untilMs = Date.now() + durationMs;
  const running = Array.from({ length: clients }, () => client(work, traffic, untilMs));
  if (hasFaults) running.push(sprinkle(work, untilMs));
  running.push(deafClients(work, untilMs));
  await Promise.all(running);
  await traffic.stop();
}

/** Opens a stream, reads for a while, leaves or is closed; again and again. */
async function client(work: Work, traffic: Traffic, untilMs: number): Promise<void> {
  while (Date.now() < untilMs) {
    const scan = work.scans[Math.floor(Math.random() * work.scans.length)] ?? neverScan();
    const reader = await openReader(scan.streamUrl, scan.authorization).catch((error: unknown) => {
      work.problems.push(`a stream could not be asked for: ${String(error)}`);
      return null;
    });
    if (reader === null || reader.status !== 200) {
      if (reader !== null && reader.status !== 503) work.problems.push(`a stream was answered with ${reader.status}`);
      if (reader !== null && reader.retryAfter === null) work.problems.push("a refusal without Retry-After");
      work.refused += 1;
      await pause(300);
      continue;
    }
    work.streams += 1;
    await Promise.race([reader.closed, pause(50 + Math.random() * 3000)]);
    if (reader.closedAtMs !== null) {
      work.lost += 1;
      if (reader.closeReason !== "lost") work.problems.push(`a stream was closed as ${reader.closeReason}`);
    }
    reader.leave();
    await reader.closed;
    work.events += reader.numbers.length;
    const gap = traffic.gapIn(scan.channel, reader);
    if (gap !== null) work.problems.push(`${scan.channel}: ${gap}`);
  }
}

async function deafClients(work: Work, untilMs: number): Promise<void> {
  const [scan] = work.scans;
  if (scan === undefined) return;
  while (Date.now() < untilMs) {
    const socket = await openDeafClient(scan.streamUrl, scan.authorization);
    await pause(Math.min(1000, Math.max(0, untilMs - Date.now())));
    if (Math.random() < 0.5) socket.resetAndDestroy();
    else socket.destroy();
  }
}

async function sprinkle({ faulty, faults }: Work, untilMs: number): Promise<void> {
  const { redisNetwork, databaseNetwork } = faulty;
  const kinds: readonly (readonly [string, () => void, number])[] = [
    ["broker cut", () => redisNetwork.cut(), 0],
    ["broker away", () => redisNetwork.refuse(), 1000],
    ["broker slow", () => redisNetwork.slow(50_000), 1000],
    ["broker polite end", () => redisNetwork.end(), 0],
    ["database cut", () => databaseNetwork.cut(), 0],
    ["database away", () => databaseNetwork.refuse(), 1000],
    ["database silent", () => databaseNetwork.stall(), 1500],
  ];
  for (let turn = 0; Date.now() < untilMs; turn += 1) {
    const [name, breakIt, forMs] = kinds[turn % kinds.length] ?? ["", () => undefined, 0];
    breakIt();
    faults[name] = (faults[name] ?? 0) + 1;
    await pause(forMs);
    redisNetwork.restore();
    databaseNetwork.restore();
    await pause(2000);
  }
}

/** Real scans, one after another, streamed through the same gateway. */
async function scanUntil(work: Work, untilMs: number, apiKey: string): Promise<void> {
  await using folder = await temporaryFolder();
  const org = await createPracticeOrg({ profile: { name: "typical" }, role: "super", latencyMs: 20 });
  const { privateKeyFile } = await publishCredentials(org, join(folder.path, "org"));
  const env = {
    IDP_ORG_URL: org.url,
    IDP_CLIENT_ID: org.clientId,
    IDP_PRIVATE_KEY_FILE: privateKeyFile,
    SCANSTREAM_URL: work.faulty.url,
    SCANSTREAM_API_KEY: apiKey,
  };
  while (Date.now() < untilMs) {
    const { code, stdout, stderr } = await runCommand(["scan", "--format", "json"], { cwd: folder.path, env });
    work.scanRuns += 1;
    if (code !== 1) work.problems.push(`a scan ended with ${code}: ${stderr.slice(-300)}`);
    else if (!stdout.includes('"status": "completed"') && !stdout.includes('"status":"completed"')) {
      work.problems.push("a scan was not completed");
    }
    await pause(1000);
  }
  await org.stop();
}

async function report(work: Work, { durationMs, say }: SoakOptions): Promise<void> {
  const untilMs = Date.now() + durationMs;
  while (Date.now() < untilMs) {
    await pause(Math.min(30_000, durationMs / 2));
    const { rss } = process.memoryUsage();
    say(`${work.streams} streams, ${work.events} events, ${work.problems.length} problems, ${toMiB(rss)} MiB`);
  }
}

/** Waits until as much is held as before, or as little as there will be. */
async function settle(faulty: FaultyGateway, before: Held | null): Promise<Held> {
  const untilMs = Date.now() + 20_000;
  for (;;) {
    await pause(500);
    const held = await measure(faulty);
    const isQuiet = held.streams === 0 && held.subscriptions === 0;
    if (isQuiet && (before === null || whatStayed(before, held).length === 0)) return held;
    if (Date.now() > untilMs) return held;
  }
}

function whatStayed(before: Held, after: Held): readonly string[] {
  const stayed = (name: keyof Held, slack: number) =>
    after[name] > before[name] + slack ? [`${name}: ${after[name]}, and ${before[name]} before`] : [];
  return [
    // Not only as before: a leak may have begun while warming up.
    ...(after.streams === 0 ? [] : [`streams: ${after.streams} are still held`]),
    ...(after.subscriptions === 0 ? [] : [`subscriptions: ${after.subscriptions} are still held`]),
    // The pool of connections to the database may hold more of them for a while than before.
    ...stayed("descriptors", 20),
    ...stayed("timers", 25),
    ...stayed("heapMiB", 24),
  ];
}

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

async function measure(faulty: FaultyGateway): Promise<Held> {
  collectGarbage();
  const { heapUsed, rss } = process.memoryUsage();
  return {
    descriptors: readdirSync("/proc/self/fd").length,
    timers: process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length,
    streams: faulty.gateway.parts.streams.stats().streams,
    subscriptions: await faulty.subscriptions(),
    heapMiB: toMiB(heapUsed),
    rssMiB: toMiB(rss),
  };
}

function toMiB(bytes: number): number {
  return Math.round(bytes / 1_048_576);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function neverTenant(): never {
  throw new Error("There is no such tenant");
}

function neverScan(): never {
  throw new Error("There is no such scan");
}
