import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

export interface LoadOptions {
  readonly host: string;
  readonly port: number;
  /** May hold one `%d` or `%012d`, the stream's number; `@file` has one path a line. */
  readonly path: string;
  readonly headers: readonly string[];
  readonly streams: number;
  readonly eventsPerStream: number;
  readonly timeoutSeconds: number;
  /** How many events, over all streams, make a step. */
  readonly step: number;
  /** One of this many streams is read as its events arrive; the others' are counted at the end. Default 1: all. */
  readonly watchEvery?: number;
}

export interface OpenFigures {
  readonly ready: number;
  readonly failed: number;
  readonly seconds: number;
  /** For the first answer. */
  readonly status: number;
}

export interface LoadFigures {
  readonly ready: number;
  readonly failed: number;
  readonly events: number;
  readonly expected: number;
  /** From the first event's sending to the last one's receipt. */
  readonly seconds: number;
  readonly bytes: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly clientCpuSeconds: number;
}

/** The streams of one run: opened, then counted until every event has come, or the time is over. */
export interface LoadClient {
  readonly opened: Promise<OpenFigures>;
  /** Resolves once this many steps have been received in all; rejects when the client ended before. */
  step(count: number): Promise<void>;
  readonly result: Promise<LoadFigures>;
  stop(): Promise<void>;
}

export function startLoadClient(binary: string, options: LoadOptions): LoadClient {
  const { host, port, path, streams, eventsPerStream, timeoutSeconds, step, watchEvery = 1, headers } = options;
  const args = [host, port, path, streams, eventsPerStream, timeoutSeconds, step, watchEvery, ...headers].map(String);
  const child = spawn(binary, args, { stdio: ["ignore", "pipe", "inherit"] });
  const opened = Promise.withResolvers<OpenFigures>();
  const result = Promise.withResolvers<LoadFigures>();
  const closed = Promise.withResolvers<void>();
  const waiting = new Map<number, PromiseWithResolvers<void>>();
  let steps = 0;
  for (const promise of [opened.promise, result.promise]) promise.catch(() => undefined);

  createInterface({ input: child.stdout }).on("line", (line) => {
    const [word, json = ""] = line.split(/ (.*)/s);
    if (word === "READY") opened.resolve(JSON.parse(json) as OpenFigures);
    if (word === "RESULT") result.resolve(JSON.parse(json) as LoadFigures);
    if (word !== "STEP") return;
    steps += 1;
    waiting.get(steps)?.resolve();
  });
  child.once("close", () => {
    const error = new Error("The load client ended before everything was received");
    opened.reject(error);
    result.reject(error);
    for (const step of waiting.values()) step.reject(error);
    closed.resolve();
  });

  return {
    opened: opened.promise,
    result: result.promise,
    async step(count) {
      if (steps >= count) return;
      const wait = Promise.withResolvers<void>();
      waiting.set(count, wait);
      await wait.promise;
      waiting.delete(count);
    },
    async stop() {
      child.kill("SIGKILL");
      await closed.promise;
    },
  };
}
