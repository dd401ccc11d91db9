/**
 * The signals of a process: the first starts the shutdown; SIGINT, which is a person's Ctrl-C, or a second signal skips the
 * delay for load balancers.
 */
export class Interruption {
  readonly #interrupted = new AbortController();
  readonly #skipDelay = new AbortController();
  readonly interrupted = this.#interrupted.signal;
  /** Aborts at SIGINT, and at the second signal of any kind. */
  readonly skipDelay = this.#skipDelay.signal;

  /** As SIGINT, for a reason of the process's own. */
  abort(reason: unknown): void {
    this.#interrupted.abort(reason);
    this.#skipDelay.abort();
  }

  /** False when a signal can change nothing more: then the process should exit at once. */
  receive(signal: "SIGINT" | "SIGTERM"): boolean {
    if (this.skipDelay.aborted) return false;
    const isSecond = this.interrupted.aborted;
    this.#interrupted.abort(new Error(`Interrupted by ${signal}`));
    if (isSecond || signal === "SIGINT") this.#skipDelay.abort();
    return true;
  }
}
