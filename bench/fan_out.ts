import type { BenchServer } from "./bench_server.ts";
import { startLoadClient } from "./load_client.ts";

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

const timeoutSeconds = 60;

/** Opens the streams, publishes, and waits until every stream has received every event, once. */
export async function measureFanOut(
  client: string,
  server: BenchServer,
  options: FanOutOptions,
): Promise<FanOutFigures> {
  const { streams, steps, burst = 1, inFlight = 2 } = options;
  await using load = startLoadClient(client, {
    server,
    path: server.path,
    streams,
    eventsPerStream: steps * burst,
    timeoutSeconds,
    step: streams * burst,
  });
  const opened = await load.opened;
  if (opened.failed > 0) throw new Error(`${server.name}: ${opened.failed} streams were refused (${opened.status})`);
  const cpuBefore = await server.process.cpuSeconds();
  for (let step = 1; step <= steps; step += 1) {
    await server.publish(burst);
    await load.step(step - inFlight + 1);
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
