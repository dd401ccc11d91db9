import { decidingOrgPolicy } from "../org_policy/read_org_policy.ts";
import { unlessAborted } from "../run_scan.ts";
import type { FollowEnd, FollowParts, FollowPlan } from "./follow_plan.ts";
import { createRecord } from "./follow_record.ts";
import { loadState, type FollowState } from "./follow_state.ts";
import { connectOrg, type FollowedOrg } from "./followed_org.ts";
import type { Relevant } from "./log_event.ts";
import { openSystemLog } from "./system_log.ts";
import { createVerdicts, type OtherCause } from "./verdicts.ts";
import { createWatchedTime } from "./watched_time.ts";

/** Delay before evidence that could not be collected is tried again. */
const retryMs = 45_000;
/** Events that are kept to explain a change that is seen later. */
const maxKeptEvents = 500;

const endReasons: Partial<Record<FollowEnd, string>> = {
  clean: "No check fails any more (--until-clean)",
  failed: "A new finding matches --fail-on",
};

/**
 * Follows an org: resolves when it has done what it was asked for, or was interrupted; its state is saved then. `isSaved`: false where
 * it could not be.
 */
export async function follow(plan: FollowPlan, parts: FollowParts) {
  const { signal } = plan;
  const saved = await loadState(plan.directory, plan.orgUrl, parts.say);
  const org = await unlessAborted(connectOrg(plan, parts, saved), signal);
  if (org === null) return { end: "interrupted", isSaved: true } as const;
  const { run, close, isSaved } = createFollower(plan, parts, { saved, org });
  let end: FollowEnd | null = null;
  try {
    end = await unlessAborted(run(), signal);
  } finally {
    await close(end && (endReasons[end] ?? null));
  }
  return { end: end ?? "interrupted", isSaved: isSaved() };
}

