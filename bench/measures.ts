import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pause } from "../shared/abortable.ts";
import { temporaryFolder } from "../test/support/temporary_folder.ts";
import { streamPath, type Backends } from "./backends.ts";
import { startLoadClient } from "./load_client.ts";
import type { BenchServer } from "./servers.ts";

/** All streams follow one channel. */
export interface FanOutOptions {
  readonly streams: number;
  readonly steps: number;
  /**
   * How many steps are on their way at a time. 2, the default: while one event is on its way to the streams the next one is
   * on its way to the server, so that the time from the publisher to the server (through Redis where there is one) is not
   * counted as the server's; the one after that waits until every stream has the first. 1: no server can join two of them.
   */
  readonly inFlight?: number;
  /** Events published at once. Default 1. */
  readonly burst?: number;
}

export interface FanOutFigures {
  /** Events received a second, over all streams. */
  readonly eventsPerSecond: number;
  /** CPU time of the server for one event of one stream. Less noisy than time where others use the machine too. */
  readonly cpuMicroseconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Opens the streams, publishes, and waits until every stream has received every event, once. */
export async function measureFanOut(
  client: string,
  server: BenchServer,
  { streams, steps, burst = 1, inFlight = 2 }: FanOutOptions,
): Promise<FanOutFigures> {
  await using load = startLoadClient(client, server, {
    streams,
    eventsPerStream: steps * burst,
    step: streams * burst,
  });
  await load.opened;
  const cpuBefore = await server.process.cpuSeconds();
  for (let step = 1; step <= steps; step += 1) {
    await server.publish(burst);
    await load.step(step - inFlight + 1);
  }
  const { events, expected, seconds, p50Ms, p99Ms } = await load.result;
  const cpuSeconds = (await server.process.cpuSeconds()) - cpuBefore;
  // A rate over other events than were sent, lost or repeated, would be of another experiment.
  if (events !== expected) throw new Error(`${server.name}: ${events} events arrived in time, expected ${expected}`);
  return { eventsPerSecond: events / seconds, cpuMicroseconds: (cpuSeconds / events) * 1e6, p50Ms, p99Ms };
}

/** Two rounds of heartbeats. */
const idleMs = 20_000;

/** Opens the streams and leaves them idle for a while. Resident bytes for each; the kernel's for a socket are not among them. */
export async function measureMemory(client: string, server: BenchServer, streams: number): Promise<number> {
  const before = await server.process.residentBytes();
  await using load = startLoadClient(client, server, { streams, timeoutSeconds: 90 });
  await load.opened;
  await pause(idleMs, []);
  return ((await server.process.residentBytes()) - before) / streams;
}

/** Credentials of the streams. */
export const credentials = ["one JWT", "one API key"] as const;

/** Opens streams of different scans, 200 concurrently, until all have their head. CPU time is the gateway's for one stream. */
export async function measureOpening(
  client: string,
  server: BenchServer,
  options: {
    readonly backends: Backends;
    readonly streams: number;
    readonly credential: (typeof credentials)[number];
  },
) {
  const { backends, streams, credential } = options;
  await using folder = await temporaryFolder();
  const file = join(folder.path, "paths");
  const paths = Array.from({ length: streams }, (_, index) => streamPath(index));
  await writeFile(file, `${paths.join("\n")}\n`);
  const headers = credential === "one JWT" ? server.headers : [`Authorization: Api-Key ${backends.apiKey}`];
  const cpuBefore = await server.process.cpuSeconds();
  await using load = startLoadClient(client, { ...server, path: `@${file}`, headers }, { streams });
  const { ready, seconds } = await load.opened;
  const cpuSeconds = (await server.process.cpuSeconds()) - cpuBefore;
  return { opensPerSecond: ready / seconds, cpuMicroseconds: (cpuSeconds / streams) * 1e6 };
}
