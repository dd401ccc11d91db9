/** Loaded into a measured process: prints its peak memory and its CPU time when it exits. */
process.once("exit", () => {
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
  process.stderr.write(`peak memory ${maxRSS} KiB, CPU ${Math.round((userCPUTime + systemCPUTime) / 1000)} ms\n`);
});
