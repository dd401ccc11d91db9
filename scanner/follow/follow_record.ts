import { toStateLines, type ChangeLine } from "./changes.ts";
import type { FollowParts, FollowPlan } from "./follow_plan.ts";
import type { FollowState } from "./follow_state.ts";
import type { MonitorPublisher } from "../streaming/monitor_publisher.ts";
import type { EventQueue } from "../streaming/publisher.ts";
import type { RegisteredMonitor } from "../streaming/monitor_publisher.ts";

/** How often the state is written when nothing but the time moved. */
const saveMs = 60_000;
/** Bound of the memory: a line takes a kilobyte or so. */
export const maxPending = 20_000;

type Committed = Omit<FollowState, "monitorId" | "pending" | "unwritten">;

/**
 * Record of a follower: lines on their way to the output and then to the gateway, and the saved state from which a later process
 * continues. Lines stay in the state until they are written and the gateway has them, so that a process that is killed before loses none.
 */
export class FollowRecord implements EventQueue<ChangeLine> {
  #monitorId: string;
  readonly #plan: FollowPlan;
  readonly #parts: FollowParts;
  /** Lines that are not on the output yet, oldest first. */
  #unwritten: readonly ChangeLine[];
  /** Written lines that the gateway may not have, oldest first. */
  #pending: readonly ChangeLine[];
  #hasOmitted = false;
  /** The gateway has stored the first results: a monitor without a report was deleted there since, or its changes were lost. */
  #isStateSettled: boolean;
  #committed: Committed | null;
  /** The part that disk does not have: lines are saved at the next poll, the rest in its time. */
  #unsaved: "lines" | "time" | null = null;
  #lastSaveMs = 0;
  #isBroken = false;
  /** Null: not streamed, or not yet. */
  monitor: Pick<MonitorPublisher, "changed"> | null = null;

  constructor(plan: FollowPlan, parts: FollowParts, saved: FollowState | null) {
    this.#monitorId = saved?.monitorId ?? parts.newId();
    this.#plan = plan;
    this.#parts = parts;
    this.#unwritten = saved?.unwritten ?? [];
    this.#pending = parts.openMonitor === null ? [] : (saved?.pending ?? []);
    this.#isStateSettled =
      saved !== null && ![saved.pending[0], saved.unwritten[0]].some((line) => line?.cause === "start");
    this.#committed = saved;
  }

  get monitorId(): string {
    return this.#monitorId;
  }

  /** Takes the state after whole work: it is saved with the next lines, or in its time. */
  commit(state: Committed): void {
    this.#committed = state;
    this.#unsaved ??= "time";
  }

  /** Saves what was committed, and makes the lines known. They are saved first: a process that is killed here writes them again. */
  async add(lines: readonly ChangeLine[]): Promise<void> {
    this.#unwritten = [...this.#unwritten, ...lines];
    await this.#save();
    if (lines.length === 0) return;
    this.publish();
    await this.#save();
  }

  publish(): void {
    if (this.#unwritten.length > 0) {
      this.#parts.write(this.#unwritten);
      this.#keep(this.#unwritten);
      this.#unwritten = [];
    }
    if (this.#pending.length > 0) this.monitor?.changed();
  }

  first(max: number): readonly ChangeLine[] {
    return this.#pending.slice(0, max);
  }

  acknowledge(lines: readonly ChangeLine[]): void {
    const ids = new Set(lines.map(({ id }) => id));
    this.#pending = this.#pending.filter(({ id }) => !ids.has(id));
    this.#unsaved = "lines";
    if (this.#pending.length > 0) return;
    this.#hasOmitted = false;
    this.#isStateSettled = true;
  }

  /** A new monitor is handed every verdict as its first state; on the output they were lines before. */
  registered({ id, last_look_at: lastLookAt }: RegisteredMonitor): void {
    if (id === this.#monitorId && (lastLookAt !== null || !this.#isStateSettled)) return;
    this.#monitorId = id;
    this.#keep(this.#stateLines("as it was before this monitor began"));
    this.monitor?.changed();
  }

  /** Writes every verdict to an output that does not have the lines of the processes before. */
  writeState(): void {
    this.#parts.writeState?.(this.#stateLines("as it was before this process began"));
  }

  async saveWhenDue(): Promise<void> {
    if (this.#unsaved === "lines" || this.#parts.clock.nowMs() - this.#lastSaveMs >= saveMs) await this.#save();
  }

  async saveRest(): Promise<void> {
    if (this.#unsaved !== null) await this.#save();
  }

  /** Leaves out the oldest over the bound, and says so once. */
  #keep(lines: readonly ChangeLine[]): void {
    if (this.#parts.openMonitor === null) return;
    const all = [...this.#pending, ...lines];
    const max = Math.max(maxPending, lines.length);
    this.#pending = all.slice(-max);
    this.#unsaved = "lines";
    if (all.length <= max || this.#hasOmitted) return;
    this.#hasOmitted = true;
    this.#parts.say(
      `The gateway has not accepted changes for too long, so the oldest are dropped. It gets the newest ${max}`,
    );
  }

  /** Every verdict as the first state of whoever has seen none. */
  #stateLines(actual: string): readonly ChangeLine[] {
    const { checks, orgUrl } = this.#plan;
    const { clock, newId } = this.#parts;
    const seen_at = new Date(clock.nowMs()).toISOString();
    const facts = { actual, newId, org_url: orgUrl, monitor_id: this.#monitorId, seen_at };
    const known = this.#committed?.findings ?? [];
    return checks.flatMap((check) => toStateLines(check, known, facts));
  }

  /** A disk that is full must not end the watch: said once, and tried again. */
  async #save(): Promise<void> {
    if (this.#committed === null) return;
    const { store, clock, say } = this.#parts;
    this.#lastSaveMs = clock.nowMs();
    const [unsaved, monitorId, pending, unwritten] = [this.#unsaved, this.#monitorId, this.#pending, this.#unwritten];
    const unfiled = this.#parts.unfiled?.() ?? [];
    this.#unsaved = null;
    try {
      await store.save({ ...this.#committed, monitorId, pending, unwritten: [...unfiled, ...unwritten] });
      this.#isBroken = false;
    } catch (error) {
      const problem = error instanceof Error ? error.message : "unknown";
      if (!this.#isBroken) say(`The state cannot be saved, so a restart may repeat changes: ${problem}`);
      this.#isBroken = true;
      this.#unsaved ??= unsaved ?? "time";
    }
  }
}
