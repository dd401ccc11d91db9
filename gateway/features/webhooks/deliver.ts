import type { Database } from "../../../drizzle/database.ts";
import { claimDeliveries, deliveryBacklog, type ClaimedDelivery } from "../../../drizzle/across_tenants.ts";
import { pause } from "../../../shared/abortable.ts";
import type { Log } from "../../observability/log.ts";
import type { Metrics } from "../../observability/metrics.ts";
import type { TargetRules } from "./address.ts";
import { startRepeating } from "../repeat.ts";
import { attemptDelivery, type SendWebhook } from "./attempt.ts";
import { recordAttempt } from "./delivery_store.ts";

export interface DelivererOptions {
  readonly database: Database;
  readonly send: SendWebhook;
  readonly rules: TargetRules;
  readonly log: Log;
  readonly metrics: Pick<Metrics, "webhookAttempted">;
  readonly nowMs: () => number;
  readonly random?: () => number;
  /** How long one attempt may take, the reading of the answer included. Default 10,000. */
  readonly timeoutMs?: number;
}

/**
 * Sends what is queued for webhooks. A delivery is claimed with a lease, so several gateways share the work, and what one of them
 * had claimed when it died is sent by another. Deliveries are sent at least once and in no promised order: a receiver
 * recognizes what it has by `webhook-id`.
 */
export interface Deliverer {
  /** Claims as much as there is room for. Resolves when it is under way; never rejects. */
  sendDue(): Promise<void>;
  /** Resolves when nothing is under way. */
  idle(): Promise<void>;
  /** Claims nothing more, gives what is under way a moment, and releases the rest for another gateway. */
  stop(): Promise<void>;
}

/** Requests of this process at the same time; how they are shared out is in `claim_webhook_deliveries`. */
const maxInFlight = 50;
const defaultTimeoutMs = 10_000;
/** The attempt, and storing its result. */
const leaseSeconds = 60;
const stopGraceMs = 2000;

export function createDeliverer(options: DelivererOptions): Deliverer {
  const { database, log, metrics, random = Math.random, timeoutMs = defaultTimeoutMs } = options;
  const stopping = new AbortController();
  const interrupting = new AbortController();
  const inFlight = new Map<ClaimedDelivery, Promise<void>>();
  let claiming: Promise<void> | null = null;
  let isAskedAgain = false;
  let isReachable = true;

  async function claimAll(): Promise<void> {
    while (isAskedAgain) {
      isAskedAgain = false;
      const most = maxInFlight - inFlight.size;
      // The next one that is done asks again.
      if (most === 0 || stopping.signal.aborted) return;
      const claimed = await claimDeliveries(database, { most, leaseSeconds, underWay: [...inFlight.keys()] });
      for (const delivery of claimed) inFlight.set(delivery, send(delivery));
      if (claimed.length > 0) isAskedAgain = true;
    }
  }

  async function send(delivery: ClaimedDelivery): Promise<void> {
    const fields = { webhook_id: delivery.webhookId, delivery_id: delivery.id };
    try {
      const result = await attemptDelivery(delivery, { ...options, timeoutMs, stopped: interrupting.signal });
      const outcome = await recordAttempt(database, delivery, { result, random });
      metrics.webhookAttempted(outcome);
      if (outcome === "dead") log.warn(fields, "a webhook's delivery was given up");
      if (outcome === "gone") log.warn(fields, "a webhook was disabled: its receiver answered 410");
    } catch (error) {
      // Its lease ends, and it is sent again.
      log.warn({ ...fields, error }, "the result of a webhook's delivery could not be stored");
    } finally {
      inFlight.delete(delivery);
      void sendDue(); // Never rejects.
    }
  }

  async function sendDue(): Promise<void> {
    isAskedAgain = true;
    claiming ??= claimAll()
      .then(
        () => {
          isReachable = true;
        },
        (error: unknown) => {
          if (isReachable) log.warn({ error }, "webhook deliveries could not be claimed");
          isReachable = false;
        },
      )
      .finally(() => {
        claiming = null;
        // Asked between the last claim and now.
        if (isAskedAgain && !stopping.signal.aborted) void sendDue(); // Never rejects.
      });
    await claiming;
  }

  async function idle(): Promise<void> {
    const underWay = () => (claiming === null ? [] : [claiming]).concat(...inFlight.values());
    for (let waiting = underWay(); waiting.length > 0; waiting = underWay()) await Promise.all(waiting);
  }

  return {
    sendDue,
    idle,
    async stop() {
      stopping.abort();
      const grace = setTimeout(() => interrupting.abort(), stopGraceMs);
      await idle();
      clearTimeout(grace);
    },
  };
}

/** As `createDeliverer`, and from now on looks for what is due without being asked. */
export function startDelivering(options: DelivererOptions): Deliverer {
  const deliverer = createDeliverer(options);
  const stopLooking = startRepeating(() => deliverer.sendDue(), { firstAfterMs: everyMs, everyMs });
  return {
    ...deliverer,
    async stop() {
      stopLooking();
      await deliverer.stop();
    },
  };
}

/** A retry is at most this late. */
const everyMs = 2000;

/** Where nothing runs between requests: sends what is due, and what falls due within the time. Never rejects. */
export async function deliverFor(durationMs: number, options: DelivererOptions): Promise<void> {
  const deliverer = createDeliverer(options);
  const endMs = options.nowMs() + durationMs;
  try {
    for (;;) {
      await deliverer.sendDue();
      await deliverer.idle();
      const { dueInSeconds } = await deliveryBacklog(options.database);
      if (dueInSeconds === null) return;
      // Overdue and not claimed just now: it is another gateway's.
      const waitMs = Math.max(dueInSeconds * 1000, minWaitMs);
      if (options.nowMs() + waitMs > endMs) return;
      await pause(waitMs, []);
    }
  } catch (error) {
    options.log.warn({ error }, "webhook deliveries could not be looked up");
  }
}

const minWaitMs = 1000;
