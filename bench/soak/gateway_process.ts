import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { request } from "undici";
import type { Inside } from "./inside.ts";

const root = join(import.meta.dirname, "../..");

/** `scanstream serve` in a separate process, and what it holds. */
export interface GatewayProcess {
  readonly url: string;
  /** Errors, and what no log may say. */
  readonly log: GatewayLog;
  /** From outside: the kernel's count of its memory and descriptors. */
  outside(): Promise<Outside>;
  /** One question at a time. */
  inside(options: { readonly collect: boolean }): Promise<Inside>;
  /** `/metrics`: the sum of all series of a name. */
  metric(name: string): Promise<number>;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
}

export interface Outside {
  readonly rssBytes: number;
  readonly descriptors: number;
}

export interface GatewayLog {
  readonly errors: readonly string[];
  readonly secrets: readonly string[];
}

/** Resolves once it listens. */
export async function startGatewayProcess({
  environment,
  cwd,
}: {
  readonly environment: Readonly<Record<string, string>>;
  readonly cwd: string;
}): Promise<GatewayProcess> {
  const env = {
    PATH: process.env["PATH"],
    DRAIN_DELAY_SECONDS: "0",
    ...environment,
    METRICS_PORT: "0",
  };
  const execArgv = ["--expose-gc", "--import", join(import.meta.dirname, "inside.ts")];
  const child = fork(join(root, "command_line/scanstream.ts"), ["serve"], { cwd, execArgv, env, silent: true });
  const exited = once(child, "exit").then(([code]) => code as number | null);
  const log = watchLog(child);
  const { url, metricsUrl } = await addresses(child, exited, log);
  return {
    url,
    log,
    outside: () => readOutside(child.pid ?? 0),
    async inside({ collect }) {
      const answered = once(child, "message");
      child.send(collect);
      return ((await answered) as [Inside])[0];
    },
    metric: async (name) => sumOf(await read(metricsUrl), name),
    stop() {
      child.kill("SIGTERM");
      return exited;
    },
  };
}

async function addresses(
  child: ChildProcess,
  exited: Promise<number | null>,
  log: GatewayLog,
): Promise<{ readonly url: string; readonly metricsUrl: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ url: string; metricsUrl: string }>();
  let said = "";
  const listen = (text: string) => {
    said += text;
    const url = /The gateway listens on (\S+)/.exec(said)?.[1];
    const metricsUrl = /Metrics are on (\S+)\n/.exec(said)?.[1];
    if (url !== undefined && metricsUrl !== undefined) resolve({ url, metricsUrl });
  };
  child.stdout?.setEncoding("utf8").on("data", listen);
  void exited.then((code) => reject(new Error(`The gateway ended with ${code}: ${log.errors.join("\n")}`)));
  const found = await promise;
  child.stdout?.off("data", listen).resume();
  return found;
}

/** A JWT, a stream token or an API key. */
const secretPattern = /eyJ[\w-]{20,}|scs_\w+_\w{20,}/;
const maxKept = 10;

function watchLog(child: ChildProcess): GatewayLog {
  const log = { errors: [] as string[], secrets: [] as string[] };
  if (child.stderr === null) throw new Error("The gateway has no standard error");
  createInterface({ input: child.stderr }).on("line", (line) => {
    // Other lines are Node's own: a warning, or a stack.
    const isError = !line.startsWith("{") || /"level":"(error|fatal)"/.test(line);
    if (isError && log.errors.length < maxKept) log.errors.push(line.slice(0, 400));
    if (secretPattern.test(line) && log.secrets.length < maxKept) log.secrets.push(line.slice(0, 400));
  });
  return log;
}

/** https://www.kernel.org/doc/html/latest/filesystems/proc.html, /proc/<pid>/status: sizes in KiB. */
async function readOutside(pid: number): Promise<Outside> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  const rssBytes = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
  const descriptors = (await readdir(`/proc/${pid}/fd`)).length;
  return { rssBytes, descriptors };
}

/** On a new connection: one that is kept would be counted. */
async function read(url: string): Promise<string> {
  const { body } = await request(url, { reset: true });
  return body.text();
}

function sumOf(text: string, name: string): number {
  return text
    .split("\n")
    .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
}
