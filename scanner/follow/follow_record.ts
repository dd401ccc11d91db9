import { ChangeOutbox } from "./change_outbox.ts";
import { toStateLines, type ChangeLine } from "./changes.ts";
import type { FollowParts, FollowPlan } from "./follow_plan.ts";
import type { FollowState } from "./follow_state.ts";
import type { RegisteredMonitor } from "../../shared/client/gateway_client.ts";

/** How often the state is written when nothing but the time moved. */
const saveMs = 60_000;

type Committed = Omit<FollowState, "monitorId" | "pending" | "unwritten">;

/** Record of a follower: what it makes known (lines, for the output and for the monitor), and on disk what a process that goes on from it has to know. */
export class FollowRecord {
  #monitorId: string;
  readonly #plan: FollowPlan;
  readonly #parts: FollowParts;
  readonly #lines: ChangeOutbox;
  /** The first results were stored at the gateway before: a monitor without a report was deleted there since. */
  readonly #isStateSettled: boolean;
  #committed: Committed | null;
  /** True when what is on disk is the newest. */
  #isSaved = true;
  #lastSaveMs = 0;
  #isBroken = false;

  constructor(plan: FollowPlan, parts: FollowParts, saved: FollowState | null) {
    this.#monitorId = saved?.monitorId ?? parts.newId();
    this.#plan = plan;
    this.#parts = parts;
    this.#lines = new ChangeOutbox(saved, parts.say);
    this.#isStateSettled = saved !== null && saved.pending[0]?.cause !== "start";
    this.#committed = saved;
  }

  get monitorId(): string {
    return this.#monitorId;
  }

  /** Takes the state after whole work: it is saved with the next lines, or in its time. */
  commit(state: Committed): void {
    this.#committed = state;
    this.#isSaved = false;
  }

  /** Saves what was committed, and makes the lines known. They are saved first: a process that is killed here writes them again. */
  async add(lines: readonly ChangeLine[]): Promise<void> {
    this.#lines.add(lines);
    await this.#save();
    if (lines.length === 0) return;
    this.publish();
    await this.#save();
  }

  publish(): void {
    if (this.#lines.count === 0) return;
    const lines = this.#lines.takeUnwritten();
    if (lines.length > 0) this.#parts.write(lines);
    this.#parts.monitor.changed(this.#lines);
  }

  /** A new monitor is handed every verdict as its first state; on the output they were lines before. */
  registered({ id, last_look_at: lastLookAt }: RegisteredMonitor): void {
    if (id === this.#monitorId && (lastLookAt !== null || !this.#isStateSettled)) return;
    this.#monitorId = id;
    this.#lines.addWritten(this.#stateLines("as it was before this monitor began"));
    this.#parts.monitor.changed(this.#lines);
    this.#isSaved = false;
    // Saved at the next look, and not only with the next change.
    this.#lastSaveMs = 0;
  }

  /** Writes every verdict to an output that does not have the lines of the processes before. */
  writeState(): void {
    this.#parts.writeState?.(this.#stateLines("as it was before this process began"));
  }

  /** Every verdict as the first state of whoever has seen none. */
  #stateLines(actual: string): readonly ChangeLine[] {
    const { checks, orgUrl, withAddresses } = this.#plan;
    const { clock, newId } = this.#parts;
    const seenAt = new Date(clock.nowMs()).toISOString();
    const findings = this.#committed?.findings ?? [];
    const facts = { checks, newId, seenAt, orgUrl, monitorId: this.#monitorId, withAddresses };
    return toStateLines(findings, { actual, ...facts });
  }

  async saveWhenDue(): Promise<void> {
    if (this.#lines.isUnsaved || this.#parts.clock.nowMs() - this.#lastSaveMs >= saveMs) await this.#save();
  }

  async saveRest(): Promise<void> {
    if (this.#lines.isUnsaved || !this.#isSaved) await this.#save();
  }

  /** A disk that is full must not end the watch: said once, and tried again. */
  async #save(): Promise<void> {
    if (this.#committed === null) return;
    this.#lastSaveMs = this.#parts.clock.nowMs();
    try {
      await this.#parts.store.save({ ...this.#committed, monitorId: this.#monitorId, ...this.#lines.toSave() });
      this.#isSaved = true;
      this.#isBroken = false;
    } catch (error) {
      const problem = error instanceof Error ? error.message : "unknown";
      if (!this.#isBroken) this.#parts.say(`The state cannot be saved, so a restart may repeat changes: ${problem}`);
      this.#isBroken = true;
      this.#isSaved = false;
    }
  }
}
