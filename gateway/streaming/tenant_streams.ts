import { withTimeout } from "../../shared/with_timeout.ts";
import type { AuthorityCheck, AuthoritySubject } from "../auth/membership.ts";
import type { Principal } from "../auth/principal.ts";
import type { Limits } from "../limits.ts";
import type { StreamMetrics } from "../observability/metrics.ts";
import type { OpenStream, StreamSlot } from "./open_stream.ts";
import type { StoredNumber } from "./published.ts";
import type { Sweep, SweepTarget } from "./sweep.ts";

/** A terminal event that was stored may take this long to be published: what ended is not closed without it before. */
export const endGraceMs = 5000;

/**
 * Opens a principal's streams of these names once more, without a client. Returns those that would be refused now:
 * `ended` for a resource that has ended or is not there, `denied` for one that may not be followed. `onStored` takes how far the
 * events of their channels were stored. Rejects when the database does not answer.
 */
export type RecheckChannels = (
  principal: Principal,
  names: readonly string[],
  onStored: (stored: readonly StoredNumber[]) => void,
) => Promise<ReadonlyMap<string, "ended" | "denied">>;

export interface TenantStreamsOptions {
  readonly limits: Pick<Limits, "streams" | "unreadBytes">;
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

/** The streams of a process, by their tenants. */
export class StreamsByTenant {
  readonly #options: TenantStreamsOptions;
  readonly #tenants = new Map<string, TenantStreams>();
  #onEmpty: (() => void) | null = null;

  constructor(options: TenantStreamsOptions) {
    this.#options = options;
  }

  /** Places taken: open streams, those being opened, and those whose last bytes have not left. */
  get count(): number {
    return this.#options.limits.streams.total;
  }

  /** Takes a place, before anything is awaited. Throws as `Limit.take` does. */
  admit(tenantId: string): TenantStreams {
    this.#options.limits.streams.take(tenantId);
    const tenant =
      this.#tenants.get(tenantId) ?? new TenantStreams(tenantId, this.#options, () => this.#release(tenant));
    this.#tenants.set(tenantId, tenant);
    tenant.places += 1;
    return tenant;
  }

  *streams(): Generator<OpenStream> {
    for (const tenant of this.#tenants.values()) yield* tenant.streams;
  }

  /** Resolves when no place is taken. */
  async empty(): Promise<void> {
    if (this.count === 0) return;
    await new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
  }

  #release(tenant: TenantStreams): void {
    tenant.places -= 1;
    this.#options.limits.streams.give(tenant.id);
    if (tenant.places === 0) this.#tenants.delete(tenant.id);
    if (this.count === 0) this.#onEmpty?.();
  }
}

/**
 * One tenant's open streams, which are rechecked periodically: the authority of all subjects in one query, then the opening of each
 * stream. A check begins at the latest 60 % of the interval after the last, a sweep later, and its query may take 30 %, so that
 * even a slow query closes a revoked stream in time.
 *
 * While the database does not answer the streams stay: an outage would otherwise take every live view with it, and nothing
 * can be revoked in a database that is down. But trust expires: streams that could not be confirmed for two intervals are
 * closed within two more, spread, so that they do not all reconnect at once.
 */
export class TenantStreams implements StreamSlot, SweepTarget {
  readonly id: string;
  readonly streams = new Set<OpenStream>();
  /** How many places it has taken. Changed by `StreamsByTenant` only. */
  places = 0;
  /** Gives one place back. */
  readonly release: () => void;
  readonly #options: TenantStreamsOptions;
  /** When the next check begins; a check that is running schedules the next. */
  #dueMs = Infinity;
  #isChecking = false;
  /** True while the openings of the last check are repeated. */
  #isReopening = false;
  #confirmedMs = 0;
  /** The earliest check of a stream that was opened since the last one began. */
  #newSinceMs = Infinity;

  constructor(id: string, options: TenantStreamsOptions, release: () => void = () => {}) {
    this.id = id;
    this.#options = options;
    this.release = release;
  }

  /** The broker may have taken 15 s: the next check moves forward, so that it counts from the check before the opening. */
  add(stream: OpenStream): void {
    this.streams.add(stream);
    this.#newSinceMs = Math.min(this.#newSinceMs, stream.checkedMs);
    if (this.streams.size === 1) this.#options.sweep.add(this);
    if (this.#isChecking) return;
    // The first is spread widely: after a restart all tenants' streams reconnect together.
    if (this.streams.size === 1) this.#schedule(this.#options.now(), 0.25);
    else this.#dueMs = Math.min(this.#dueMs, this.#latestMs(stream.checkedMs));
  }

  remove(stream: OpenStream): void {
    if (!this.streams.delete(stream) || this.streams.size > 0) return;
    this.#options.sweep.remove(this);
    this.#newSinceMs = Infinity;
  }

  addUnread(bytes: number): boolean {
    return this.#options.limits.unreadBytes.add(this.id, bytes);
  }

  onSweep(nowMs: number): void {
    if (nowMs >= this.#dueMs) void this.#check();
  }

  /** Never later than 60 % of the interval, and at the earliest the given share of that. */
  #schedule(fromMs: number, minShare: number): void {
    const { recheckMs, random } = this.#options;
    const dueMs = fromMs + recheckMs * 0.6 * (minShare + (1 - minShare) * random());
    this.#dueMs = Math.min(dueMs, this.#latestMs(this.#newSinceMs));
  }

  /** When the check after one at the given time has to begin at the latest. */
  #latestMs(checkedMs: number): number {
    return checkedMs + this.#options.recheckMs * 0.6;
  }

  /** Never rejects: every failure is counted, and the next check retries. */
  async #check(): Promise<void> {
    const { authority, recheckMs, metrics, now } = this.#options;
    const startedMs = now();
    this.#dueMs = Infinity;
    this.#newSinceMs = Infinity;
    this.#isChecking = true;
    const bySubject = [...Map.groupBy(this.streams, ({ principal }) => subjectKey(principal)).values()];
    const subjects = bySubject.flatMap(([first]) => first?.principal ?? []);
    try {
      const allowed = await withTimeout(authority.stillAllowed(this.id, subjects), recheckMs * 0.3);
      this.#confirmedMs = startedMs;
      const isKept = ([first]: readonly OpenStream[]) => first !== undefined && allowed.has(first.principal);
      for (const stream of bySubject.filter((streams) => !isKept(streams)).flat()) stream.close("revoked");
      void this.#reopenAll(bySubject.filter(isKept));
    } catch {
      metrics.recheckFailed();
      this.#closeUnconfirmed();
    }
    this.#isChecking = false;
    if (this.streams.size > 0) this.#schedule(startedMs, 0.75);
  }

  /** One subject after the other, so that a tenant with thousands of them takes one connection of the pool. Never rejects. */
  async #reopenAll(bySubject: readonly (readonly OpenStream[])[]): Promise<void> {
    if (this.#isReopening) return;
    this.#isReopening = true;
    for (const streams of bySubject) await this.#reopen(streams);
    this.#isReopening = false;
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

  #closeUnconfirmed(): void {
    const { recheckMs, now, random } = this.#options;
    const nowMs = now();
    for (const stream of this.streams) {
      if (nowMs - Math.max(this.#confirmedMs, stream.checkedMs) < 2 * recheckMs) continue;
      stream.endBy(nowMs + 2 * recheckMs * random(), "revoked");
    }
  }
}

function subjectKey(subject: AuthoritySubject): string {
  return `${subject.kind}:${subject.id}`;
}
