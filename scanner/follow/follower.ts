import type { CatalogCheck } from "../catalog/catalog.ts";
import type { ArtifactName, CollectedArtifacts } from "../evidence/artifacts.ts";
import { createCollection } from "../evidence/collect.ts";
import { createRememberedAnswers, type RememberedAnswers } from "../evidence/remembered_answers.ts";
import { evaluateCheck } from "../evaluate.ts";
import type { Connection } from "../idp/connection.ts";
import { IdpError } from "../idp/idp_error.ts";
import { probeRequests } from "../idp/probe_requests.ts";
import { toContext } from "../run_scan.ts";
import {
  compareFindings,
  isNewFailure,
  countChecks,
  isAnyFailing,
  toLine,
  type ChangeLine,
  type KnownFinding,
  type MissingList,
  type Move,
} from "./changes.ts";
import { touchOf, type Touch } from "./event_map.ts";
import type { FollowEvidence, FollowState } from "./follow_state.ts";
import type { FollowEnd, FollowParts, FollowPlan } from "./follow_plan.ts";
import { StateSaver } from "./state_saver.ts";
import { explain, type Relevant } from "./explanations.ts";
import type { LogEvent } from "./log_event.ts";
import { createLogReader, type LogReader, type LogReading } from "./log_reader.ts";
import type { LookError } from "./monitor_port.ts";

/** The log is read from so long before the start: this machine's clock may be ahead of the provider's. */
const startMarginMs = 300_000;
/** While events of one transaction may still come, the log is read more often, for so long at the most. */
const settleMs = 5000;
const settlePollMs = 2500;
/** What could not be collected again is tried again within a minute. */
const retryMs = 45_000;
/** The provider keeps its log for 90 days. */
const maxCursorAgeMs = 89 * 86_400_000;
/** How often the state is written when nothing but the time moved. */
const saveMs = 60_000;
/** Events that are kept to explain a change that is seen later. */
const maxKept = 500;

/** Follows an org: resolves when it has done what it was asked for, or was interrupted; its state is saved then. */
export async function follow(plan: FollowPlan, parts: FollowParts): Promise<FollowEnd> {
  const saved = await parts.store.load(plan.orgUrl, parts.say);
  const follower = new Follower(plan, parts, saved);
  try {
    const end = await follower.run();
    if (end === "clean" || end === "failed") await parts.monitor.ended(end);
    else await parts.monitor.stopped();
    return end;
  } catch (error) {
    await parts.monitor.stopped();
    if (!plan.signal.aborted) throw error;
    return "interrupted";
  } finally {
    await follower.close();
  }
}

interface Round {
  /** What may have moved: checks that read one of these; null: any. */
  readonly artifacts: ReadonlySet<ArtifactName> | null;
  readonly events: readonly Relevant[];
  /** Of a change that no event explains. */
  readonly cause: "reconciliation" | "start";
}

type LogStatus = "reading" | "unreadable" | "unknown";

class Follower {
  readonly #plan: FollowPlan;
  readonly #parts: FollowParts;
  readonly #monitorId: string;
  readonly #isRestart: boolean;
  #connection: Connection | null = null;
  #reader: LogReader | null = null;
  #memory: RememberedAnswers;
  #artifacts: CollectedArtifacts = {};
  #findings: Map<string, readonly KnownFinding[]>;
  /** Checks that a person attests to fail. */
  readonly #attestedFails = new Set<string>();
  #judged: Set<string>;
  #evidence: FollowEvidence;
  #cursor: string | null;
  #lastLookMs: number | null;
  #lastFullMs: number;
  #logStatus: LogStatus = "unknown";
  /** The log was refused: it is asked for again at a reconciliation, and when the doorbell rings. */
  #isForbidden = false;
  #error: LookError | null = null;
  #lagSeconds = 0;
  #pending: readonly ChangeLine[];
  #committed: FollowState | null;
  readonly #saver: StateSaver;
  /** Events whose artifacts could not be collected again yet, and events of transactions that may go on. */
  #waiting: readonly Relevant[] = [];
  #recent: readonly Relevant[] = [];
  #retryAtMs: number | null = null;
  #retries = 0;
  #burstMs: number | null = null;
  #hasFailed = false;

