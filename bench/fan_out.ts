import type { BenchServer } from "./bench_server.ts";
import { startLoadClient } from "./load_client.ts";

export interface FanOutOptions {
  readonly streams: number;
  /** 1: all streams follow one channel; otherwise as many channels as streams. */
  readonly channels: number;
  readonly steps: number;
  /**
   * How many steps are on their way at a time. 2, the default: while one event is on its way to the streams the next one is
   * on its way to the server, so that the time from the publisher to the server (through Redis where there is one) is not
   * counted as the server's; the one after that waits until every stream has the first. 1: no server can join two of them.
   */
  readonly inFlight?: number;
  /** Events published at once. Default 1. */
  readonly burst?: number;
  /** A fixed time between two, instead of waiting for every stream. */
  readonly everyMs?: number;
  /** See `LoadOptions`. */
  readonly watchEvery?: number;
}

export interface FanOutFigures {
  /** Events received a second, over all streams. */
  readonly eventsPerSecond: number;
  /** CPU time of the server for one event of one stream. Less noisy than time where others use the machine too. */
  readonly cpuMicroseconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const timeoutSeconds = 60;
/** An event of about 150 bytes. */
const payloadBytes = 110;

/** Opens the streams, publishes, and waits until every stream has received every event, once. */
export async function measureFanOut(
  client: string,
  server: BenchServer,
  options: FanOutOptions,
): Promise<FanOutFigures> {
  const { streams, channels, steps, burst = 1, everyMs, inFlight = 2, watchEvery = 1 } = options;
  await using load = startLoadClient(client, {
    server,
    path: server.path(channels),
    streams,
    eventsPerStream: steps * burst,
    timeoutSeconds,
    step: streams * burst,
    watchEvery,
  });
  const opened = await load.opened;
  if (opened.failed > 0) throw new Error(`${server.name}: ${opened.failed} streams were refused (${opened.status})`);
  const cpuBefore = await server.process.cpuSeconds();
  for (let step = 1; step <= steps; step += 1) {
    await server.publish({ channels, burst, payloadBytes, isFirst: step === 1 });
    await (everyMs === undefined
      ? load.step(step - inFlight + 1)
      : new Promise((resolve) => setTimeout(resolve, everyMs)));
  }
  const figures = await load.result;
  const cpuSeconds = (await server.process.cpuSeconds()) - cpuBefore;
  // A rate over other events than were sent, lost or repeated, would be of another experiment.
  if (figures.events !== figures.expected)
    throw new Error(
      `${server.name}: ${figures.events} events arrived in ${timeoutSeconds} s, expected ${figures.expected}`,
    );
  return {
    eventsPerSecond: figures.events / figures.seconds,
    cpuMicroseconds: (cpuSeconds / figures.events) * 1e6,
    p50Ms: figures.p50Ms,
    p99Ms: figures.p99Ms,
  };
}
