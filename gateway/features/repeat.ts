export interface RepeatOptions {
  readonly firstAfterMs: number;
  /** From the end of one run to the start of the next. */
  readonly everyMs: number;
}

/** Runs something that never rejects again and again, never two runs at once; returns how to stop. */
export function startRepeating(run: () => Promise<unknown>, { firstAfterMs, everyMs }: RepeatOptions): () => void {
  let timer: ReturnType<typeof setTimeout>;
  let isStopped = false;
  const runIn = (ms: number) => {
    timer = setTimeout(() => void runOnce(), ms);
  };
  const runOnce = async () => {
    await run();
    if (!isStopped) runIn(everyMs);
  };
  runIn(firstAfterMs);
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
