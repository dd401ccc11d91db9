import { withTimeout } from "../../shared/with_timeout.ts";
import type { AuthorityCheck, AuthoritySubject } from "../auth/membership.ts";
import type { Principal } from "../auth/principal.ts";
import type { StreamMetrics } from "../observability/stream_metrics.ts";
import type { OpenStream } from "./open_stream.ts";
import type { StoredNumber } from "./published.ts";
import type { Sweep, SweepTarget } from "./sweep.ts";
import type { TenantStreams } from "./tenant_streams.ts";

/** A terminal event that was stored may take this long to be published: what ended is not closed without it before. */
export const endGraceMs = 5000;

/**
 * Repeats the opening of a principal's streams, which are given by name. Returns those that would not be opened any more:
 * `ended` for a resource that has ended or is not there, `denied` for one that may not be followed. `onStored` takes how far the
 * events of their channels were stored. Rejects when the database does not answer.
 */
export type RecheckChannels = (
  principal: Principal,
  names: readonly string[],
  onStored: (stored: readonly StoredNumber[]) => void,
) => Promise<ReadonlyMap<string, "ended" | "denied">>;

export interface RecheckOptions {
  readonly authority: AuthorityCheck;
  /** Default: streams end by their terminal event and with their authority only. */
  readonly recheckChannels?: RecheckChannels | undefined;
  /** Closes the streams of channels that are behind. Default: none are. */
  readonly onStored?: (stored: readonly StoredNumber[]) => void;
  /** Streams are closed within this time after their authority ended, the query's time included. */
  readonly recheckMs: number;
  readonly sweep: Sweep;
  readonly metrics: StreamMetrics;
  readonly now: () => number;
  /** From 0 inclusive to 1 exclusive. */
  readonly random: () => number;
}

/**
 * Rechecks every tenant that has streams, periodically: the authority of all subjects in one query, then the opening of each
 * stream. A check begins at the latest 60 % of the interval after the last, a sweep later, and its query may take 30 %, so that
 * even a slow query closes a revoked stream in time.
 *
 * While the database does not answer the streams stay: an outage would otherwise take every live view with it, and nothing
 * can be revoked in a database that is down. But trust expires: streams that could not be confirmed for two intervals are
 * closed within two more, spread, so that they do not all reconnect at once.
 */
export class Recheck {
  readonly #options: RecheckOptions;
  readonly #tenants = new Map<TenantStreams, TenantRecheck>();

  constructor(options: RecheckOptions) {
    this.#options = options;
  }

