import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import type { BenchServer } from "./servers.ts";

export interface LoadOptions {
  readonly streams: number;
  /** Default 1. */
  readonly eventsPerStream?: number;
  /** Default 60. */
  readonly timeoutSeconds?: number;
  /** How many events, over all streams, make a step. Default 0: steps are not reported. */
  readonly step?: number;
}

export interface OpenFigures {
  readonly ready: number;
  readonly failed: number;
  readonly seconds: number;
  /** That of the first answer. */
  readonly status: number;
}

export interface LoadFigures {
  readonly events: number;
  readonly expected: number;
  /** From the first event's sending to the last one's receipt. */
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** The streams of one run: opened, then counted until every event has come, or the time is over. */
export interface LoadClient extends AsyncDisposable {
  /** Rejects where a stream was refused. */
  readonly opened: Promise<OpenFigures>;
  /** Resolves once this many steps have been received in all; rejects when the client ended before. */
  step(count: number): Promise<void>;
  readonly result: Promise<LoadFigures>;
}

/** The path of the server may be `@file`, which has one path a line. */
export function startLoadClient(
  binary: string,
  { name, host, port, path, headers }: Pick<BenchServer, "name" | "host" | "port" | "path" | "headers">,
  { streams, eventsPerStream = 1, timeoutSeconds = 60, step = 0 }: LoadOptions,
): LoadClient {
  const numbers = [streams, eventsPerStream, timeoutSeconds, step].map(String);
  const args = [host, String(port), path, ...numbers, ...headers];
  const child = spawn(binary, args, { stdio: ["ignore", "pipe", "inherit"] });
  const closed = once(child, "close");
  const opened = Promise.withResolvers<OpenFigures>();
  const result = Promise.withResolvers<LoadFigures>();
  let waiting: { readonly count: number; readonly reached: PromiseWithResolvers<void> } | null = null;
  let steps = 0;
  for (const promise of [opened.promise, result.promise]) promise.catch(() => undefined);
  createInterface({ input: child.stdout }).on("line", (line) => {
    const [word, json = ""] = line.split(/ (.*)/s);
    if (word === "READY") {
      const figures = JSON.parse(json) as OpenFigures;
      const { failed, status } = figures;
      if (failed === 0) opened.resolve(figures);
      else opened.reject(new Error(`${name}: ${failed} streams were refused (${status})`));
    }
    if (word === "RESULT") result.resolve(JSON.parse(json) as LoadFigures);
    if (word === "STEP") steps += 1;
    if (waiting !== null && steps >= waiting.count) waiting.reached.resolve();
  });
  void closed.then(() => {
    const error = new Error("The load client ended before everything was received");
    for (const { reject } of [opened, result]) reject(error);
    waiting?.reached.reject(error);
  });
  return {
    opened: opened.promise,
    result: result.promise,
    async step(count) {
      if (steps >= count) return;
      waiting = { count, reached: Promise.withResolvers<void>() };
      await waiting.reached.promise;
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await closed;
    },
  };
}

/** Compiles `ssebench.c` of this folder. Throws where there is no C compiler. */
export async function compileLoadClient(): Promise<string> {
  const binary = join(await mkdtemp(join(tmpdir(), "scanstream-bench-")), "ssebench");
  await promisify(execFile)("gcc", ["-O2", "-o", binary, join(import.meta.dirname, "ssebench.c")]);
  return binary;
}
