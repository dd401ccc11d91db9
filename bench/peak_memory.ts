import { readFileSync } from "node:fs";

/**
 * Loaded into a measured process: prints its peak memory and its CPU time when it exits. The memory is the program's own:
 * `resourceUsage().maxRSS` is never below what the process that started it had, on Linux.
 */
process.once("exit", () => {
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  const peak = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
  process.stderr.write(`peak memory ${peak} KiB, CPU ${Math.round((userCPUTime + systemCPUTime) / 1000)} ms\n`);
});
