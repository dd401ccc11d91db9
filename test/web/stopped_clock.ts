import { ServerResponse } from "node:http";

/** The time of this process stands still, so that another run stores the same times. Timers still run. */
export interface StoppedClock extends Disposable {
  readonly nowMs: number;
  /** What follows is stored later than what came before, and a token that was signed at the beginning still holds. */
  tick(): void;
}

/** Stops `Date` in this process until it is disposed of: the gateway's, and that of its database, which runs in it. */
export function stopClock(atMs: number): StoppedClock {
  let nowMs = atMs;
  const { Date } = globalThis;
  globalThis.Date = class extends Date {
    constructor(...given: readonly [] | readonly [number | string | Date]) {
      super(...(given.length === 0 ? ([nowMs] as const) : given));
    }

    static override now(): number {
      return nowMs;
    }
  } as DateConstructor;
  // Node takes the date of its answers from elsewhere.
  const { writeHead } = ServerResponse.prototype;
  ServerResponse.prototype.writeHead = function dated(this: ServerResponse, ...given: Parameters<typeof writeHead>) {
    this.setHeader("date", new globalThis.Date().toUTCString());
    return writeHead.apply(this, given);
  } as typeof writeHead;
  return {
    get nowMs() {
      return nowMs;
    },
    tick() {
      nowMs += 5000;
    },
    [Symbol.dispose]() {
      globalThis.Date = Date;
      ServerResponse.prototype.writeHead = writeHead;
    },
  };
}
