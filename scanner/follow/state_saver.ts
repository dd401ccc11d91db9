import type { FollowParts } from "./follow_plan.ts";
import type { FollowState } from "./follow_state.ts";

/** Writes the state, and remembers whether what is on disk is the newest. */
export class StateSaver {
  isSaved = true;
  lastSaveMs = 0;
  #isBroken = false;
  readonly #parts: Pick<FollowParts, "store" | "clock" | "say">;

  constructor(parts: Pick<FollowParts, "store" | "clock" | "say">) {
    this.#parts = parts;
  }

  /** A disk that is full must not end the watch: said once, and tried again. */
  async save(state: FollowState): Promise<void> {
    this.lastSaveMs = this.#parts.clock.nowMs();
    try {
      await this.#parts.store.save(state);
      this.isSaved = true;
      this.#isBroken = false;
    } catch (error) {
      const problem = error instanceof Error ? error.message : "unknown";
      if (!this.#isBroken) this.#parts.say(`The state cannot be saved, so a restart may repeat changes: ${problem}`);
      this.#isBroken = true;
      this.isSaved = false;
    }
  }
}
