import { execFile } from "node:child_process";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { startBinary } from "../test/support/command_line.ts";
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
  const client = startBinary(binary, args, { cwd: tmpdir() });
  const figuresAfter = async (word: string): Promise<unknown> => {
    const [, json = ""] = await client.until("stdout", new RegExp(`^${word} (.*)\n`, "m"));
    return JSON.parse(json);
  };
  const open = async () => {
    const figures = (await figuresAfter("READY")) as OpenFigures;
    if (figures.failed === 0) return figures;
    throw new Error(`${name}: ${figures.failed} streams were refused (${figures.status})`);
  };
  const [opened, result] = [open(), figuresAfter("RESULT") as Promise<LoadFigures>];
  for (const promise of [opened, result]) promise.catch(() => undefined);
  return {
    opened,
    result,
    async step(count) {
      if (count > 0) await client.until("stdout", new RegExp(`^STEP ${count}$`, "m"));
    },
    [Symbol.asyncDispose]: async () => void (await client.stop("SIGKILL")),
  };
}

/** Compiles `ssebench.c` of this folder. Throws where there is no C compiler. */
export async function compileLoadClient(): Promise<string> {
  const binary = join(await mkdtemp(join(tmpdir(), "scanstream-bench-")), "ssebench");
  await promisify(execFile)("gcc", ["-O2", "-o", binary, join(import.meta.dirname, "ssebench.c")]);
  return binary;
}
