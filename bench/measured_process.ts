import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { pause } from "../shared/abortable.ts";

export interface MeasuredProcess {
  /** That of the awaited line. */
  readonly match: RegExpExecArray;
  /** CPU time of it and its children so far. */
  cpuSeconds(): Promise<number>;
  /** Resident memory of it and its children now. */
  residentBytes(): Promise<number>;
  /** Sends SIGTERM. Resolves with the exit code; null: a signal ended it. */
  stop(): Promise<number | null>;
}

export interface ProcessOptions {
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  /** Resolves once a line on its standard output is like this. */
  readonly until: RegExp;
  /** Receives each line of its standard error. */
  readonly onError?: (line: string) => void;
}

const startMs = 30_000;
const stopMs = 15_000;
/** Lines that an error quotes. */
const maxLines = 20;

/** Starts a server in a separate process, with as many file descriptors as the machine allows. */
export async function startProcess({ command, env, cwd, until, onError }: ProcessOptions): Promise<MeasuredProcess> {
  const child = spawn(
    "sh",
    ["-c", 'ulimit -n 100000 2>/dev/null || ulimit -n "$(ulimit -Hn)"; exec "$@"', "sh", ...command],
    {
      stdio: ["ignore", "pipe", "pipe"],
      ...(env === undefined ? {} : { env: { PATH: process.env["PATH"], ...env } }),
      ...(cwd === undefined ? {} : { cwd }),
    },
  );
  const lines: string[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<RegExpExecArray>();
  const fail = (what: string) => reject(new Error(`${command.join(" ")} ${what}:\n${lines.join("\n")}`));
  const remember = (line: string) => {
    if (lines.push(line) > maxLines) lines.shift();
  };
  createInterface({ input: child.stderr }).on("line", (line) => {
    remember(line);
    onError?.(line);
  });
  createInterface({ input: child.stdout }).on("line", (line) => {
    remember(line);
    const match = until.exec(line);
    if (match !== null) resolve(match);
  });
  child.once("exit", (code) => fail(`ended with ${String(code)}`));
  const late = setTimeout(() => {
    fail("did not start in time");
    child.kill("SIGKILL");
  }, startMs);
  const match = await promise.finally(() => clearTimeout(late));
  return {
    match,
    cpuSeconds: async () => (await statsOf(child)).cpuSeconds,
    residentBytes: async () => (await statsOf(child)).residentBytes,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
      const exited = once(child, "exit");
      child.kill("SIGTERM");
      const killing = setTimeout(() => child.kill("SIGKILL"), stopMs);
      await exited;
      clearTimeout(killing);
      return child.exitCode;
    },
  };
}

interface CommandOptions {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly exitCodes: readonly number[];
  readonly timeoutMs: number;
}

interface Used {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly maxRssMiB: number;
}

const sampleEveryMs = 20;

/** Runs a command to its end. Null: it was stopped at the timeout. Rejects with its output when it fails. */
export async function runMeasured({ command, env, exitCodes, timeoutMs }: CommandOptions): Promise<Used | null> {
  const startedMs = performance.now();
  // The shell knows the CPU time of what has ended.
  const timed = 'TIMEFORMAT="CPU %U %S"; time "$@"';
  const child = spawn("bash", ["-c", timed, "bash", ...command], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const closed = once(child, "close") as Promise<[number | null]>;
  const over = new AbortController();
  void closed.then(() => over.abort());
  let peakBytes = 0;
  let isLate = false;
  while (!over.signal.aborted) {
    peakBytes = Math.max(peakBytes, (await statsOf(child)).peakBytes);
    if (!isLate && performance.now() - startedMs > timeoutMs) {
      isLate = true;
      process.kill(-pidOf(child), "SIGKILL");
    }
    await pause(sampleEveryMs, [over.signal]);
  }
  const [code] = await closed;
  const wallMs = Math.round(performance.now() - startedMs);
  if (isLate) return null;
  const [, user, system] = /CPU ([\d.]+) ([\d.]+)\s*$/.exec(text) ?? [];
  if (code === null || !exitCodes.includes(code) || system === undefined)
    throw new Error(`${command.join(" ")} failed (${String(code)}):\n${text}`);
  return { wallMs, cpuMs: (Number(user) + Number(system)) * 1000, maxRssMiB: Math.round(peakBytes / 2 ** 20) };
}

function pidOf(child: ChildProcess): number {
  if (child.pid === undefined) throw new Error("The process was not started");
  return child.pid;
}

/** Sums over a process and its children; `peakBytes` is that of the largest. */
async function statsOf(child: ChildProcess) {
  const stats = await Promise.all((await treeOf(pidOf(child))).map(readStat));
  const sum = (key: "cpuSeconds" | "residentBytes") => stats.reduce((all, stat) => all + stat[key], 0);
  const peakBytes = Math.max(...stats.map((stat) => stat.peakBytes));
  return { cpuSeconds: sum("cpuSeconds"), residentBytes: sum("residentBytes"), peakBytes };
}

async function treeOf(pid: number): Promise<readonly number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8").catch(() => "");
  const pids = children.split(" ").filter(Boolean).map(Number);
  return [pid, ...(await Promise.all(pids.map(treeOf))).flat()];
}

/** The kernel counts CPU time in hundredths of a second, and memory in pages. */
const ticksPerSecond = 100;
const pageBytes = 4096;

/** https://www.kernel.org/doc/html/latest/filesystems/proc.html, /proc/<pid>/stat: the fields after the name in brackets. */
async function readStat(pid: number) {
  const [stat, status] = await Promise.all(
    ["stat", "status"].map((name) => readFile(`/proc/${pid}/${name}`, "utf8").catch(() => "")),
  );
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ") ?? [];
  const [userTicks, systemTicks, pages] = [fields[11], fields[12], fields[21]].map((field) => Number(field ?? 0));
  return {
    cpuSeconds: ((userTicks ?? 0) + (systemTicks ?? 0)) / ticksPerSecond,
    residentBytes: (pages ?? 0) * pageBytes,
    peakBytes: Number(/VmHWM:\s+(\d+) kB/.exec(status ?? "")?.[1] ?? 0) * 1024,
  };
}
