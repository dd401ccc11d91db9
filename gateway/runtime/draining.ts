import { pause } from "../../shared/abortable.ts";

/** How long the closing of streams is spread. */
export const defaultDrainMs = 3000;
/** After the last stream was told to leave: for its last bytes, and for requests that are still being answered. */
export const answerGraceMs = 1500;
/** From the closing of the port to the end, whatever a silent client or database still holds up. */
const maxLeaveMs = 4800;

export interface LeaveOptions {
  /** Says that the gateway is not ready, while everything else goes on. */
  readonly announceDrain: () => void;
  /** How long load balancers have to see it. */
  readonly delaySeconds: number;
  /** Ends the delay. */
  readonly hurried: AbortSignal;
  /** Closes the port and the streams, and releases everything. */
  readonly stop: () => Promise<void>;
}

/** Resolves when the gateway has left, at the latest 5 s after its delay; rejects with what `stop` rejects with. */
export async function leave({ announceDrain, delaySeconds, hurried, stop }: LeaveOptions): Promise<void> {
  announceDrain();
  await pause(delaySeconds * 1000, [hurried]);
  const stopped = new AbortController();
  await Promise.race([stop().finally(() => stopped.abort()), pause(maxLeaveMs, [stopped.signal])]);
}

/**
 * What the signals of a process mean: the first asks it to leave; SIGINT, which is a person's Ctrl-C, or a second signal
 * asks not to wait for load balancers.
 */
export class Interruption {
  readonly #interrupted = new AbortController();
  readonly #hurried = new AbortController();

  /** Aborts at the first signal. */
  get interrupted(): AbortSignal {
    return this.#interrupted.signal;
  }

  /** Aborts at SIGINT, and at the second signal of any kind. */
  get hurried(): AbortSignal {
    return this.#hurried.signal;
  }

  /** As a signal that allows no delay, for a reason of the process's own. */
  abort(reason: unknown): void {
    this.#interrupted.abort(reason);
    this.#hurried.abort();
  }

  /** False when all that a signal can ask for was asked for already: then the process should end at once. */
  receive(signal: "SIGINT" | "SIGTERM"): boolean {
    if (this.hurried.aborted) return false;
    const isSecond = this.interrupted.aborted;
    this.#interrupted.abort(new Error(`Interrupted by ${signal}`));
    if (isSecond || signal === "SIGINT") this.#hurried.abort();
    return true;
  }
}
