import { AsyncLocalStorage } from "node:async_hooks";
import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Attributes,
  type Context,
  type Span,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TracerProvider,
  TraceIdRatioBasedSampler,
  type Sampler,
  type SpanExporter,
} from "@opentelemetry/sdk-trace";
import { withTimeout } from "../../shared/with_timeout.ts";
import type { Log } from "./log.ts";
import { parseTraceparent } from "./traceparent.ts";
import type { PartTraces } from "./traces.ts";

/** Where spans are sent, and which. */
export interface TracesConfig {
  /** With `/v1/traces`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
  readonly sampler: TracesSampler;
}

export interface TracesSampler {
  /** A caller that sampled or did not sample decides for us. */
  readonly followsCaller: boolean;
  /** From 0 to 1: the share of the other requests. */
  readonly ratio: number;
}

interface OtlpTracesOptions {
  readonly config: TracesConfig;
  readonly log: Log;
  /** Names this process among those of the service. */
  readonly instanceId: string;
  readonly nowMs: () => number;
}

/** While the collector does not take them, later spans are dropped. */
const maxQueueSize = 2048;
const sendEveryMs = 2000;
const sendTimeoutMs = 5000;
const closeTimeoutMs = 1000;

/**
 * Spans by OTLP over HTTP, on Node and Deno: OpenTelemetry's own SDK, because sampling, batching and the protocol are not our
 * field. Nothing of it is global. Spans are sent in the background; no request waits for the collector.
 */
export function createOtlpTraces({ config, log, instanceId, nowMs }: OtlpTracesOptions): PartTraces {
  const exporter = new OTLPTraceExporter({ url: config.url, headers: config.headers, timeoutMillis: sendTimeoutMs });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ "service.name": config.serviceName, "service.instance.id": instanceId }),
    sampler: createSampler(config.sampler),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: withFailuresLogged(exporter, log, nowMs),
        maxQueueSize,
        scheduledDelayMillis: sendEveryMs,
        exportTimeoutMillis: sendTimeoutMs,
      }),
    ],
  });
  const tracer = provider.getTracer("scanstream");
  const requests = new AsyncLocalStorage<CurrentRequest>();

  return {
    async request({ method, traceparent, requestId }, handle) {
      const attributes = { "http.request.method": method, "scanstream.request_id": requestId };
      const span = tracer.startSpan(method, { kind: SpanKind.SERVER, attributes }, callerContext(traceparent));
      const current: CurrentRequest = { span, context: trace.setSpan(ROOT_CONTEXT, span), isOver: false };
      try {
        const { route, status } = await requests.run(current, () => handle(span.spanContext()));
        span.updateName(`${method} ${route}`);
        span.setAttributes({ "http.route": route, "http.response.status_code": status });
        if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      } catch (error) {
        span.setStatus({ code: SpanStatusCode.ERROR });
        throw error;
      } finally {
        current.isOver = true;
        span.end();
      }
    },

    async part({ name, kind, attributes }, work) {
      const current = requests.getStore();
      // A stream's timers and subscriptions outlive the request that they were made in.
      if (current === undefined || current.isOver) return work();
      const spanKind = kind === "client" ? SpanKind.CLIENT : SpanKind.PRODUCER;
      const span = tracer.startSpan(name, { kind: spanKind, attributes: toAttributes(attributes) }, current.context);
      try {
        return await work();
      } catch (error) {
        // Not its message: it may quote what was sent.
        span.setAttribute("error.type", error instanceof Error ? error.name : "unknown");
        span.setStatus({ code: SpanStatusCode.ERROR });
        throw error;
      } finally {
        span.end();
      }
    },

    annotate(attributes) {
      requests.getStore()?.span.setAttributes(toAttributes(attributes));
    },

    async close() {
      await withTimeout(provider.shutdown(), closeTimeoutMs).catch(() => undefined);
    },
  };
}

interface CurrentRequest {
  readonly span: Span;
  readonly context: Context;
  isOver: boolean;
}

function callerContext(traceparent: string | null): Context {
  const caller = parseTraceparent(traceparent);
  if (caller === null) return ROOT_CONTEXT;
  const traceFlags = caller.isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  return trace.setSpanContext(ROOT_CONTEXT, { ...caller, traceFlags, isRemote: true });
}

function createSampler({ followsCaller, ratio }: TracesSampler): Sampler {
  const root = new TraceIdRatioBasedSampler(ratio);
  return followsCaller ? new ParentBasedSampler({ root }) : root;
}

const logFailuresEveryMs = 60_000;

/** A collector that is away would otherwise be noticed by nobody: the SDK itself writes to no log of the gateway. */
function withFailuresLogged(exporter: SpanExporter, log: Log, nowMs: () => number): SpanExporter {
  let loggedMs = -Infinity;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const now = nowMs();
        if (result.error !== undefined && now - loggedMs >= logFailuresEveryMs) {
          loggedMs = now;
          log.warn(
            { spans: spans.length, reason: result.error.message },
            "the collector does not accept traces; they are lost",
          );
        }
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
  };
}

function toAttributes(attributes: Readonly<Record<string, string | number>>): Attributes {
  return attributes;
}
