import { setFlagsFromString } from "node:v8";

/**
 * Keeps V8's young generation as small as it starts: the garbage of a large org's pages is collected instead of growing
 * the heap. Measured on an org of 10,000 apps: 171 MiB at the peak instead of 226, at the same speed.
 */
export function keepHeapSmall(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
}

/**
 * For a process that runs for months and mostly waits: memory before speed. Measured on a follower of 10,000 apps, over its
 * start, changes and full scans: 163 MiB at the peak instead of 221, for half a second more CPU at the start.
 */
export function keepHeapSmallest(): void {
  setFlagsFromString("--optimize-for-size");
}
