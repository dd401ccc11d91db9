import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import { closeReasons, type Metrics, type MetricsText } from "./metrics.ts";
import type { Readiness } from "./readiness.ts";

/** Read at each scrape rather than counted. */
export interface GaugeSources {
  readonly openStreams: () => number;
  readonly openChannels: () => number;
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

  gauge("scanstream_streams_open", "Event streams that are open now", sources.openStreams);
  gauge("scanstream_channels_open", "Channels that at least one stream follows now", sources.openChannels);
  gauge("scanstream_streams_limit", "Event streams that may be open at once", () => sources.maxStreams);
  const isDatabaseUp = async () => Number((await sources.readiness.check()).database);
  gauge("scanstream_database_up", "1 while the database answers, 0 while it does not", isDatabaseUp);
  const isBrokerUp = async () => Number((await sources.readiness.check()).broker);
  gauge("scanstream_broker_up", "1 while the broker answers, 0 while it does not", isBrokerUp);

  const opened = counter("scanstream_streams_opened_total", "Event streams that were opened");
  const closed = labelled("scanstream_streams_closed_total", "Event streams that ended, by reason", {
    reason: ["gone", ...closeReasons],
  });
  const refused = labelled("scanstream_streams_refused_total", "Event streams that were refused, by code", {
    code: ["too_many", "unavailable"],
  });
  const delivered = counter("scanstream_events_delivered_total", "Events handed to streams: one for each stream");
  const bytes = counter("scanstream_event_bytes_delivered_total", "Bytes of events handed to streams");
  const dropped = counter(
    "scanstream_broker_messages_dropped_total",
    "Broker messages that could not be read or are too large",
  );
  const lost = labelled(
    "scanstream_broker_subscriptions_lost_total",
    "Broker subscriptions that were lost, by reason",
    { reason: ["ended", "cut", "silent", "garbage", "refused"] },
  );
  const rechecks = counter(
    "scanstream_authority_rechecks_failed_total",
    "Rechecks of authority that the database did not answer",
  );
  const published = labelled("scanstream_events_published_total", "Events published over HTTP, by outcome", {
    outcome: ["taken", "refused", "unavailable"],
  });
  const requests = new Histogram({
    name: "scanstream_http_request_duration_seconds",
    help: "Time until the answer begins, by route template",
    labelNames: ["method", "route", "status"],
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });

  return {
    streams: {
      opened: () => opened.inc(),
      closed: (reason) => closed.inc({ reason }),
      refused: (code) => refused.inc({ code }),
      delivered(events, eventBytes) {
        delivered.inc(events);
        bytes.inc(eventBytes);
      },
      messageDropped: () => dropped.inc(),
      subscriptionLost: (reason) => lost.inc({ reason }),
      recheckFailed: () => rechecks.inc(),
    },
    requestAnswered({ method, route, status, seconds }) {
      requests.observe({ method: knownMethod(method), route, status: String(status) }, seconds);
    },
    eventsPublished: (outcome, count) => published.inc({ outcome }, count),
    async read() {
      return { body: await registry.metrics(), contentType: registry.contentType };
    },
  };

  function counter(name: string, help: string): Counter {
    return new Counter({ name, help, registers });
  }

  /** A counter that begins with 0 for every value of its label: the first increase of a series that is new goes unseen. */
  function labelled<Label extends string>(
    name: string,
    help: string,
    values: Readonly<Record<Label, readonly string[]>>,
  ): Counter<Label> {
    const labelNames = Object.keys(values) as Label[]; // The keys of a literal.
    const made = new Counter<Label>({ name, help, labelNames, registers });
    for (const label of labelNames) {
      for (const value of values[label]) made.inc({ [label]: value } as Partial<Record<Label, string>>, 0);
    }
    return made;
  }

  function gauge(name: string, help: string, read: () => number | Promise<number>) {
    const collect = async () => made.set(await read());
    const made: Gauge = new Gauge({ name, help, registers: [], collect });
    registry.registerMetric(made);
  }
}

/** A client may send any word as a method; each would be a separate series. */
function knownMethod(method: string): string {
  return ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"].includes(method) ? method : "other";
}
