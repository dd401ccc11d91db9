import { withTimeout } from "../../shared/with_timeout.ts";
import type { AuthorityCheck, AuthoritySubject } from "../auth/membership.ts";
import type { StreamMetrics } from "../observability/stream_metrics.ts";
import type { OpenStream } from "./open_stream.ts";
import type { TenantStreams } from "./tenant_limits.ts";
import type { ScheduledTask, TimerHeap } from "./timer_heap.ts";

/** A terminal event that was stored may take this long to be published: what ended later is not closed without it. */
export const endGraceMs = 5000;

/** Returns the channels whose resource ended more than `endGraceMs` ago. Rejects when the database does not answer. */
export type FindEnded = (tenantId: string, channels: readonly string[]) => Promise<ReadonlySet<string>>;

export interface AuthorityRecheckOptions {
  readonly authority: AuthorityCheck;
  /** Default: streams end by their terminal event only. */
  readonly findEnded?: FindEnded | undefined;
  /** Streams are closed within this time after their authority ended, the query's time included. */
  readonly recheckMs: number;
  readonly timers: TimerHeap;
  readonly metrics: StreamMetrics;
  readonly now: () => number;
  readonly random: () => number;
}

/**
 * Rechecks every tenant that has streams, periodically. A check begins at the latest 60 % of the interval after the last and
 * may take 30 %, so that even a slow query closes a revoked stream in time.
 *
 * While the database does not answer the streams stay: an outage would otherwise take every live view with it, and nothing
 * can be revoked in a database that is down. But trust expires: streams that could not be confirmed for two to four intervals
 * are closed, a third per check, so that they do not all reconnect at once.
 *
 * Each check also closes the streams whose resource has ended without their terminal event: it may have been published
 * between their lookup and their subscription, or the broker may not have taken it.
 */
export class AuthorityRecheck {
  readonly #options: AuthorityRecheckOptions;
  readonly #rechecks = new Map<TenantStreams, TenantRecheck>();

  constructor(options: AuthorityRecheckOptions) {
    this.#options = options;
  }

  watch(tenant: TenantStreams): void {
    const recheck = new TenantRecheck(tenant, () => void this.#check(recheck));
    this.#rechecks.set(tenant, recheck);
    // Spread widely: after a restart all tenants' streams reconnect together.
    this.#schedule(recheck, this.#options.now(), 0.25);
  }

  /**
   * A stream of the tenant was opened, perhaps long after its authority was checked: the broker may take 15 s. Moves the next
   * check forward, so that it begins in time counted from then.
   */
  admit(tenant: TenantStreams, { checkedMs }: Pick<OpenStream, "checkedMs">): void {
    const recheck = this.#rechecks.get(tenant);
    if (recheck === undefined) return;
    recheck.newSinceMs = Math.min(recheck.newSinceMs, checkedMs);
    // Not while a check is running: its end schedules the next.
    if (recheck.heapIndex === -1 || recheck.dueMs <= this.#latestMs(checkedMs)) return;
    const { timers, now, random } = this.#options;
    const nowMs = now();
    timers.set(recheck, nowMs + Math.max(0, this.#latestMs(checkedMs) - nowMs) * random());
  }

  unwatch(tenant: TenantStreams): void {
    const recheck = this.#rechecks.get(tenant);
    if (recheck === undefined) return;
    this.#rechecks.delete(tenant);
    this.#options.timers.remove(recheck);
  }

  /** Never later than 60 % of the interval, and at the earliest the given share of that. */
  #schedule(recheck: TenantRecheck, fromMs: number, minShare: number): void {
    const { recheckMs, timers, random } = this.#options;
    const dueMs = fromMs + recheckMs * 0.6 * (minShare + (1 - minShare) * random());
    timers.set(recheck, Math.min(dueMs, this.#latestMs(recheck.newSinceMs)));
  }

  /** When the check after one at the given time has to begin at the latest. */
  #latestMs(checkedMs: number): number {
    return checkedMs + this.#options.recheckMs * 0.6;
  }

  /** Never rejects: every failure is counted and retried. */
  async #check(recheck: TenantRecheck): Promise<void> {
    const startedMs = this.#options.now();
    recheck.newSinceMs = Infinity;
    const streams = [...recheck.tenant.streams];
    const subjects = new Map<string, AuthoritySubject>();
    for (const { principal } of streams) subjects.set(subjectKey(principal), principal);
    const checked = [...subjects.values()];
    void this.#closeEnded(recheck, streams);
    try {
      const answer = this.#options.authority.stillAllowed(recheck.tenant.id, checked);
      const allowed = await withTimeout(answer, this.#options.recheckMs * 0.3);
      recheck.confirmedMs = startedMs;
      const isAllowed = new Set(checked.filter((subject) => allowed.has(subject)).map(subjectKey));
      for (const stream of streams) if (!isAllowed.has(subjectKey(stream.principal))) stream.close("revoked");
    } catch {
      this.#options.metrics.recheckFailed();
      this.#closeUnconfirmed(recheck);
    }
    if (this.#rechecks.get(recheck.tenant) === recheck) this.#schedule(recheck, startedMs, 0.75);
  }

  /** Never rejects: a failure is counted, and the next check retries. */
  async #closeEnded({ tenant }: TenantRecheck, streams: readonly OpenStream[]): Promise<void> {
    const channels = new Set(streams.flatMap((stream) => stream.channels));
    if (this.#options.findEnded === undefined || channels.size === 0) return;
    try {
      const ended = await this.#options.findEnded(tenant.id, [...channels]);
      for (const stream of streams) if (stream.channels.every((channel) => ended.has(channel))) stream.close("ended");
    } catch {
      this.#options.metrics.recheckFailed();
    }
  }

  #closeUnconfirmed(recheck: TenantRecheck): void {
    const { recheckMs, now, random } = this.#options;
    const nowMs = now();
    for (const stream of recheck.tenant.streams) {
      const unconfirmedMs = nowMs - Math.max(recheck.confirmedMs, stream.checkedMs);
      if (unconfirmedMs < 2 * recheckMs) continue;
      if (unconfirmedMs >= 3 * recheckMs || random() < 1 / 3) stream.close("revoked");
    }
  }
}

/** The next check of one tenant. */
class TenantRecheck implements ScheduledTask {
  dueMs = 0;
  heapIndex = -1;
  confirmedMs = 0;
  /** The earliest check of a stream that was opened since the last one began. */
  newSinceMs = Infinity;
  readonly tenant: TenantStreams;
  readonly run: () => void;

  constructor(tenant: TenantStreams, run: () => void) {
    this.tenant = tenant;
    this.run = run;
  }
}

function subjectKey(subject: AuthoritySubject): string {
  return `${subject.kind}:${subject.id}`;
}
