interface WatchdogOptions {
  /** Idle for this long: `onIdle` is called, the moment to send a ping. */
  readonly idleMs: number;
  /** Still idle for this long after that: `onSilent` is called, and the watchdog stops. */
  readonly graceMs: number;
  onIdle(): void;
  onSilent(): void;
}

export type Watchdog = ReturnType<typeof startWatchdog>;

/**
 * Finds a connection on which nothing arrives any more.
 *
 * It counts ticks instead of reading a clock: a process that was suspended or starved for longer than the grace then
 * misses one tick, and reads what has arrived in the meantime before it can call a living connection dead.
 */
export function startWatchdog(options: WatchdogOptions) {
  const tickMs = Math.max(1, Math.min(options.idleMs, options.graceMs) / 4);
  // One more: a reset just before a tick would otherwise count as a whole idle tick.
  const idleTicks = Math.ceil(options.idleMs / tickMs) + 1;
  const silentTicks = idleTicks + Math.ceil(options.graceMs / tickMs);
  let ticks = 0;
  const timer = setInterval(() => {
    ticks += 1;
    if (ticks === idleTicks) options.onIdle();
    if (ticks < silentTicks) return;
    clearInterval(timer);
    options.onSilent();
  }, tickMs);
  return {
    /** Something arrived. */
    reset: () => void (ticks = 0),
    stop: () => clearInterval(timer),
  };
}