  constructor(plan: FollowPlan, parts: FollowParts, saved: FollowState | null) {
    this.#plan = plan;
    this.#parts = parts;
    this.#saver = new StateSaver(parts);
    this.#isRestart = saved !== null;
    this.#committed = saved;
    this.#monitorId = saved?.monitorId ?? parts.newId();
    this.#evidence = saved?.evidence ?? { answers: [], findings: [] };
    this.#memory = createRememberedAnswers({ source: () => this.#client(), saved: this.#evidence.answers });
    this.#findings = new Map(Map.groupBy(this.#evidence.findings, ({ check }) => check));
    this.#judged = new Set(saved?.checks);
    this.#cursor = saved?.cursor ?? null;
    const lookedAt = saved?.lastLookAt ?? null;
    this.#lastLookMs = lookedAt === null ? null : Date.parse(lookedAt);
    this.#lastFullMs = saved === null ? 0 : Date.parse(saved.lastFullAt);
    this.#pending = saved?.pending ?? [];
  }

  async run(): Promise<FollowEnd> {
    const { plan, parts } = { plan: this.#plan, parts: this.#parts };
    await this.#connect({ forgetsProbe: this.#isRestart });
    parts.monitor.started({
      monitorId: this.#monitorId,
      orgUrl: plan.orgUrl,
      clientId: plan.clientId,
      intervalSeconds: plan.intervalMs / 1000,
      checksTotal: plan.checks.length,
    });
    if (this.#isRestart) await this.#resume();
    else await this.#reconcile("start");
    let wasRung = false;
    for (;;) {
      const isMore = await this.#look(wasRung);
      await this.#retry();
      this.#report();
      const end = this.#end(isMore);
      if (end !== null) {
        await this.#save();
        return end;
      }
      if (isMore) continue;
      if (this.#parts.clock.nowMs() - this.#saver.lastSaveMs >= saveMs) await this.#save();
      wasRung = await parts.doorbell.wait(this.#pauseMs(), parts.clock, plan.signal);
    }
  }

  /** Saves the last whole round, and closes the connection. */
  async close(): Promise<void> {
    if (!this.#saver.isSaved && this.#committed !== null) await this.#saver.save(this.#committed);
    await this.#connection?.close();
  }

  #end(isMore: boolean): FollowEnd | null {
    if (this.#hasFailed) return "failed";
    if (this.#plan.untilClean && this.#attestedFails.size === 0 && !isAnyFailing(this.#findings.values()))
      return "clean";
    return this.#plan.once && !isMore ? "caught_up" : null;
  }

  /** With the evidence of before, without a request: another version or selection of checks may judge it otherwise. */
  async #resume(): Promise<void> {
    const again = this.#pending;
    if (again.length > 0) this.#publish(again);
    await this.#round({ artifacts: null, events: [], cause: "reconciliation" });
    if (this.#memory.failed().length > 0) this.#planRetry();
  }

  /** One look at the log, and what follows from it. True when the log goes on. */
  async #look(wasRung: boolean): Promise<boolean> {
    const { plan, parts } = { plan: this.#plan, parts: this.#parts };
    const nowMs = parts.clock.nowMs();
    const isDue = nowMs - this.#lastFullMs >= plan.reconcileMs || nowMs < this.#lastFullMs;
    if (isDue) {
      await this.#reconcile("reconciliation");
      return false;
    }
    if (this.#isForbidden && !wasRung) {
      // Otherwise this run would look at nothing.
      if (plan.once && this.#isRestart) await this.#reconcile("reconciliation");
      return false;
    }
    if (this.#isForbidden) await this.#reconnect({ forgetsProbe: true });
    if (this.#cursor === null || this.#isCursorOld(nowMs)) return this.#beginAgain();
    const reading = await this.#read(this.#cursor);
    if (reading.kind === "events") {
      await this.#take(reading);
      return reading.isMore;
    }
    if (reading.kind === "lost") return this.#beginAgain();
    if (plan.once && this.#isRestart) await this.#reconcile("reconciliation");
    return false;
  }

  /** Without a cursor that is good: a full scan, and the time between is said to be unknown. */
  async #beginAgain(): Promise<false> {
    const from = this.#lastLookMs ?? this.#lastFullMs;
    this.#cursor = null;
    const reading = await this.#begin();
    if (reading?.kind !== "events") return false;
    const gap = { gapFrom: toIso(from), gapTo: toIso(this.#parts.clock.nowMs()) };
    const detail = `The System Log could not be read from where it was left: what happened from ${gap.gapFrom} to ${gap.gapTo} is known by a full scan only, not by whom`;
    this.#error = { code: "log_gap", detail, ...gap };
    this.#parts.say(detail);
    this.#report();
    await this.#reconcile("reconciliation", { isGap: true });
    this.#error = null;
    return false;
  }

  async #take({ events, cursor }: Extract<LogReading, { readonly kind: "events" }>): Promise<void> {
    const relevant = await this.#refresh(events);
    this.#cursor = cursor;
    if (relevant.length === 0) {
      this.#burstMs = null;
      this.#saver.isSaved &&= events.length === 0;
      this.#commit([]);
      return;
    }
    const nowMs = this.#parts.clock.nowMs();
    if (this.#burstMs === null || nowMs - this.#burstMs >= settleMs) this.#burstMs = nowMs;
    const artifacts = new Set(relevant.flatMap((event) => event.artifacts));
    await this.#round({ artifacts, events: relevant, cause: "reconciliation" });
  }

  /** Makes doubtful what the events touch; it is read again in the round that follows. */
  async #refresh(events: readonly LogEvent[]): Promise<readonly Relevant[]> {
    const seenAtMs = this.#parts.clock.nowMs();
    const touched = events.flatMap((event): readonly { event: LogEvent; touch: Touch }[] => {
      const touch = touchOf(event, this.#memory);
      return touch === null || touch.artifacts.length === 0 ? [] : [{ event, touch }];
    });
    for (const { touch } of touched) this.#memory.forget(touch.paths);
    const apps = touched.flatMap(({ touch }) => touch.apps);
    if (apps.length > 0) await this.#memory.refreshApps(apps);
    const published = events.flatMap((event) => (event.published === null ? [] : [Date.parse(event.published)]));
    const oldest = Math.min(...published.filter((ms) => !Number.isNaN(ms)));
    this.#lagSeconds = Number.isFinite(oldest) ? Math.max(0, (seenAtMs - oldest) / 1000) : 0;
    return touched.map(({ event, touch }) => ({ event, artifacts: touch.artifacts, seenAtMs }));
  }

  /** A full scan. What the log says meanwhile is read again after it, so that no change falls between. */
  async #reconcile(cause: Round["cause"], { isGap = false } = {}): Promise<void> {
    if (cause !== "start" && !isGap) {
      await this.#reconnect({ forgetsProbe: false });
      await this.#drain();
    }
    if (this.#cursor === null) await this.#begin();
    const startedMs = this.#parts.clock.nowMs();
    const before = this.#memory;
    this.#memory = createRememberedAnswers({ source: () => this.#client(), before });
    try {
      await this.#collect();
    } catch (error) {
      this.#memory = before;
      throw error;
    }
    let events: readonly Relevant[] = [];
    if (this.#cursor !== null && !this.#isForbidden) {
      const reading = await this.#read(this.#cursor);
      if (reading.kind === "events") {
        events = await this.#refresh(reading.events);
        this.#cursor = reading.cursor;
      }
    }
    this.#lastFullMs = startedMs;
    await this.#round({ artifacts: null, events: isGap || cause === "start" ? [] : events, cause });
  }

  /** Before a full scan, so that what the log explains is not found by the scan first. */
  async #drain(): Promise<void> {
    while (this.#cursor !== null && !this.#isForbidden) {
      const reading = await this.#read(this.#cursor);
      if (reading.kind === "events") await this.#take(reading);
      // The gap is reported at the next look.
      if (reading.kind !== "events" || !reading.isMore) return;
    }
  }

  /** Tries again what could not be collected. */
  async #retry(): Promise<void> {
    if (this.#retryAtMs === null || this.#parts.clock.nowMs() < this.#retryAtMs) return;
    this.#retries++;
    this.#memory.forget(this.#memory.failed().map(({ path }) => path));
    await this.#round({ artifacts: null, events: this.#waiting, cause: "reconciliation" });
  }

  /** Collects what is doubtful, judges, compares, and makes the changes known. */
  async #round(round: Round): Promise<void> {
    const { plan, parts } = { plan: this.#plan, parts: this.#parts };
    await this.#collect();
    const nowMs = parts.clock.nowMs();
    const seenAt = toIso(nowMs);
    const context = toContext({
      engine: this.#connection?.org.engine ?? "unknown",
      evaluatedAt: seenAt,
      orgUrl: plan.orgUrl,
      approvedIssuers: plan.approvedIssuers,
    });
    const lines: ChangeLine[] = [];
    const used = new Set<Relevant>();
    for (const check of plan.checks) {
      const needs = this.#needs(check);
      const isNew = !this.#judged.has(check.name);
      if (!isNew && round.artifacts !== null && !needs.some((name) => round.artifacts?.has(name))) continue;
      const evaluated = evaluateCheck(check, this.#artifacts, context);
      const [result = evaluated] = parts.decide([evaluated]);
      if (result.attestation?.status === "FAIL") this.#attestedFails.add(check.name);
      else this.#attestedFails.delete(check.name);
      const before = this.#findings.get(check.name) ?? [];
      const { moves, known } = compareFindings(before, result, missingOf(needs, this.#artifacts));
      this.#findings.set(check.name, known);
      this.#judged.add(check.name);
      if (moves.length === 0) continue;
      const explaining = isNew ? [] : explain(needs, round.events, this.#recent);
      for (const event of explaining) used.add(event);
      const cause = isNew ? "start" : explaining.length > 0 ? "log" : round.cause;
      const events = explaining.map(({ event }) => event);
      for (const move of moves) lines.push(this.#line(move, { seenAt, cause, events }));
      if (!isNew) this.#hasFailed ||= moves.some((move) => isNewFailure(move, plan.failOn, check.rule.severity));
    }
    this.#forgetDeselected();
    this.#keep(round, used);
    this.#evidence = { answers: this.#memory.saved(), findings: [...this.#findings.values()].flat() };
    this.#saver.isSaved = false;
    this.#commit(lines);
    await this.#save();
    if (lines.length === 0) return;
    this.#publish(lines);
    this.#commit([]);
    await this.#save();
  }

  #line(
    move: Move,
    facts: { readonly seenAt: string; readonly cause: ChangeLine["cause"]; readonly events: readonly LogEvent[] },
  ): ChangeLine {
    return toLine(move, { id: this.#parts.newId(), withAddresses: this.#plan.withAddresses, ...facts });
  }

  /** What may explain a later change, and when to try again what failed. */
  #keep({ events }: Round, used: ReadonlySet<Relevant>): void {
    const nowMs = this.#parts.clock.nowMs();
    this.#recent = [...this.#recent, ...events]
      .filter((event) => !used.has(event) && nowMs - event.seenAtMs < settleMs + this.#plan.intervalMs)
      .slice(-maxKept);
    const failed = this.#memory.failed();
    if (failed.length === 0) {
      this.#waiting = [];
      this.#retryAtMs = null;
      this.#retries = 0;
      return;
    }
    this.#waiting = [...new Set([...this.#waiting, ...events])].slice(-maxKept);
    this.#planRetry();
  }

  /** What was never obtained is not tried each minute until the next reconciliation: it may never be there. */
  #planRetry(): void {
    const wasObtained = this.#memory.failed().some((answer) => answer.wasObtained);
    const delayMs = wasObtained ? retryMs : retryMs * 2 ** Math.min(this.#retries, 20);
    const nowMs = this.#parts.clock.nowMs();
    const isPlanned = this.#retryAtMs !== null && this.#retryAtMs > nowMs;
    if (!isPlanned) this.#retryAtMs = nowMs + delayMs;
  }

  async #collect(): Promise<void> {
    const collection = createCollection(this.#memory, { signal: this.#plan.signal });
    await Promise.all(this.#plan.checks.map((check) => collection.obtainFor(check)));
    this.#artifacts = collection.artifacts();
  }

  #needs(check: CatalogCheck): readonly ArtifactName[] {
    try {
      return [...check.artifacts, ...check.conditionalArtifacts(this.#artifacts)];
    } catch {
      return check.artifacts;
    }
  }

  /** Of another selection of checks. */
  #forgetDeselected(): void {
    const selected = new Set(this.#plan.checks.map(({ name }) => name));
    for (const name of this.#findings.keys()) if (!selected.has(name)) this.#findings.delete(name);
    this.#judged = new Set([...this.#judged].filter((name) => selected.has(name)));
  }

  async #begin(): Promise<LogReading | null> {
    if (this.#reader === null) return null;
    const reading = await this.#reader.begin(this.#parts.clock.nowMs() - startMarginMs);
    this.#note(reading);
    if (reading.kind === "events") this.#cursor = reading.cursor;
    return reading;
  }

  async #read(cursor: string): Promise<LogReading> {
    if (this.#reader === null) return { kind: "failed", detail: "There is no connection" };
    const reading = await this.#reader.read(cursor);
    this.#note(reading);
    return reading;
  }

  /** Keeps whether the log can be read, and says so when that changes. */
  #note(reading: LogReading): void {
    const { say } = this.#parts;
    if (reading.kind === "events") {
      if (this.#logStatus === "unreadable") say("The System Log can be read again");
      this.#logStatus = "reading";
      this.#isForbidden = false;
      this.#error = null;
      this.#lastLookMs = this.#parts.clock.nowMs();
      return;
    }
    if (reading.kind === "lost") return;
    this.#isForbidden = reading.kind === "forbidden";
    const code = this.#isForbidden ? "log_forbidden" : "log_unreadable";
    const hours = this.#plan.reconcileMs / 3_600_000;
    const detail = `The System Log cannot be read, so changes are found by a full scan every ${hours} h only: ${reading.detail}`;
    if (this.#error?.code !== code) say(detail);
    this.#error = { code, detail };
    this.#logStatus = "unreadable";
  }

  #client(): Connection["client"] {
    if (this.#connection === null) throw new Error("Cannot read from the provider: there is no connection");
    return this.#connection.client;
  }

  async #connect({ forgetsProbe }: { readonly forgetsProbe: boolean }): Promise<void> {
    const { plan, parts } = { plan: this.#plan, parts: this.#parts };
    const probes = probeRequests(plan.checks.flatMap((check) => check.artifacts));
    // The probe's answer serves a full scan that follows at once; later it would be an old one.
    const connection = await parts.connect({ signal: plan.signal, probes, forgetsProbe });
    await this.#connection?.close();
    this.#connection = connection;
    this.#reader = createLogReader({
      pages: connection.client,
      seen: this.#reader?.seen() ?? this.#committed?.seen ?? [],
    });
  }

  /** Other scopes may be granted by now, and tokens that were refused early are requested again. The old connection stays where this fails. */
  async #reconnect(options: { readonly forgetsProbe: boolean }): Promise<void> {
    try {
      await this.#connect(options);
    } catch (error) {
      if (!(error instanceof IdpError)) throw error;
      this.#parts.say(`${error.message}. ${error.remedy}`);
    }
  }

  #publish(lines: readonly ChangeLine[]): void {
    this.#parts.write(lines);
    this.#parts.monitor.changed(lines);
  }

  #report(): void {
    const { monitor, clock } = this.#parts;
    const lookedMs = this.#logStatus === "reading" ? this.#lastLookMs : this.#lastFullMs;
    const isReading = this.#logStatus === "reading";
    const lagSeconds = isReading || lookedMs === null ? this.#lagSeconds : (clock.nowMs() - lookedMs) / 1000;
    monitor.looked({
      at: lookedMs === null ? null : toIso(lookedMs),
      lagSeconds: Math.max(0, lagSeconds),
      counts: countChecks(this.#findings.values()),
      logStatus: this.#logStatus,
      error: this.#error,
    });
  }

  #isCursorOld(nowMs: number): boolean {
    return this.#lastLookMs !== null && nowMs - this.#lastLookMs > maxCursorAgeMs;
  }

  #pauseMs(): number {
    const { intervalMs, reconcileMs } = this.#plan;
    const nowMs = this.#parts.clock.nowMs();
    const isSettling = this.#burstMs !== null && nowMs - this.#burstMs < settleMs;
    const times = [
      isSettling ? Math.min(intervalMs, settlePollMs) : intervalMs,
      this.#lastFullMs + reconcileMs - nowMs,
      ...(this.#retryAtMs === null ? [] : [this.#retryAtMs - nowMs]),
    ];
    // A clock that was set must neither hold the follower up nor let it run without a pause.
    return Math.min(intervalMs, Math.max(1, Math.min(...times)));
  }

  /** What a process that goes on from here has to know. */
  #commit(pending: readonly ChangeLine[]): void {
    this.#pending = pending;
    this.#committed = {
      orgUrl: this.#plan.orgUrl,
      monitorId: this.#monitorId,
      cursor: this.#cursor,
      lastLookAt: this.#lastLookMs === null ? null : toIso(this.#lastLookMs),
      lastFullAt: toIso(this.#lastFullMs),
      checks: [...this.#judged],
      seen: this.#reader?.seen() ?? [],
      pending,
      evidence: this.#evidence,
    };
  }

  async #save(): Promise<void> {
    if (this.#committed === null) return;
    await this.#saver.save(this.#committed);
  }
}

function missingOf(needs: readonly ArtifactName[], artifacts: CollectedArtifacts): MissingList | null {
  for (const name of needs) {
    const evidence = artifacts[name];
    if (evidence?.state === "missing") return { reason: evidence.reason, detail: evidence.detail };
  }
  return null;
}

function toIso(ms: number): string {
  return new Date(ms).toISOString();
}
