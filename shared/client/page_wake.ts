export interface WakeHandlers {
  /** Connections may have died without a word; `isCertain`: the browser has cut them. */
  readonly onWake: (isCertain: boolean) => void;
  /** From now on the page does not run, until it wakes. */
  readonly onSleep: () => void;
}

/** Follows the life of a browser's page; does nothing without a page. The listeners end with the signal. */
export function watchPage({ onWake, onSleep }: WakeHandlers, signal: AbortSignal): void {
  if (typeof document === "undefined") return;
  const wake = () => onWake(false);
  addEventListener("online", wake, { signal });
  // A page that comes out of the back/forward cache.
  addEventListener("pageshow", ({ persisted }) => persisted && onWake(true), { signal });
  addEventListener("pagehide", ({ persisted }) => persisted && onSleep(), { signal });
  document.addEventListener("freeze", onSleep, { signal });
  document.addEventListener("resume", wake, { signal });
  document.addEventListener("visibilitychange", () => document.visibilityState === "hidden" || wake(), { signal });
}

/** Starts a stopwatch; each call says how many milliseconds have gone by at most. */
export function createStopwatch(): () => number {
  const [startMs, startTicks] = [Date.now(), performance.now()];
  // The one clock may be set, the other may stand still while the machine sleeps.
  return () => Math.max(Date.now() - startMs, performance.now() - startTicks);
}
