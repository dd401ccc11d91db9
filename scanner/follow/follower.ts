import { DecidingOrgPolicy } from "../org_policy/read_org_policy.ts";
import type { MonitorPublisher } from "../streaming/monitor_publisher.ts";
import type { FollowState } from "./follow_state.ts";
import type { FollowEnd, FollowParts, FollowPlan } from "./follow_plan.ts";
import { FollowedOrg } from "./followed_org.ts";
import { FollowRecord } from "./follow_record.ts";
import type { LogEvent, Relevant } from "./log_event.ts";
import { SystemLog, type LogEvents } from "./system_log.ts";
import { Verdicts, type Round } from "./verdicts.ts";
import { WatchedTime } from "./watched_time.ts";

/** Delay before evidence that could not be collected is tried again. */
const retryMs = 45_000;
/** Events that are kept to explain a change that is seen later. */
const maxKeptEvents = 500;

/** Follows an org: resolves when it has done what it was asked for, or was interrupted; its state is saved then. */
export async function follow(plan: FollowPlan, parts: FollowParts): Promise<FollowEnd> {
  const saved = await parts.store.load(plan.orgUrl, parts.say);
  const follower = new Follower(plan, parts, saved);
  let end: FollowEnd = "interrupted";
  try {
    end = await follower.run();
  } catch (error) {
    if (!plan.signal.aborted) throw error;
  } finally {
    await follower.close(endReasons[end] ?? null);
  }
  return end;
}

const endReasons: Partial<Record<FollowEnd, string>> = {
  clean: "No check fails any more (--until-clean)",
  failed: "A new finding matches --fail-on",
};

class Follower {
  readonly #plan: FollowPlan;
  readonly #parts: FollowParts;
  readonly #isRestart: boolean;
  readonly #org: FollowedOrg;
  readonly #log: SystemLog;
  readonly #verdicts: Verdicts;
  /** Failed artifacts are collected again at that time; the events may explain the results then. */
  #retry: { readonly atMs: number; readonly events: readonly Relevant[] } | null = null;
  readonly #record: FollowRecord;
  /** Null: it is not streamed. */
  #monitor: MonitorPublisher | null = null;
  readonly #watched: WatchedTime;
  #lastFullMs: number;
  /** When the last full scan began that read everything but the log, by the provider's clock. */
  #blindScanMs: number;
  #lagSeconds = 0;
  readonly #deciding: DecidingOrgPolicy;

