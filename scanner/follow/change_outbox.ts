import type { ChangeLine } from "./changes.ts";

/** Lines that a process which goes on has to know. */
export interface SavedLines {
  /** Oldest first: not written, or not stored at the gateway. */
  readonly pending: readonly ChangeLine[];
  /** This many at the end may not be written. */
  readonly unwritten: number;
}

/** Bound of the memory: a line takes a kilobyte or so. */
const maxWaiting = 20_000;

/**
 * Lines on their way to the output and then to the gateway. They are saved with the follower's state until the gateway
 * has them, so that a process that is killed before loses none. Over the bound the oldest are left out, which is said once.
 */
export class ChangeOutbox {
  #lines: readonly ChangeLine[];
  #unwritten: number;
  #isUnsaved = false;
  #hasOmitted = false;
  readonly #say: (text: string) => void;

  constructor(saved: SavedLines | null, say: (text: string) => void) {
    this.#lines = saved?.pending ?? [];
    this.#unwritten = Math.min(saved?.unwritten ?? 0, this.#lines.length);
    this.#say = say;
  }

  get count(): number {
    return this.#lines.length;
  }

  /** True when the state on disk has others. */
  get isUnsaved(): boolean {
    return this.#isUnsaved;
  }

  add(lines: readonly ChangeLine[]): void {
    this.#unwritten += lines.length;
    this.#isUnsaved ||= lines.length > 0;
    this.#lines = [...this.#lines, ...lines];
    const kept = Math.max(maxWaiting, this.#unwritten);
    if (this.#lines.length <= kept) return;
    this.#lines = this.#lines.slice(-kept);
    if (!this.#hasOmitted) {
      this.#say(
        `The gateway has not accepted changes for too long, so the oldest are dropped. It gets the newest ${maxWaiting}`,
      );
    }
    this.#hasOmitted = true;
  }

  /** Adds lines that only the gateway needs. */
  addWritten(lines: readonly ChangeLine[]): void {
    const written = this.#lines.length - this.#unwritten;
    this.#lines = [...this.#lines.slice(0, written), ...lines, ...this.#lines.slice(written)];
    this.#isUnsaved ||= lines.length > 0;
  }

  /** The ones that are not written, which count as written from now on. */
  takeUnwritten(): readonly ChangeLine[] {
    if (this.#unwritten === 0) return [];
    const lines = this.#lines.slice(-this.#unwritten);
    this.#unwritten = 0;
    this.#isUnsaved = true;
    return lines;
  }

  /** The oldest that the gateway may not have. */
  first(max: number): readonly ChangeLine[] {
    return this.#lines.slice(0, Math.min(max, this.#lines.length - this.#unwritten));
  }

  /** The gateway has them, or will never take them. */
  settle(lines: readonly { readonly id: string }[]): void {
    const ids = new Set(lines.map(({ id }) => id));
    this.#lines = this.#lines.filter(({ id }) => !ids.has(id));
    this.#isUnsaved = true;
    if (this.#lines.length === 0) this.#hasOmitted = false;
  }

  /** Returns the lines for the state that is written now. */
  toSave(): SavedLines {
    this.#isUnsaved = false;
    return { pending: this.#lines, unwritten: this.#unwritten };
  }
}
