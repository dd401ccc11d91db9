import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

/** Resolves when a program has written such a line; rejects with its last lines when it ends before. */
export async function untilLine(output: Readable, pattern: RegExp): Promise<void> {
  const log: string[] = [];
  for await (const line of createInterface({ input: output })) {
    log.push(line);
    if (pattern.test(line)) return void output.resume();
  }
  throw new Error(`The server did not start:\n${log.slice(-20).join("\n")}`);
}
