import { createSteadyClock } from "../../shared/steady_clock.ts";
import { withTimeout } from "../../shared/with_timeout.ts";
import { AppError } from "../../shared/app_error.ts";
import type { StreamBounds } from "../config.ts";
import { Limits } from "../limits.ts";
import type { SubscriptionLease } from "./channel.ts";
import { Hub, type HubOptions, type HubStats } from "./hub.ts";
import {
  encodeComment,
  encodeRetry,
  encodeTerminalType,
  encodeHeartbeatInterval,
} from "../../shared/event_stream_encoding.ts";
import { encodeChunk } from "./encoded_chunk.ts";
import { OpenStream, type StreamEnd, type StreamContext } from "./open_stream.ts";
import type { Principal } from "../auth/principal.ts";
import { createReadableStreamSinks } from "./sinks/readable_stream_sink.ts";
import type { CreateSink, StreamRequest } from "./sinks/sink.ts";
import { noStreamMetrics } from "../observability/metrics.ts";
import { Sweep } from "./sweep.ts";
import { endGraceMs, StreamsByTenant, type TenantStreamsOptions } from "./tenant_streams.ts";

export interface LocalStreamsOptions
  extends
    Omit<HubOptions, "deliveries">,
    Pick<TenantStreamsOptions, "authority" | "recheckChannels">,
    Partial<Pick<TenantStreamsOptions, "random">> {
  readonly bounds: StreamBounds;
  /** Those of the process. Default: new ones, with the streams of `bounds`. */
  readonly limits?: Limits;
  /** Makes the sinks of their bytes. Default: portable ones. */
  readonly createSink?: CreateSink;
  /** How long a closed stream's last bytes may take to leave. Default 2,000. */
  readonly closeGraceMs?: number;
}

interface StreamStats extends HubStats {
  /** Slots taken: streams that are open, being opened, or sending their last bytes. */
  readonly streams: number;
}

export interface LocalStreams {
  /** Rejects as a `StreamOpener` does. */
  open(stream: StreamRequest): Promise<Response>;
  /** The clock of the times of streams: it is never set back. */
  readonly now: () => number;
  stats(): StreamStats;
  /**
   * Opens nothing more, and closes the open streams one by one over the given time, each with its own retry delay. Resolves
   * when all are closed and everything is released. A second call waits for the first.
   */
  drain(options: { readonly overMs: number }): Promise<void>;
}

/** The streams of one process (or Durable Object), over one hub. */
export function createLocalStreams(options: LocalStreamsOptions): LocalStreams {
  const { bounds, metrics = noStreamMetrics, random = Math.random } = options;
  const { limits = new Limits(bounds) } = options;
  const wallNow = options.now ?? Date.now;
  const now = createSteadyClock(wallNow);
  const createSink = options.createSink ?? createReadableStreamSinks();
  const hub = new Hub({ ...options, deliveries: limits.deliveries, metrics, now });
  const heartbeatMs = bounds.heartbeatSeconds * 1000;
  const head = encodeRetry(2000) + encodeComment("open") + encodeHeartbeatInterval(bounds.heartbeatSeconds);
  const recheckMs = bounds.recheckSeconds * 1000;
  // Often enough for the shortest of what is due.
  const sweep = new Sweep(Math.max(1, Math.min(1000, heartbeatMs / 15, recheckMs / 20)), now);
  const context: StreamContext = {
    sweep,
    heartbeatMs,
    metrics,
    maxBufferBytes: bounds.maxBufferBytes,
    maxStallMs: heartbeatMs * 4,
    closeGraceMs: options.closeGraceMs ?? 2000,
    now,
    random,
  };
  const onStored = hub.loseBehind.bind(hub);
  const tenants = new StreamsByTenant({ ...options, limits, onStored, recheckMs, sweep, metrics, now, random });
  let draining: Promise<void> | null = null;

  return {
    now,

    async open(request) {
      try {
        return await open(request);
      } catch (error) {
        if (error instanceof AppError && (error.code === "too_many" || error.code === "unavailable")) {
          metrics.refused(error.code);
        }
        throw error;
      }
    },

    stats: () => ({ ...hub.stats(), streams: tenants.count }),

    drain({ overMs }) {
      draining ??= drain(overMs);
      return draining;
    },
  };

  async function open(request: StreamRequest): Promise<Response> {
    // The caller has just checked the principal's authority; what follows may take long.
    const checkedMs = now();
    requireNotDraining();
    const end = endOf(request.principal);
    const tenant = tenants.admit(request.principal.tenantId);
    const stream = new OpenStream(tenant, request, { checkedMs, context });
    let lease: SubscriptionLease | null = null;
    try {
      // Before the first await: a client that leaves in the meantime releases its slot at once.
      const sink = createSink(request, stream);
      lease = await hub.acquire(request.channels);
      stream.attach(lease);
      // Events that come in the meantime wait.
      await hub.number(lease);
      const snapshot = request.readSnapshot === undefined || stream.isOver ? null : await request.readSnapshot();
      requireNotDraining();
      if (stream.isOver) return clientLeft(lease);
      const opening = encodeChunk(head + encodeTerminalType(request.channels));
      const response = stream.start(sink, end, { opening, snapshot: snapshot?.chunk ?? null });
      if (snapshot?.hasEnded === true) stream.endBy(now() + endGraceMs, "ended");
      return response;
    } catch (error) {
      lease?.release();
      stream.onClosed();
      throw error;
    }
  }

  function requireNotDraining(): void {
    if (draining === null) return;
    throw new AppError("unavailable", "This gateway is shutting down", { retryAfterSeconds: 2 });
  }

  /** Lifetimes differ by up to a fifth, so that streams that were opened together do not end together. */
  function endOf(principal: Principal): StreamEnd {
    const nowMs = now();
    // The issuer means the time of day.
    const leftMs = (principal.expiresAtMs ?? Infinity) - wallNow();
    const lifetimeMs = bounds.maxLifetimeSeconds * 1000 * (0.8 + 0.2 * random());
    if (leftMs <= 0) throw new AppError("not_authenticated", "The token has expired");
    if (leftMs <= lifetimeMs) return { atMs: nowMs + leftMs, reason: "expired" };
    return { atMs: nowMs + lifetimeMs, reason: "lifetime" };
  }

  async function drain(overMs: number): Promise<void> {
    const nowMs = now();
    for (const stream of tenants.streams()) stream.endBy(nowMs + random() * overMs, "drain");
    // Bounded: some streams may still wait for the broker, or for a client that reads nothing.
    await withTimeout(tenants.empty(), overMs + context.closeGraceMs + 2000).catch(() => undefined);
    hub.close();
  }
}

/** No client reads it; the status is the one that proxies log for a client that left. */
function clientLeft(lease: SubscriptionLease): Response {
  lease.release();
  return new Response(null, { status: 499 });
}
