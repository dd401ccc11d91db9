import { readFile } from "node:fs/promises";

/** For all cores since the start, in ticks. */
export interface MachineTimes {
  readonly idle: number;
  readonly all: number;
}

/** https://www.kernel.org/doc/html/latest/filesystems/proc.html, /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal. */
export async function readMachineTimes(): Promise<MachineTimes> {
  const [line = ""] = (await readFile("/proc/stat", "utf8")).split("\n");
  const ticks = line.split(/ +/).slice(1, 9).map(Number);
  return { idle: (ticks[3] ?? 0) + (ticks[4] ?? 0), all: ticks.reduce((sum, tick) => sum + tick, 0) };
}
