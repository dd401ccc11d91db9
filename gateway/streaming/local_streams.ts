import { AppError } from "../../shared/app_error.ts";
import { unavailable } from "../../shared/brokers/unavailable.ts";
import { withTimeout } from "../../shared/with_timeout.ts";
import type { Principal } from "../auth/principal.ts";
import type { StreamBounds } from "../config.ts";
import { createLimits, type Limits } from "../limits.ts";
import { noCount } from "../observability/metrics.ts";
import {
  encodeChunk,
  encodeComment,
  encodeHeartbeatInterval,
  encodeRetry,
  encodeTerminalType,
} from "./event_stream_encoding.ts";
import { createHub, type HubOptions } from "./hub.ts";
import { OpenStream, type StreamContext, type StreamStart } from "./open_stream.ts";
import { createReadableStreamSinks } from "./sinks/readable_stream_sink.ts";
import type { CreateSink, StreamRequest } from "./sinks/sink.ts";
import { createTenantStreams, endGraceMs, type TenantStreams } from "./tenant_streams.ts";

export interface LocalStreamsOptions
  extends
    Omit<HubOptions, "deliveries" | "now">,
    Pick<StreamContext, "stillAllowed" | "recheckChannels">,
    Partial<Pick<StreamContext, "random" | "closeGraceMs">> {
  readonly bounds: StreamBounds;
  /** The limits of the process. Default: new ones, with the streams of `bounds`. */
  readonly limits?: Limits;
  /** Makes the sinks of their bytes. Default: portable ones. */
  readonly createSink?: CreateSink;
}

export type LocalStreams = ReturnType<typeof createLocalStreams>;

/** The streams of one process (or Durable Object), over one hub. */
export function createLocalStreams(options: LocalStreamsOptions) {
  const { bounds, count = noCount, random = Math.random, closeGraceMs = 2000 } = options;
  const { limits = createLimits(bounds), createSink = createReadableStreamSinks() } = options;
  // Goes on where the system's clock is set back.
  const now = () => performance.now();
  const hub = createHub({ ...options, deliveries: limits.deliveries, count, now });
  const heartbeatMs = bounds.heartbeatSeconds * 1000;
  const recheckMs = bounds.recheckSeconds * 1000;
  const { maxBufferBytes } = bounds;
  const parts = { hub, limits, count, heartbeatMs, recheckMs, maxBufferBytes, closeGraceMs, now, random };
  const context: StreamContext = { ...options, ...parts, onOpen, onOver };
  const head = encodeRetry(2000) + encodeComment("open") + encodeHeartbeatInterval(bounds.heartbeatSeconds);
  const tenants = new Map<string, TenantStreams>();
  /** One timer for everything that is due some time: heartbeats, ends, last bytes and rechecks. It runs while there is a stream. */
  let sweeping: ReturnType<typeof setInterval> | undefined;
  let draining: Promise<void> | null = null;
  const empty = Promise.withResolvers<void>();

  return {
    open,

    /** `streams` are the places taken: streams that are open, being opened, or sending their last bytes. */
    stats: () => ({ ...hub.stats(), streams: limits.streams.total() }),

    /**
     * Opens nothing more, and closes the open streams one by one over the given time, each with its own retry delay. Resolves
     * when all are closed and everything is released. A second call waits for the first.
     */
    drain({ overMs }: { readonly overMs: number }): Promise<void> {
      draining ??= drain(overMs);
      return draining;
    },
  };

  /** Rejects as a `StreamOpener` does. */
  async function open(request: StreamRequest): Promise<Response> {
    let stream: OpenStream | null = null;
    try {
      requireNotDraining();
      const end = endOf(request.principal);
      stream = new OpenStream(request, context);
      // Before the first await: a client that leaves in the meantime releases its slot at once.
      const sink = createSink(request, stream);
      // The client left while it was authorized: the hub would keep what nobody takes off again.
      if (stream.isOver) return clientLeft();
      // Events that come from now on wait.
      await hub.join(stream, request.channels);
      const snapshot = request.readSnapshot === undefined || stream.isOver ? null : await request.readSnapshot();
      requireNotDraining();
      if (stream.isOver) return clientLeft();
      const opening = encodeChunk(head + encodeTerminalType(request.channels));
      const response = stream.start(sink, { opening, snapshot: snapshot?.chunk ?? null, ...end });
      if (snapshot?.hasEnded === true) stream.endBy(now() + endGraceMs, "ended");
      return response;
    } catch (error) {
      if (stream?.isOver === true) return clientLeft();
      stream?.onClosed();
      const code = error instanceof AppError ? error.code : null;
      if (code === "too_many" || code === "unavailable") count("streams_refused", code);
      throw error;
    }
  }

  function onOpen(stream: OpenStream): void {
    const { tenantId } = stream.principal;
    const tenant = tenants.get(tenantId) ?? createTenantStreams(tenantId, context);
    tenants.set(tenantId, tenant);
    tenant.streams.add(stream);
    // Often enough for the shortest of what is due.
    sweeping ??= setInterval(sweep, Math.max(1, Math.min(1000, heartbeatMs / 15, recheckMs / 20)));
  }

  function onOver(stream: OpenStream): void {
    const { tenantId } = stream.principal;
    const tenant = tenants.get(tenantId);
    if (tenant?.streams.delete(stream) === true && tenant.streams.size === 0) tenants.delete(tenantId);
    if (tenants.size === 0) {
      clearInterval(sweeping);
      sweeping = undefined;
    }
    if (draining !== null && limits.streams.total() === 0) empty.resolve();
  }

  function sweep(): void {
    const nowMs = now();
    for (const tenant of tenants.values()) tenant.onSweep(nowMs);
  }

  function requireNotDraining(): void {
    if (draining !== null) throw unavailable("This gateway is shutting down");
  }

  /** Lifetimes differ by up to a fifth, so that streams that were opened together do not end together. */
  function endOf(principal: Principal): Pick<StreamStart, "endMs" | "endReason"> {
    const nowMs = now();
    // The issuer means the time of day.
    const leftMs = (principal.expiresAtMs ?? Infinity) - Date.now();
    const lifetimeMs = bounds.maxLifetimeSeconds * 1000 * (0.8 + 0.2 * random());
    if (leftMs <= 0) throw new AppError("not_authenticated", "The token has expired");
    if (leftMs <= lifetimeMs) return { endMs: nowMs + leftMs, endReason: "expired" };
    return { endMs: nowMs + lifetimeMs, endReason: "lifetime" };
  }

  async function drain(overMs: number): Promise<void> {
    const nowMs = now();
    for (const { streams } of tenants.values())
      for (const stream of streams) stream.endBy(nowMs + random() * overMs, "drain");
    if (limits.streams.total() === 0) empty.resolve();
    // Bounded: some streams may still wait for the broker, or for a client that reads nothing.
    await withTimeout(empty.promise, overMs + closeGraceMs + 2000).catch(() => undefined);
    hub.close();
  }
}

/** No client reads it; the status is the one that proxies log for a client that left. */
function clientLeft(): Response {
  return new Response(null, { status: 499 });
}
