import type { BenchServer, PublishOptions } from "./bench_server.ts";
import { startLoadClient, type LoadFigures } from "./load_client.ts";
import { readMachineTimes } from "./machine_times.ts";

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
  /** Default 110: an event of about 150 bytes. */
  readonly payloadBytes?: number;
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
  /** CPU time of the load client for the same. */
  readonly clientCpuMicroseconds: number;
  /** Share of all cores' time, of every process. At 1 the machine is the limit, for any number of processes. */
  readonly machineBusyShare: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const timeoutSeconds = 60;

/** Opens the streams, publishes, and waits until every stream has received every event. */
export async function measureFanOut(
  client: string,
  server: BenchServer,
  options: FanOutOptions,
): Promise<FanOutFigures> {
  const { streams, channels, steps, burst = 1, payloadBytes = 110, everyMs } = options;
  const { inFlight = 2, watchEvery = 1 } = options;
  const load = startLoadClient(client, {
    host: server.host,
    port: server.port,
    path: server.path(channels),
    headers: server.headers,
    streams,
    eventsPerStream: steps * burst,
    timeoutSeconds,
    step: streams * burst,
    watchEvery,
  });
  try {
    const opened = await load.opened;
    if (opened.failed > 0) throw new Error(`${server.name}: ${opened.failed} streams were refused (${opened.status})`);
    const events: PublishOptions = { channels, burst, payloadBytes };
    const cpuBefore = await server.process.cpuSeconds();
    const machineBefore = await readMachineTimes();
    for (let step = 1; step <= steps; step += 1) {
      await server.publish(events);
      await (everyMs === undefined
        ? load.step(step - inFlight + 1)
        : new Promise((resolve) => setTimeout(resolve, everyMs)));
    }
    const figures = await load.result;
    const cpuSeconds = (await server.process.cpuSeconds()) - cpuBefore;
    const machine = await readMachineTimes();
    requireAll(server, figures);
    return {
      eventsPerSecond: figures.events / figures.seconds,
      cpuMicroseconds: (cpuSeconds / figures.events) * 1e6,
      clientCpuMicroseconds: (figures.clientCpuSeconds / figures.events) * 1e6,
      machineBusyShare: 1 - (machine.idle - machineBefore.idle) / (machine.all - machineBefore.all),
      p50Ms: figures.p50Ms,
      p99Ms: figures.p99Ms,
    };
  } finally {
    await load.stop();
  }
}

/** A rate over other events than were sent, lost or repeated, would be of another experiment. */
function requireAll(server: BenchServer, { events, expected }: LoadFigures): void {
  if (events < expected)
    throw new Error(`${server.name}: ${events} of ${expected} events arrived in ${timeoutSeconds} s`);
  if (events > expected)
    throw new Error(`${server.name}: events arrived more than once: ${events} and more of ${expected}`);
}
