import { pause } from "../abortable.ts";

/** The pauses of a subscription, in a browser's page: one that sleeps has no stream, and one that wakes up does not wait. */
export interface PageLife {
  /** Cut short by `retryNow`, and when the page wakes up, unless the server asked for the pause. */
  pause(ms: number, isAsked: boolean): Promise<void>;
  readonly retryNow: () => void;
  /** Resolves at once, unless the page is about to sleep. */
  awake(): Promise<void>;
  /** Takes what is called when connections may have died without a word; `isCertain`: none can have survived. */
  onProbe(probe: (isCertain: boolean) => void): void;
}

/** Follows the life of the page until the signal aborts; without a page nothing is ever cut short. */
export function watchPage(signal: AbortSignal): PageLife {
  let waking = new AbortController();
  let isPauseAsked = false;
  let sleeping: PromiseWithResolvers<void> | null = null;
  let probe: (isCertain: boolean) => void = () => undefined;

  function wake(isCertain = false): void {
    if (sleeping === null) probe(isCertain);
    sleeping?.resolve();
    sleeping = null;
    if (!isPauseAsked) waking.abort();
  }

  /** A page that is about to sleep gives its stream back, so that it does not fill up. */
  function sleep(): void {
    sleeping ??= Promise.withResolvers();
    probe(true);
  }

  signal.addEventListener("abort", () => sleeping?.resolve(), { once: true });
  if (typeof document !== "undefined") {
    addEventListener("online", () => wake(), { signal });
    // A page that goes into the back/forward cache, or comes out of it: the browser has cut its connections.
    addEventListener("pageshow", ({ persisted }) => persisted && wake(true), { signal });
    addEventListener("pagehide", ({ persisted }) => persisted && sleep(), { signal });
    document.addEventListener("freeze", sleep, { signal });
    document.addEventListener("resume", () => wake(), { signal });
    document.addEventListener("visibilitychange", () => document.visibilityState === "hidden" || wake(), { signal });
  }
  return {
    async pause(ms, isAsked) {
      waking = new AbortController();
      isPauseAsked = isAsked;
      await pause(ms, [signal, waking.signal]);
    },
    retryNow: () => waking.abort(),
    async awake() {
      await sleeping?.promise;
    },
    onProbe(next) {
      probe = next;
    },
  };
}

/** Starts a stopwatch; each call says how many milliseconds have gone by at most. */
export function createStopwatch(): () => number {
  const [startMs, startTicks] = [Date.now(), performance.now()];
  // The one clock may be set, the other may stand still while the machine sleeps.
  return () => Math.max(Date.now() - startMs, performance.now() - startTicks);
}
