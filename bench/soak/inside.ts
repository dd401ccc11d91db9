/**
 * Loaded into the gateway's process with `--import`: answers over the channel to its parent what only that process knows.
 * The gateway itself is the one that users run.
 */
export interface Inside {
  readonly heapUsed: number;
  readonly external: number;
  readonly timers: number;
}

export interface Question {
  readonly id: number;
  /** First let go of everything that nothing refers to. */
  readonly collect: boolean;
}

export interface Answer {
  readonly id: number;
  readonly inside: Inside;
}

process.on("message", ({ id, collect }: Question) => {
  if (collect) globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  const timers = process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
  const answer: Answer = { id, inside: { heapUsed, external, timers } };
  process.send?.(answer);
});
// Without whoever asks there is nothing to be measured, and nobody who would end us.
process.once("disconnect", () => process.exit(1));
// The channel alone must not keep a gateway alive that has stopped.
process.channel?.unref();
