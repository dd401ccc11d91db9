/** Loaded into a process that is measured: says at its end how much memory it held at most. */
process.once("exit", () => {
  process.stderr.write(`peak memory ${process.resourceUsage().maxRSS} KiB\n`);
});
