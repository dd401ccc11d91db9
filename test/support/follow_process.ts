import type { ChangeLine } from "../../scanner/follow/changes.ts";
import type { Running } from "./command_line.ts";

/** A follower over several processes, each of which goes on from what the one before left. */
export interface FollowProcess {
  /** What all of them wrote, each line once. */
  lines(): readonly ChangeLine[];
  /** What all of them said. */
  said(): string;
  readonly pid: number;
  /** Another process, after the last one ended. */
  start(): void;
  /** As `kill -9`, or a proper end. Resolves when it is gone. */
  end(signal: "SIGKILL" | "SIGTERM"): Promise<void>;
  /** Resolves once the lines are as wanted; rejects when the process ends by itself. */
  until(isEnough: (lines: readonly ChangeLine[]) => boolean): Promise<void>;
}

/** `start`: runs `follow --format ndjson` on one state directory. */
export function createFollowProcess(start: () => Running): FollowProcess {
  const ended: Running[] = [];
  let running = start();
  const all = () => [...ended, running];

  function lines(): readonly ChangeLine[] {
    const byId = new Map<string, ChangeLine>();
    for (const { output } of all()) {
      // What follows the last end of a line was cut by a kill.
      for (const text of output.stdout.split("\n").slice(0, -1)) {
        const line = JSON.parse(text) as ChangeLine;
        const isChange: boolean = line.schema === "scanstream.change/1";
        if (isChange && !byId.has(line.id)) byId.set(line.id, line);
      }
    }
    return [...byId.values()];
  }

  return {
    lines,
    said: () =>
      all()
        .map(({ output }) => output.stderr)
        .join(""),
    get pid() {
      return running.process.pid ?? 0;
    },
    start() {
      ended.push(running);
      running = start();
    },
    async end(signal) {
      await running.stop(signal);
    },
    async until(isEnough) {
      const { process: child, finished } = running;
      while (!isEnough(lines())) {
        const { promise, resolve } = Promise.withResolvers<void>();
        child.once("output", resolve);
        const isOver = await Promise.race([promise.then(() => false), finished.then(() => true)]);
        child.off("output", resolve);
        if (isOver && !isEnough(lines())) throw new Error(`The follower ended by itself:\n${running.output.stderr}`);
      }
    },
  };
}
