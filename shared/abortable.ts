/** Settles as the promise does, but rejects with the signal's reason as soon as it aborts. Later rejections are swallowed. */
export function abortable<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

/** Resolves after the time, or at once when one of the signals aborts; leaves no timer and no listener behind. */
export function pause(ms: number, signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    const stop = () => {
      clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener("abort", stop);
      resolve();
    };
    const timer = setTimeout(stop, ms);
    for (const signal of signals) signal.addEventListener("abort", stop, { once: true });
    if (signals.some((signal) => signal.aborted)) stop();
  });
}