  constructor(plan: FollowPlan, parts: FollowParts, saved: FollowState | null) {
    this.#plan = plan;
    this.#parts = parts;
    this.#record = new FollowRecord(plan, parts, saved);
    this.#watched = new WatchedTime(plan.intervalMs, (span) =>
      parts.writeWatched?.({ ...span, org_url: plan.orgUrl, monitor_id: this.#record.monitorId }),
    );
    this.#isRestart = saved !== null;
    this.#retry = saved === null ? null : { atMs: 0, events: saved.retryEvents };
    this.#deciding = new DecidingOrgPolicy(plan.orgPolicy, saved?.orgPolicy ?? null, parts.say);
    this.#org = new FollowedOrg(plan, parts, saved?.answers ?? []);
    this.#verdicts = new Verdicts(plan, parts, saved);
    const { clock, say } = parts;
    this.#log = new SystemLog({ pages: this.#org, clock, say, reconcileMs: plan.reconcileMs, saved });
    this.#lastFullMs = saved === null ? 0 : Date.parse(saved.lastFullAt);
    this.#blindScanMs = saved?.blindScanMs ?? 0;
  }

  async run(): Promise<FollowEnd> {
    const [plan, parts] = [this.#plan, this.#parts];
    await this.#org.connect({ forgetsProbe: this.#isRestart });
    const monitor = parts.openMonitor?.({
      monitorId: this.#record.monitorId,
      registration: {
        org_url: plan.orgUrl,
        client_id: plan.clientId,
        benchmark: plan.benchmark,
        interval_seconds: plan.intervalMs / 1000,
        checks_total: plan.checks.length,
      },
      changes: this.#record,
      onRegistered: (registered) => this.#record.registered(registered),
    });
    this.#monitor = this.#record.monitor = monitor ?? null;
    const isOtherPolicy = this.#deciding.isOther(parts.clock.nowMs());
    if (this.#isRestart) await this.#resume(isOtherPolicy ? "org_policy" : "reconciliation");
    else await this.#reconcile("start");
    for (;;) {
      await this.#decide();
      const isMore = await this.#poll();
      await this.#collectFailed();
      this.#report();
      this.#watch();
      const end = this.#end(isMore);
      if (end !== null) {
        await this.#record.saveRest();
        return end;
      }
      if (isMore) continue;
      await this.#record.saveWhenDue();
      await parts.clock.sleep(this.#pauseMs(), plan.signal);
    }
  }

  /** Ends the monitor for a reason, or only this process; saves the last whole round, and closes the connection. */
  async close(reason: string | null): Promise<void> {
    await this.#monitor?.end(reason);
    this.#watched.end();
    await this.#record.saveRest();
    await this.#org.close();
  }

  #watch(): void {
    const readMs = this.#log.status().log_status === "reading" ? this.#log.polledMs : null;
    this.#watched.polled(readMs, this.#parts.clock.nowMs());
  }

  #end(isMore: boolean): FollowEnd | null {
    if (this.#verdicts.hasFailed) return "failed";
    if (this.#plan.untilClean && this.#verdicts.isClean()) return "clean";
    return this.#plan.once && !isMore ? "caught_up" : null;
  }

  /** Evaluates the saved evidence without a request: another version or selection of checks may give other results. */
  async #resume(cause: Round["cause"]): Promise<void> {
    this.#record.writeState();
    this.#record.publish();
    await this.#round({ events: [], cause });
  }

  /** A decision that begins or ends, and another document, change results without any event in the log. */
  async #decide(): Promise<void> {
    const areOthers = await this.#parts.decisions.refresh(this.#parts.clock.nowMs());
    if (areOthers) await this.#round({ events: [], cause: "reconciliation" });
    await this.#plan.orgPolicy.refresh();
    if (this.#deciding.isOther(this.#parts.clock.nowMs())) await this.#round({ events: [], cause: "org_policy" });
  }

  /** One poll of the log, and the round that follows from it. True when the log goes on. */
  async #poll(): Promise<boolean> {
    const plan = this.#plan;
    const nowMs = this.#parts.clock.nowMs();
    const isDue = nowMs - this.#lastFullMs >= plan.reconcileMs || nowMs < this.#lastFullMs;
    if (isDue) {
      await this.#reconcile("reconciliation");
      return false;
    }
    const reading = await this.#log.read();
    if (typeof reading !== "string") {
      await this.#take(reading);
      return reading.isMore;
    }
    const isScanned = reading === "lost" && (await this.#beginAgain());
    // Otherwise this run would poll nothing.
    if (!isScanned && plan.once && this.#isRestart) await this.#reconcile("reconciliation");
    return false;
  }

  /** Without a cursor that is good: a full scan, and the time between is said to be unknown. False where the log cannot be read. */
  async #beginAgain(): Promise<boolean> {
    const fromMs = this.#log.polledMs ?? this.#lastFullMs;
    this.#watched.end();
    if (!(await this.#log.begin())) return false;
    this.#log.reportGap(fromMs, this.#parts.clock.nowMs());
    this.#report();
    await this.#reconcile("reconciliation", { isGap: true });
    this.#log.clearGap();
    return true;
  }

  async #take({ events, cursor }: LogEvents): Promise<void> {
    const relevant = await this.#invalidate(events);
    this.#log.advance(cursor);
    if (relevant.length === 0) this.#commit();
    else await this.#round({ events: relevant, cause: "reconciliation" });
  }

  async #invalidate(events: readonly LogEvent[]): Promise<readonly Relevant[]> {
    const published = events.flatMap((event) => (event.published === null ? [] : [Date.parse(event.published)]));
    const oldest = Math.min(...published.filter((ms) => !Number.isNaN(ms)));
    this.#lagSeconds = Number.isFinite(oldest) ? Math.max(0, (this.#parts.clock.nowMs() - oldest) / 1000) : 0;
    return this.#org.invalidate(events);
  }

  /** A full scan. What the log says in the meantime is read again after it, so that no change falls between. */
  async #reconcile(cause: Round["cause"], { isGap = false } = {}): Promise<void> {
    if (cause !== "start" && !isGap) {
      await this.#org.reconnect();
      await this.#drain();
    }
    if (!this.#log.hasCursor) await this.#log.begin();
    const startedMs = this.#parts.clock.nowMs();
    const blindScanMs = this.#org.nowMs();
    await this.#org.collectAll();
    const events = await this.#readAgain();
    this.#lastFullMs = startedMs;
    const isBlind = this.#log.status().log_status === "unreadable";
    if (isBlind && !this.#org.hasFailed()) this.#blindScanMs = blindScanMs;
    await this.#round({ events: isGap || cause === "start" ? [] : events, cause });
  }

  /** Reads the log before a full scan, so that the scan does not find first what the log explains. */
  async #drain(): Promise<void> {
    for (;;) {
      const reading = await this.#log.read();
      // A gap is reported at the next poll.
      if (typeof reading === "string") return;
      await this.#take(reading);
      if (!reading.isMore) return;
    }
  }

  /** Reads what the log says since; it may touch evidence that was just collected. */
  async #readAgain(): Promise<readonly Relevant[]> {
    const reading = await this.#log.read();
    if (typeof reading === "string") return [];
    const events = await this.#org.invalidate(reading.events);
    this.#log.advance(reading.cursor);
    return events;
  }

  /** Tries again what could not be collected. */
  async #collectFailed(): Promise<void> {
    if (this.#retry === null || this.#parts.clock.nowMs() < this.#retry.atMs) return;
    this.#org.invalidateFailed();
    await this.#round({ events: this.#retry.events, cause: "reconciliation" });
  }

  #planRetry(events: readonly Relevant[], nowMs: number): void {
    const { atMs = 0, events: known = [] } = this.#retry ?? {};
    const kept = [...new Set([...known, ...events])].slice(-maxKeptEvents);
    const nextMs = atMs > nowMs ? atMs : nowMs + retryMs;
    this.#retry = this.#org.hasFailed() ? { atMs: nextMs, events: kept } : null;
  }

  /** Collects what is invalid, judges, compares, and makes the changes known. */
  async #round({ events, cause }: Round): Promise<void> {
    let artifacts = await this.#org.collect();
    const round = { events: [...events], cause };
    if (events.length > 0) {
      // The evidence may hold a change that is newer than the events, and they would name somebody else for it.
      round.events.push(...(await this.#readAgain()));
      artifacts = await this.#org.collect();
    }
    const nowMs = this.#parts.clock.nowMs();
    const { monitorId } = this.#record;
    // An event before a full scan without the log is in its results already, and explains no later change.
    const isLater = ({ event }: Relevant) => !(Date.parse(event.published ?? "") < this.#blindScanMs);
    const explaining = { cause, events: round.events.filter(isLater) };
    const lines = this.#verdicts.judge(explaining, { artifacts, engine: this.#org.engine, nowMs, monitorId });
    this.#planRetry(round.events, nowMs);
    this.#commit();
    await this.#record.add(lines);
  }

  #report(): void {
    const { clock } = this.#parts;
    const status = this.#log.status();
    const isReading = status.log_status === "reading";
    const polledMs = isReading ? this.#log.polledMs : this.#lastFullMs;
    const lagSeconds = isReading || polledMs === null ? this.#lagSeconds : (clock.nowMs() - polledMs) / 1000;
    this.#monitor?.polled({
      last_look_at: polledMs === null ? null : new Date(polledMs).toISOString(),
      lag_seconds: Math.max(0, lagSeconds),
      ...this.#verdicts.counts(),
      ...status,
    });
  }

  /** The time until the next poll. A clock that was set must neither hold the follower up nor let it run without a pause. */
  #pauseMs(): number {
    const { intervalMs, reconcileMs } = this.#plan;
    const nowMs = this.#parts.clock.nowMs();
    const dueMs = Math.min(this.#lastFullMs + reconcileMs, this.#retry?.atMs ?? Number.POSITIVE_INFINITY) - nowMs;
    return Math.min(intervalMs, Math.max(1, dueMs));
  }

  #commit(): void {
    this.#record.commit({
      orgUrl: this.#plan.orgUrl,
      lastFullAt: new Date(this.#lastFullMs).toISOString(),
      blindScanMs: this.#blindScanMs,
      benchmark: this.#plan.benchmark,
      orgPolicy: this.#deciding.digest,
      ...this.#log.toSave(),
      answers: this.#org.toSave(),
      findings: this.#verdicts.findings(),
      retryEvents: this.#retry?.events ?? [],
    });
  }
}
