import { setImmediate, setTimeout } from "node:timers/promises";
import type { BenchServer } from "../bench_server.ts";
import { measureFanOut, type FanOutFigures, type FanOutOptions } from "../fan_out.ts";
import { gateway, nchan, raw, withServers, type BenchRun, type Start } from "../gateway_benches.ts";
import { medians } from "../statistics.ts";
import { startDjangoServer } from "./django_eventstream.ts";
import { peersFolder } from "./folder.ts";
import { createHttpPublisher } from "./http_publisher.ts";
import { startMercureServer } from "./mercure.ts";
import { startNodePeer } from "./node_peer.ts";

export interface PeerFigures extends FanOutFigures {
  /** CPU time of Redis for an event of a stream; 0 without Redis. */
  readonly brokerCpuMicroseconds: number;
}

/** What came of one server. A round counts only when every event arrived once. */
export interface PeerOutcome {
  /** Medians of the rounds that count; null: none does. */
  readonly figures: PeerFigures | null;
  /** For each other round, what was wrong with it. */
  readonly leftOut: readonly string[];
}

const modes: Readonly<Record<string, FanOutOptions>> = {
  "one after another": { streams: 1000, channels: 1, steps: 200 },
  "at saturation": { streams: 1000, channels: 1, steps: 1, burst: 200 },
  "bursts of 20": { streams: 1000, channels: 1, steps: 10, burst: 20 },
};

/** Other servers of event streams, in turn with ours; the ones that are not installed are named and left out. */
export async function benchPeers(run: BenchRun) {
  const figures: Record<string, Record<string, PeerOutcome>> = {};
  const starts: readonly Start[] = [
    raw(run),
    withHttpPublisher(nchan(run)),
    named(run, "Mercure", startMercureServer),
    named(run, "better-sse", () => startNodePeer("better-sse", "better_sse_main.ts")),
    () => startNodePeer("Hono streamSSE", "hono_main.ts"),
    named(run, "django-eventstream", startDjangoServer),
    gateway(run),
    gateway(run, "deno, portable sink"),
  ];
  await withServers(starts, async (servers) => {
    for (const server of servers) await measure(run, server, { streams: 300, channels: 1, steps: 60 });
    for (const [mode, options] of Object.entries(modes)) {
      run.say(mode);
      figures[mode] = await compare(run, servers, options);
    }
  });
  return figures;
}

async function compare(run: BenchRun, servers: readonly BenchServer[], options: FanOutOptions) {
  const rounds = servers.map((server) => ({ server, figures: [] as PeerFigures[], leftOut: [] as string[] }));
  for (let round = 0; round < run.rounds; round += 1) {
    for (const { server, figures, leftOut } of rounds) {
      try {
        figures.push(await measure(run, server, options));
      } catch (error) {
        if (isOurs(server) || !(error instanceof Error)) throw error;
        leftOut.push(error.message);
      }
    }
  }
  const outcomes: Record<string, PeerOutcome> = {};
  for (const { server, figures, leftOut } of rounds) {
    const outcome = { figures: figures.length === 0 ? null : medians(figures), leftOut };
    outcomes[server.name] = outcome;
    run.say(`${server.name}: ${describe(outcome)}`);
  }
  return outcomes;
}

async function measure(run: BenchRun, server: BenchServer, options: FanOutOptions): Promise<PeerFigures> {
  const before = await run.backends.brokerCpuSeconds();
  const figures = await measureFanOut(run.client, pacing(server, options), options);
  const brokerSeconds = isOurs(server) ? (await run.backends.brokerCpuSeconds()) - before : 0;
  const events = options.streams * options.steps * (options.burst ?? 1);
  return { ...figures, brokerCpuMicroseconds: (brokerSeconds / events) * 1e6 };
}

/** An open stream of django-eventstream discards events until it has asked the event store once, each in its turn. */
const settleMs: Readonly<Record<string, number>> = { "django-eventstream": 4000 };

/** At saturation every event is a separate write, as an application publishes; only bursts are handed over as one. */
function pacing(server: BenchServer, { steps }: FanOutOptions): BenchServer {
  let isFirst = true;
  return {
    ...server,
    async publish(options) {
      if (isFirst) await setTimeout(settleMs[server.name] ?? 0);
      isFirst = false;
      if (steps > 1) return server.publish(options);
      for (let event = 0; event < options.burst; event += 1) {
        await server.publish({ ...options, burst: 1 });
        await setImmediate();
      }
    },
  };
}

function isOurs({ name }: BenchServer): boolean {
  return name.startsWith("gateway");
}

function describe({ figures, leftOut }: PeerOutcome): string {
  const wrong = leftOut.map((reason) => `left out: ${reason}`);
  return [...(figures === null ? [] : [rates(figures)]), ...wrong].join("; ");
}

function rates({ eventsPerSecond, cpuMicroseconds, brokerCpuMicroseconds, p50Ms, p99Ms }: PeerFigures): string {
  const broker = brokerCpuMicroseconds === 0 ? "" : ` and ${brokerCpuMicroseconds.toFixed(3)} µs of Redis's`;
  return (
    `${(eventsPerSecond / 1000).toFixed(0)} k events/s, ${cpuMicroseconds.toFixed(2)} µs of CPU each${broker}, ` +
    `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`
  );
}

function named(run: BenchRun, name: string, start: Start): Start {
  return async () => {
    const server = await start();
    if (server === null) run.say(`${name}: left out: it is not in ${peersFolder}: node bench/peers/install.ts`);
    return server;
  };
}

/** nchan's own bench hands it all events of a burst on one connection. */
function withHttpPublisher(start: Start): Start {
  return async () => {
    const server = await start();
    if (server === null) return null;
    const publisher = createHttpPublisher({
      port: server.port,
      path: "/pub/0",
      headers: ["X-EventSource-Event: scan.progress", "Content-Type: application/json"],
      body: (payload) => payload,
    });
    return {
      ...server,
      publish: (options) => publisher.publish(options),
      async stop() {
        publisher.stop();
        await server.stop();
      },
    };
  };
}
