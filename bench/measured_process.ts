import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";

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
  const remember = (line: string) => {
    if (lines.push(line) > 20) lines.shift();
  };
  createInterface({ input: child.stderr }).on("line", (line) => {
    remember(line);
    onError?.(line);
  });
  const match = await untilLine(child, until, remember, lines);
  return {
    match,
    cpuSeconds: () => cpuSeconds(pidOf(child)),
    residentBytes: () => residentBytes(pidOf(child)),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
      const exited = once(child, "exit");
      child.kill("SIGTERM");
      const late = setTimeout(() => child.kill("SIGKILL"), stopMs);
      await exited;
      clearTimeout(late);
      return child.exitCode;
    },
  };
}

async function untilLine(
  child: ChildProcess,
  until: RegExp,
  remember: (line: string) => void,
  lines: readonly string[],
): Promise<RegExpExecArray> {
  const { promise, resolve, reject } = Promise.withResolvers<RegExpExecArray>();
  const fail = (what: string) =>
    reject(new Error(`${child.spawnargs.slice(4).join(" ")} ${what}:\n${lines.join("\n")}`));
  const late = setTimeout(() => {
    fail("did not start in time");
    child.kill("SIGKILL");
  }, startMs);
  child.once("exit", (code) => fail(`ended with ${String(code)}`));
  if (child.stdout !== null) {
    createInterface({ input: child.stdout }).on("line", (line) => {
      remember(line);
      const match = until.exec(line);
      if (match !== null) resolve(match);
    });
  }
  try {
    return await promise;
  } finally {
    clearTimeout(late);
  }
}

async function cpuSeconds(pid: number): Promise<number> {
  const stats = await Promise.all((await treeOf(pid)).map(readStat));
  return stats.reduce((sum, stat) => sum + stat.cpuSeconds, 0);
}

async function residentBytes(pid: number): Promise<number> {
  const stats = await Promise.all((await treeOf(pid)).map(readStat));
  return stats.reduce((sum, stat) => sum + stat.residentBytes, 0);
}

function pidOf(child: ChildProcess): number {
  if (child.pid === undefined) throw new Error("The process was not started");
  return child.pid;
}

async function treeOf(pid: number): Promise<readonly number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8").catch(() => "");
  const trees = await Promise.all(
    children
      .split(" ")
      .filter(Boolean)
      .map((child) => treeOf(Number(child))),
  );
  return [pid, ...trees.flat()];
}

/** The kernel counts CPU time in hundredths of a second, and memory in pages. */
const ticksPerSecond = 100;
const pageBytes = 4096;

/** https://www.kernel.org/doc/html/latest/filesystems/proc.html, /proc/<pid>/stat: the fields after the name in brackets. */
async function readStat(pid: number): Promise<{ readonly cpuSeconds: number; readonly residentBytes: number }> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [userTicks, systemTicks, pages] = [fields[11], fields[12], fields[21]].map((field) => Number(field ?? 0));
  return {
    cpuSeconds: ((userTicks ?? 0) + (systemTicks ?? 0)) / ticksPerSecond,
    residentBytes: (pages ?? 0) * pageBytes,
  };
}
