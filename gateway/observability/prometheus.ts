import { readdir } from "node:fs/promises";
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import { counters, type CounterTexts, type Metrics, type MetricsText } from "./metrics.ts";
import type { Readiness } from "./readiness.ts";

/** Read at each scrape rather than counted. */
interface GaugeSources {
  readonly streams: () => { readonly members: number; readonly channels: number };
  /** At most this many streams may be open. */
  readonly maxStreams: number;
  /** Bounded in time, because a scrape waits for it. */
  readonly readiness: Readiness;
}

/** The gateway's metrics for Prometheus, on Node and Deno. One registry for each gateway: two in a process do not mix. */
export function createPrometheusMetrics(sources: GaugeSources): Metrics & MetricsText {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  // Each of these lists all sockets, at 50,000 streams for a fifth of a second in which every stream waits.
  for (const name of ["handles", "handles_total", "requests", "requests_total", "resources_total"])
    registry.removeSingleMetric(`nodejs_active_${name}`);
  registry.removeSingleMetric("process_open_fds");
  gauge("process_open_fds", "Open files", async () => (await readdir("/proc/self/fd").catch(() => [])).length);

  gauge("scanstream_streams_open", "Event streams that are open now", () => sources.streams().members);
  gauge("scanstream_channels_open", "Channels that at least one stream follows now", () => sources.streams().channels);
  gauge("scanstream_streams_limit", "Event streams that may be open at once", () => sources.maxStreams);
  const isUp = async (part: "database" | "broker") => Number((await sources.readiness.check())[part]);
  gauge("scanstream_database_up", "1 while the database answers, 0 while it does not", () => isUp("database"));
  gauge("scanstream_broker_up", "1 while the broker answers, 0 while it does not", () => isUp("broker"));
  const made = new Map(Object.entries<CounterTexts>(counters).map(([name, texts]) => [name, counter(name, ...texts)]));
  const requests = new Histogram({
    name: "scanstream_http_request_duration_seconds",
    help: "Time until the answer begins, by route template",
    labelNames: ["method", "route", "status"],
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });

  return {
    count: (name, value, by = 1) => made.get(name)?.inc(value === null ? {} : { [counters[name][1] ?? ""]: value }, by),
    requestAnswered({ method, route, status, seconds }) {
      requests.observe({ method: knownMethod(method), route, status: String(status) }, seconds);
    },
    async read() {
      return { body: await registry.metrics(), contentType: registry.contentType };
    },
  };

  /** Begins with 0 for every value of its label: the first increase of a series that is new goes unseen. */
  function counter(name: string, ...[help, label, values = []]: CounterTexts): Counter {
    const labelNames = label === undefined ? [] : [label];
    const added = new Counter({ name: `scanstream_${name}_total`, help, labelNames, registers });
    for (const value of values) added.inc({ [String(label)]: value }, 0);
    return added;
  }

  function gauge(name: string, help: string, read: () => number | Promise<number>): void {
    const collect = async () => added.set(await read());
    const added: Gauge = new Gauge({ name, help, registers, collect });
  }
}

/** A client may send any word as a method; each would be a separate series. */
function knownMethod(method: string): string {
  return ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"].includes(method) ? method : "other";
}
