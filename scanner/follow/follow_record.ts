import { firstState, toChangeLine, type ChangeLine } from "./changes.ts";
import type { FollowParts, FollowPlan } from "./follow_plan.ts";
import { saveState, type FollowState } from "./follow_state.ts";
import { countedFindings, worstVerdict } from "../../shared/rule_result.ts";
import type { MonitorUpdate } from "../../shared/schemas/monitor.ts";
import type { RegisteredMonitor } from "../streaming/monitor_publisher.ts";

/** How often the state is written when nothing but the time moved. */
const saveMs = 60_000;
/** Bound of the memory: a line takes a kilobyte or so. */
export const maxPending = 20_000;

type Committed = Omit<FollowState, "monitorId" | "pending" | "storedAt" | "unwritten">;

/**
 * Record of a follower: lines on their way to the output and then to its monitor at the gateway, and the saved state from which a
 * later process continues. Lines stay in the state until they are written and the gateway has them, so that a process that is killed
 * before loses none.
 */
export function createRecord(plan: FollowPlan, parts: FollowParts, saved: FollowState | null) {
  const { clock, newId, say } = parts;
  let monitorId = saved?.monitorId ?? newId();
  /** Lines that are not on the output yet, oldest first. */
  let unwritten = saved?.unwritten ?? [];
  /** Written lines that the gateway may not have, oldest first. */
  let pending = parts.openMonitor === null ? [] : (saved?.pending ?? []);
  let storedAt = saved?.storedAt ?? "";
  let hasOmitted = false;
  /** The gateway has stored the first results: a monitor without a report was deleted there since, or its changes were lost. */
  let isStateSettled = saved !== null && ![pending[0], unwritten[0]].some((line) => line?.cause === "start");
  let committed: Committed | null = saved;
  /** Lines are saved at the next poll, the rest in its time. */
  let hasUnsavedLines = false;
  let lastSaveMs = 0;
  let isBroken = false;
  const monitor = parts.openMonitor?.({
    monitorId,
    registration: {
      org_url: plan.orgUrl,
      client_id: plan.clientId,
      benchmark: plan.benchmark,
      interval_seconds: plan.intervalMs / 1000,
      checks_total: plan.checks.length,
    },
    changes: { first: (max) => pending.slice(0, max), acknowledge },
    onRegistered,
  });
  return {
    monitorId: () => monitorId,
    /** Takes the state after whole work: it is saved with the next lines, or in its time. */
    commit: (state: Committed) => void (committed = state),
    add,
    publish,
    writeState: () => parts.writeState?.(stateLines("as it was before this process began")),
    /** After each poll. */
    async polled(update: MonitorUpdate): Promise<void> {
      monitor?.polled(update);
      if (hasUnsavedLines || clock.nowMs() - lastSaveMs >= saveMs) await save();
    },
    close,
    /** False while the disk does not have the state. */
    isSaved: () => !isBroken,
  };

  /** Saves what was committed, and makes the lines known. They are saved first: a process that is killed here writes them again. */
  async function add(lines: readonly ChangeLine[]): Promise<void> {
    unwritten = [...unwritten, ...lines];
    await save();
    if (lines.length === 0) return;
    publish();
    await save();
  }

  function publish(): void {
    if (unwritten.length > 0) {
      parts.write(unwritten);
      keep(unwritten);
      unwritten = [];
    }
    if (pending.length > 0) monitor?.changed();
  }

  function acknowledge(lines: readonly Pick<ChangeLine, "id" | "cause" | "seen_at">[]): void {
    storedAt = lines.findLast(({ cause }) => cause !== "start")?.seen_at ?? storedAt;
    const ids = new Set(lines.map(({ id }) => id));
    pending = pending.filter(({ id }) => !ids.has(id));
    hasUnsavedLines = true;
    if (pending.length > 0) return;
    hasOmitted = false;
    isStateSettled = true;
  }

  /** A new monitor, or one of a backup that lacks the last changes, is handed every verdict as its first state. */
  function onRegistered({ id, last_look_at: lastLookAt, last_change_at: changedAt }: RegisteredMonitor): void {
    const isWhole = lastLookAt !== null && (changedAt ?? "") >= storedAt;
    if (id === monitorId && (isWhole || !isStateSettled)) return;
    monitorId = id;
    keep(stateLines("as it was before this monitor began"));
    monitor?.changed();
  }

  /** Ends the monitor for a reason, or only this process, and saves the last whole round. */
  async function close(reason: string | null): Promise<void> {
    await save();
    await monitor?.end(reason);
    await save();
  }

  /** Leaves out the oldest over the bound, and says so once. */
  function keep(lines: readonly ChangeLine[]): void {
    if (monitor === undefined) return;
    const all = [...pending, ...lines];
    const max = Math.max(maxPending, lines.length);
    pending = all.slice(-max);
    hasUnsavedLines = true;
    if (all.length <= max || hasOmitted) return;
    hasOmitted = true;
    say(`The gateway has not accepted changes for too long, so the oldest are dropped. It gets the newest ${max}`);
  }

  /** Every verdict as the first state of whoever has seen none; `actual` says what state that is. */
  function stateLines(actual: string): readonly ChangeLine[] {
    const facts = { org_url: plan.orgUrl, monitor_id: monitorId, seen_at: new Date(clock.nowMs()).toISOString() };
    return plan.checks.flatMap(({ name, rule: { severity } }) => {
      const findings = (committed?.findings ?? []).filter(({ check }) => check === name);
      const rule = { ...worstVerdict(countedFindings(findings)), severity };
      return findings.map((to) =>
        toChangeLine(
          { from: null, to, expected: "", actual, toPass: null },
          { ...facts, id: newId(), rule, ...firstState },
        ),
      );
    });
  }

  /** A disk that is full must not end the watch: said once, and tried again. */
  async function save(): Promise<void> {
    if (committed === null) return;
    lastSaveMs = clock.nowMs();
    const hadLines = hasUnsavedLines;
    hasUnsavedLines = false;
    const lines = { pending, unwritten: [...(parts.unfiled?.() ?? []), ...unwritten] };
    const problem = await saveState(plan.directory, { ...committed, monitorId, storedAt, ...lines });
    if (problem !== null && !isBroken) say(`The state cannot be saved, so a restart may repeat changes: ${problem}`);
    isBroken = problem !== null;
    hasUnsavedLines ||= isBroken && hadLines;
  }
}
