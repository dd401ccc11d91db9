import { setImmediate as turnOfLoop } from "node:timers/promises";
import { AppError } from "../../shared/app_error.ts";
import { FairShare } from "../../shared/fair_share.ts";
import { FairTurns } from "../../shared/fair_turns.ts";

/** A holder alone has two of them. */
const startsPerTurn = 3;
const maxWaiting = 2048;
/** Longer than a busy machine needs for a burst of one tenant, shorter than clients wait. */
const maxWaitMs = 15_000;

/**
 * Begins a few requests in each turn of the event loop, one of each holder before the second of any. However many requests a tenant
 * sends, turns stay short, and a request of another one begins in the next of them. What waits has cost little more than its parsing.
 */
export class FairStart {
  readonly #waiting = new FairShare({ max: maxWaiting, what: "requests" });
  readonly #turns = new FairTurns(startsPerTurn, {
    maxWaitMs,
    toLate: () => new AppError("unavailable", "Too many requests: the gateway is busy", { retryAfterSeconds: 2 }),
  });

  /** Rejects as `FairShare.take` throws where the holder has too many waiting, and with what `work` rejects with. */
  async run<Result>(holder: string, work: () => Promise<Result>): Promise<Result> {
    this.#waiting.take(holder);
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const begin = async () => {
      this.#waiting.give(holder);
      // Also what `work` throws is its result: `tooLate` below is for what never began.
      resolve(new Promise((done) => done(work())));
      await turnOfLoop();
    };
    const tooLate = (error: unknown) => {
      this.#waiting.give(holder);
      reject(error);
    };
    this.#turns.run(holder, begin).catch(tooLate);
    return promise;
  }
}
