import { withTimeout } from "../../shared/with_timeout.ts";
import type { Deadlines, Due } from "./timer_heap.ts";
import type { OpenStream } from "./open_stream.ts";
import type { Principal } from "../auth/principal.ts";
import type { StreamMetrics } from "../observability/stream_metrics.ts";
import type { StreamTenant } from "./tenant_limits.ts";

/** Whether those whose streams are open still have the authority that they opened them with. */
export interface AuthorityCheck {
  /**
   * Those of the subjects, the very objects, that are still members (`user`) or not revoked (`api_key`). One query for a
   * whole tenant. Rejects when it cannot be known now.
   */
  stillAllowed(tenantId: string, subjects: readonly AuthoritySubject[]): Promise<ReadonlySet<AuthoritySubject>>;
}

/**
 * Of a tenant's channels those whose resource has ended, so that nothing will be published there any more. Rejects when it
 * cannot be known now.
 */
export type FindEnded = (tenantId: string, channels: readonly string[]) => Promise<ReadonlySet<string>>;

/** Whom an authority is given to; the rest of a principal belongs to one token. */
export type AuthoritySubject = Pick<Principal, "kind" | "id">;

export interface AuthorityRecheckOptions {
  readonly authority: AuthorityCheck;
  /** Default: the terminal event is the only way to know. */
  readonly findEnded?: FindEnded | undefined;
  /** Within this time after an authority ended its streams are closed, the query's time included. */
  readonly recheckMs: number;
  readonly deadlines: Deadlines;
  readonly metrics: StreamMetrics;
  readonly now: () => number;
  readonly random: () => number;
}

/**
 * Asks for each tenant that has streams, again and again. A check begins at the latest 60 % of the interval after the
 * last and may take 30 %, so that even a slow answer closes a revoked stream in time.
 *
 * While the question cannot be answered the streams stay: an outage of the database would otherwise take every live view
 * with it, and nobody can revoke anything in a database that is away. But trust ends: whoever could not be confirmed for
 * two to four intervals is closed, a third at a time, so that they do not all come back at once.
 *
 * Along with it each check closes the streams whose resource has ended without their hearing so: the terminal event may
 * have been published between their lookup and their subscription, or the broker may not have taken it.
 */
export class AuthorityRecheck {
  readonly #options: AuthorityRecheckOptions;
  readonly #rounds = new Map<StreamTenant, Round>();

  constructor(options: AuthorityRecheckOptions) {
    this.#options = options;
  }

  watch(tenant: StreamTenant): void {
    const round = new Round(tenant, () => void this.#check(round));
    this.#rounds.set(tenant, round);
    // Spread widely: after a restart all tenants' streams come back together.
    this.#schedule(round, this.#options.now(), 0.25);
  }

  /**
   * A stream of the tenant was opened, perhaps long after its authority was checked: the broker may take 15 s. The next
   * check begins as soon after that as any other.
   */
  admit(tenant: StreamTenant, { checkedMs }: Pick<OpenStream, "checkedMs">): void {
    const round = this.#rounds.get(tenant);
    if (round === undefined) return;
    round.newSinceMs = Math.min(round.newSinceMs, checkedMs);
    // Not while a check is under way: its answer schedules the next.
    if (round.dueIndex === -1 || round.dueMs <= this.#latestMs(checkedMs)) return;
    const { deadlines, now, random } = this.#options;
    const nowMs = now();
    deadlines.set(round, nowMs + Math.max(0, this.#latestMs(checkedMs) - nowMs) * random());
  }

  unwatch(tenant: StreamTenant): void {
    const round = this.#rounds.get(tenant);
    if (round === undefined) return;
    this.#rounds.delete(tenant);
    this.#options.deadlines.remove(round);
  }

  /** Never later than 60 % of the interval, and at the earliest the given share of that. */
  #schedule(round: Round, fromMs: number, least: number): void {
    const { recheckMs, deadlines, random } = this.#options;
    const dueMs = fromMs + recheckMs * 0.6 * (least + (1 - least) * random());
    deadlines.set(round, Math.min(dueMs, this.#latestMs(round.newSinceMs)));
  }

  /** When the check after one at the given time has to begin. */
  #latestMs(checkedMs: number): number {
    return checkedMs + this.#options.recheckMs * 0.6;
  }

  /** Never rejects: every way of failing is counted and tried again. */
  async #check(round: Round): Promise<void> {
    const startedMs = this.#options.now();
    round.newSinceMs = Infinity;
    const streams = [...round.tenant.streams];
    const subjects = new Map<string, AuthoritySubject>();
    for (const { principal } of streams) subjects.set(subjectKey(principal), principal);
    const asked = [...subjects.values()];
    void this.#closeEnded(round, streams);
    try {
      const answer = this.#options.authority.stillAllowed(round.tenant.id, asked);
      const allowed = await withTimeout(answer, this.#options.recheckMs * 0.3);
      round.confirmedMs = startedMs;
      const isAllowed = new Set(asked.filter((subject) => allowed.has(subject)).map(subjectKey));
      for (const stream of streams) if (!isAllowed.has(subjectKey(stream.principal))) stream.close("revoked");
    } catch {
      this.#options.metrics.recheckFailed();
      this.#closeUnconfirmed(round);
    }
    if (this.#rounds.get(round.tenant) === round) this.#schedule(round, startedMs, 0.75);
  }

  /** Never rejects: what cannot be known now is asked again with the next check. */
  async #closeEnded({ tenant }: Round, streams: readonly OpenStream[]): Promise<void> {
    const ending = streams.filter((stream) => stream.endsAfterTerminalEvent);
    const channels = new Set(ending.flatMap((stream) => stream.channels));
    if (this.#options.findEnded === undefined || channels.size === 0) return;
    try {
      const ended = await this.#options.findEnded(tenant.id, [...channels]);
      for (const stream of ending) if (stream.channels.every((channel) => ended.has(channel))) stream.close("ended");
    } catch {
      this.#options.metrics.recheckFailed();
    }
  }

  #closeUnconfirmed(round: Round): void {
    const { recheckMs, now, random } = this.#options;
    const nowMs = now();
    for (const stream of round.tenant.streams) {
      const unconfirmedMs = nowMs - Math.max(round.confirmedMs, stream.checkedMs);
      if (unconfirmedMs < 2 * recheckMs) continue;
      if (unconfirmedMs >= 3 * recheckMs || random() < 1 / 3) stream.close("revoked");
    }
  }
}

/** One tenant's place in the order of checks. */
class Round implements Due {
  dueMs = 0;
  dueIndex = -1;
  /** When the last check that succeeded began. */
  confirmedMs = 0;
  /** The earliest check of a stream that was opened since the last one began. */
  newSinceMs = Infinity;
  readonly tenant: StreamTenant;
  readonly #onDue: () => void;

  constructor(tenant: StreamTenant, onDue: () => void) {
    this.tenant = tenant;
    this.#onDue = onDue;
  }

  due(): void {
    this.#onDue();
  }
}

function subjectKey(subject: AuthoritySubject): string {
  return `${subject.kind}:${subject.id}`;
}