  watch(tenant: TenantStreams): void {
    const recheck = new TenantRecheck(tenant, () => void this.#check(recheck));
    this.#tenants.set(tenant, recheck);
    // Spread widely: after a restart all tenants' streams reconnect together.
    this.#schedule(recheck, this.#options.now(), 0.25);
    this.#options.sweep.add(recheck);
  }

  /**
   * A stream of the tenant was opened, perhaps long after its authority was checked: the broker may take 15 s. Moves the next
   * check forward, so that it begins in time counted from then.
   */
  admit(tenant: TenantStreams, { checkedMs }: Pick<OpenStream, "checkedMs">): void {
    const recheck = this.#tenants.get(tenant);
    if (recheck === undefined) return;
    recheck.newSinceMs = Math.min(recheck.newSinceMs, checkedMs);
    // Not while a check is running: its end schedules the next.
    if (recheck.dueMs !== Infinity) recheck.dueMs = Math.min(recheck.dueMs, this.#latestMs(checkedMs));
  }

  unwatch(tenant: TenantStreams): void {
    const recheck = this.#tenants.get(tenant);
    if (recheck === undefined) return;
    this.#tenants.delete(tenant);
    this.#options.sweep.remove(recheck);
  }

  /** Never later than 60 % of the interval, and at the earliest the given share of that. */
  #schedule(recheck: TenantRecheck, fromMs: number, minShare: number): void {
    const { recheckMs, random } = this.#options;
    const dueMs = fromMs + recheckMs * 0.6 * (minShare + (1 - minShare) * random());
    recheck.dueMs = Math.min(dueMs, this.#latestMs(recheck.newSinceMs));
  }

  /** When the check after one at the given time has to begin at the latest. */
  #latestMs(checkedMs: number): number {
    return checkedMs + this.#options.recheckMs * 0.6;
  }

  /** Never rejects: every failure is counted, and the next check retries. */
  async #check(recheck: TenantRecheck): Promise<void> {
    const startedMs = this.#options.now();
    recheck.newSinceMs = Infinity;
    const streams = [...recheck.tenant.streams];
    const bySubject = Map.groupBy(streams, ({ principal }) => subjectKey(principal));
    const subjects = [...bySubject.values()].flatMap(([first]) => (first === undefined ? [] : [first.principal]));
    try {
      const answer = this.#options.authority.stillAllowed(recheck.tenant.id, subjects);
      const allowed = await withTimeout(answer, this.#options.recheckMs * 0.3);
      recheck.confirmedMs = startedMs;
      const kept: OpenStream[][] = [];
      for (const subject of subjects) {
        const ofSubject = bySubject.get(subjectKey(subject)) ?? [];
        if (allowed.has(subject)) kept.push(ofSubject);
        else for (const stream of ofSubject) stream.close("revoked");
      }
      void this.#reopenAll(recheck, kept);
    } catch {
      this.#options.metrics.recheckFailed();
      this.#closeUnconfirmed(recheck);
    }
    if (this.#tenants.get(recheck.tenant) === recheck) this.#schedule(recheck, startedMs, 0.75);
  }

  /** One subject after the other, so that a tenant with thousands of them takes one connection of the pool. Never rejects. */
  async #reopenAll(recheck: TenantRecheck, bySubject: readonly (readonly OpenStream[])[]): Promise<void> {
    if (recheck.isReopening) return;
    recheck.isReopening = true;
    for (const streams of bySubject) await this.#reopen(streams);
    recheck.isReopening = false;
  }

  /** Never rejects. */
  async #reopen(streams: readonly OpenStream[]): Promise<void> {
    const { recheckChannels, onStored = () => {}, metrics, now } = this.#options;
    const principal = streams[0]?.principal;
    if (recheckChannels === undefined || principal === undefined) return;
    try {
      const found = await recheckChannels(principal, [...new Set(streams.map(({ name }) => name))], onStored);
      for (const stream of streams) {
        const state = found.get(stream.name);
        if (state === "denied") stream.close("revoked");
        else if (state === "ended") stream.endBy(now() + endGraceMs, "ended");
      }
    } catch {
      metrics.recheckFailed();
    }
  }

  #closeUnconfirmed(recheck: TenantRecheck): void {
    const { recheckMs, now, random } = this.#options;
    const nowMs = now();
    for (const stream of recheck.tenant.streams) {
      if (nowMs - Math.max(recheck.confirmedMs, stream.checkedMs) < 2 * recheckMs) continue;
      stream.endBy(nowMs + 2 * recheckMs * random(), "revoked");
    }
  }
}

/** The next check of one tenant. */
class TenantRecheck implements SweepTarget {
  dueMs = Infinity;
  confirmedMs = 0;
  /** The earliest check of a stream that was opened since the last one began. */
  newSinceMs = Infinity;
  /** True while the openings of the last check are repeated. */
  isReopening = false;
  readonly tenant: TenantStreams;
  readonly #run: () => void;

  constructor(tenant: TenantStreams, run: () => void) {
    this.tenant = tenant;
    this.#run = run;
  }

  onSweep(nowMs: number): void {
    if (nowMs < this.dueMs) return;
    // The end of the check schedules the next.
    this.dueMs = Infinity;
    this.#run();
  }
}

function subjectKey(subject: AuthoritySubject): string {
  return `${subject.kind}:${subject.id}`;
}