function createFollower(
  plan: FollowPlan,
  parts: FollowParts,
  { saved, org }: { readonly saved: FollowState | null; readonly org: FollowedOrg },
) {
  const { clock, say } = parts;
  const { orgUrl, reconcileMs } = plan;
  const record = createRecord(plan, parts, saved);
  const log = openSystemLog({ pages: org, clock, say, reconcileMs, saved });
  const isReading = () => log.status().log_status === "reading";
  const verdicts = createVerdicts(plan, parts, saved);
  const deciding = decidingOrgPolicy(plan.orgPolicy, saved?.orgPolicy ?? null, say);
  const watched = createWatchedTime(plan.intervalMs, (span) =>
    parts.write([{ ...span, org_url: orgUrl, monitor_id: record.monitorId() }]),
  );
  let lastFullMs = saved === null ? 0 : Date.parse(saved.lastFullAt);
  /** The same, of the scan before the results that were judged last. */
  let scannedMs = lastFullMs;
  /** When the last full scan began that read everything but the log, by the provider's clock. */
  let blindScanMs = saved?.blindScanMs ?? 0;
  /** Failed artifacts are collected again at that time; the events may explain the results then. */
  let retry: { readonly atMs: number; readonly events: readonly Relevant[] } | null =
    saved === null ? null : { atMs: 0, events: saved.retryEvents };
  /** Age of the oldest event of this poll. */
  let lagSeconds = 0;
  /** When results were judged last. */
  let judgedMs = 0;
  return { run, close, isSaved: record.isSaved };

  async function run(): Promise<FollowEnd> {
    // Noted before anything is judged, so that the first state that is saved names it.
    const isOtherPolicy = deciding.isOther(clock.nowMs());
    if (saved === null) await reconcile("start");
    else await resume(isOtherPolicy ? "org_policy" : "reconciliation");
    for (;;) {
      await decide();
      const isMore = await poll();
      await collectFailed();
      if (!isMore) watch();
      await report();
      if (verdicts.hasFailed()) return "failed";
      if (plan.untilClean && verdicts.isClean()) return "clean";
      if (isMore) continue;
      if (plan.once) return "caught_up";
      await clock.sleep(pauseMs(), plan.signal);
    }
  }

  /** Ends the monitor for a reason, or only this process; saves the last whole round, and closes the connection. */
  async function close(reason: string | null): Promise<void> {
    watched.end();
    await record.close(reason);
    await org.close();
  }

  /** Evaluates the saved evidence without a request: another version or selection of checks may give other results. */
  async function resume(cause: OtherCause): Promise<void> {
    record.writeState();
    record.publish();
    await round([], cause);
  }

  /** A decision that begins or ends, and another document, change results without any event in the log. */
  async function decide(): Promise<void> {
    if (await parts.decisions.refresh(clock.nowMs())) await round([], "reconciliation");
    await plan.orgPolicy.refresh();
    if (deciding.isOther(clock.nowMs())) await round([], "org_policy");
  }

  /** One poll of the log, and the round that follows from it. True when the log goes on. */
  async function poll(): Promise<boolean> {
    const nowMs = clock.nowMs();
    lagSeconds = 0;
    if (nowMs - lastFullMs >= reconcileMs || nowMs < lastFullMs) {
      await reconcile("reconciliation");
      return false;
    }
    const reading = await readLog();
    if (typeof reading !== "string") {
      await take(reading.events);
      return reading.isMore;
    }
    const isScanned = reading === "lost" && (await beginAgain());
    // Otherwise this run would poll nothing.
    if (!isScanned && plan.once && saved !== null) await reconcile("reconciliation");
    return false;
  }

  /** Reads what the log says since, and makes invalid what it touches; that may be evidence which was just collected. */
  async function readLog() {
    const reading = await log.read();
    if (typeof reading === "string") return reading;
    const { events, isMore } = reading;
    const relevant = await org.invalidate(events);
    for (const { published } of events) {
      const ageSeconds = (clock.nowMs() - Date.parse(published ?? "")) / 1000;
      if (ageSeconds > lagSeconds) lagSeconds = ageSeconds;
    }
    return { events: relevant, isMore };
  }

  async function take(events: readonly Relevant[]): Promise<void> {
    if (events.length === 0) commit();
    else await round(events, "reconciliation");
  }

  /** The events that the log has since; none where it cannot be read. */
  async function readAgain(): Promise<readonly Relevant[]> {
    const reading = await readLog();
    return typeof reading === "string" ? [] : reading.events;
  }

  /** Without a cursor that is good: a full scan, and the time between is said to be unknown. False where the log cannot be read. */
  async function beginAgain(): Promise<boolean> {
    const fromMs = log.polledMs() ?? lastFullMs;
    watched.end();
    if (!(await log.begin())) return false;
    log.reportGap(fromMs, clock.nowMs());
    await report();
    await scanAll("reconciliation", { isExplained: false });
    return true;
  }

  /** A full scan, after other scopes may have been granted. The log is read before it, so that it does not find first what the log explains. */
  async function reconcile(cause: OtherCause): Promise<void> {
    if (cause !== "start") {
      await org.reconnect();
      for (let isMore = true; isMore;) {
        const reading = await readLog();
        // A gap is reported at the next poll.
        if (typeof reading === "string") break;
        await take(reading.events);
        ({ isMore } = reading);
      }
    }
    await scanAll(cause, { isExplained: cause !== "start" });
  }

  /** Reads everything. The log is read again after it, so that no change falls between. */
  async function scanAll(cause: OtherCause, { isExplained }: { readonly isExplained: boolean }): Promise<void> {
    if (!log.hasCursor()) await log.begin();
    const startedMs = clock.nowMs();
    const providerMs = org.nowMs();
    await org.collectAll();
    const events = await readAgain();
    lastFullMs = startedMs;
    if (log.status().log_status === "unreadable" && !org.hasFailed()) blindScanMs = providerMs;
    await round(isExplained ? events : [], cause);
  }

  /** A result is known from when it was judged, which is after the log was read. */
  function watch(): void {
    const knownMs = Math.max(log.polledMs() ?? 0, judgedMs);
    watched.polled(isReading() ? knownMs : null, clock.nowMs());
  }

  /** Tries again what could not be collected. */
  async function collectFailed(): Promise<void> {
    if (retry === null || clock.nowMs() < retry.atMs) return;
    org.invalidateFailed();
    await round(retry.events, "reconciliation");
  }

  /** Collects what is invalid, judges, compares, and makes the changes known. `cause` is that of a change that no event explains. */
  async function round(given: readonly Relevant[], cause: OtherCause): Promise<void> {
    let artifacts = await org.collect();
    let events = given;
    if (events.length > 0) {
      // The evidence may hold a change that is newer than the events, and they would name somebody else for it.
      events = [...events, ...(await readAgain())];
      artifacts = await org.collect();
    }
    const nowMs = clock.nowMs();
    judgedMs = nowMs;
    // An event before a full scan without the log is in its results already, and explains no later change.
    const later = events.filter(({ event }) => !(Date.parse(event.published ?? "") < blindScanMs));
    const engine = org.engine();
    const monitorId = record.monitorId();
    const lines = verdicts.judge({ events: later, cause, artifacts, engine, nowMs, scannedMs, monitorId });
    scannedMs = lastFullMs;
    retry = org.hasFailed() ? nextRetry(events, nowMs) : null;
    commit();
    watch();
    await record.add(lines);
  }

  function nextRetry(events: readonly Relevant[], nowMs: number): typeof retry {
    const { atMs = 0, events: known = [] } = retry ?? {};
    const kept = [...new Set([...known, ...events])].slice(-maxKeptEvents);
    // After a clock was set back, the time before would be hours away.
    return { atMs: atMs > nowMs ? Math.min(atMs, nowMs + retryMs) : nowMs + retryMs, events: kept };
  }

  async function report(): Promise<void> {
    // Without the log what it said last still holds, or a full scan since.
    const polledMs = isReading() ? log.polledMs() : Math.max(log.polledMs() ?? 0, lastFullMs);
    const lag = isReading() || polledMs === null ? lagSeconds : (clock.nowMs() - polledMs) / 1000;
    await record.polled({
      last_look_at: polledMs === null ? null : new Date(polledMs).toISOString(),
      lag_seconds: Math.max(0, lag),
      ...verdicts.counts(),
      ...log.status(),
    });
  }

  /** The time until the next poll. A clock that was set must neither hold the follower up nor let it run without a pause. */
  function pauseMs(): number {
    const dueMs = Math.min(lastFullMs + reconcileMs, retry?.atMs ?? Number.POSITIVE_INFINITY) - clock.nowMs();
    return Math.min(plan.intervalMs, Math.max(1, dueMs));
  }

  function commit(): void {
    record.commit({
      orgUrl,
      lastFullAt: new Date(lastFullMs).toISOString(),
      blindScanMs,
      benchmark: plan.benchmark,
      orgPolicy: deciding.digest(),
      ...log.toSave(),
      answers: org.toSave(),
      findings: verdicts.toSave(),
      retryEvents: retry?.events ?? [],
    });
  }
}
