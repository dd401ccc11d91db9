/** Loaded into the gateway's process with `--import`: answers over the channel to its parent what only that process knows. */
export interface Inside {
  readonly heapUsed: number;
  readonly timers: number;
}

/** The message says whether to let go of everything that nothing refers to first. */
process.on("message", (collect: boolean) => {
  if (collect) globalThis.gc?.();
  const { heapUsed } = process.memoryUsage();
  const timers = process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
  process.send?.({ heapUsed, timers } satisfies Inside);
});
// Without whoever asks there is nothing to be measured, and nobody who would end us.
process.once("disconnect", () => process.exit(1));
// The channel alone must not keep a gateway alive that has stopped.
process.channel?.unref();
