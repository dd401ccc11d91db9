/** Loaded into a measured process: prints its peak memory when it exits. */
process.once("exit", () => {
  process.stderr.write(`peak memory ${process.resourceUsage().maxRSS} KiB\n`);
});
