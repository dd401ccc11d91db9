import type { ChildProcess } from "node:child_process";
import { readFile } from "node:fs/promises";
import { startBinary, type Running, type RunOptions } from "../test/support/command_line.ts";

export interface MeasuredProcess extends Pick<Running, "output"> {
  /** That of the awaited line. */
  readonly match: RegExpExecArray;
  /** CPU time of it and its children so far. */
  cpuSeconds(): Promise<number>;
  /** Resident memory of it and its children now. */
  residentBytes(): Promise<number>;
  /** Sends SIGTERM. Resolves with the exit code; null: a signal ended it. */
  stop(): Promise<number | null>;
}

export interface ProcessOptions extends Pick<RunOptions, "cwd" | "env"> {
  readonly command: readonly string[];
  /** Resolves once a line on its standard output is like this. */
  readonly until: RegExp;
  /** Redirections of bash. */
  readonly redirect?: string;
}

/** As if it was the first start on this machine. */
const noCompileCache = { NODE_COMPILE_CACHE: undefined };

/** Starts a server in a separate process, with as many file descriptors as the machine allows. */
export async function startProcess({
  command: [binary = "", ...args],
  until,
  redirect = "",
  cwd,
  env,
}: ProcessOptions): Promise<MeasuredProcess> {
  const shell = `ulimit -n 100000 2>/dev/null || ulimit -n "$(ulimit -Hn)"; exec "$@" ${redirect}`;
  const running = startBinary(binary, args, { cwd, env: { ...noCompileCache, ...env }, shell });
  const match = await running.until("stdout", until);
  return {
    output: running.output,
    match,
    cpuSeconds: async () => (await statsOf(running.process)).cpuSeconds,
    residentBytes: async () => (await statsOf(running.process)).residentBytes,
    stop: async () => (await running.stop()).code,
  };
}

interface CommandOptions extends Required<Pick<RunOptions, "cwd" | "env">> {
  readonly command: readonly string[];
  readonly exitCodes: readonly number[];
  readonly timeoutSeconds: number;
}

const sampleEveryMs = 20;
/** That of `timeout` of coreutils. */
const lateCode = 124;

/** Runs a command to its end. Null: it was stopped at the timeout. Rejects with its output when it fails. */
export async function runMeasured({ command, cwd, env, exitCodes, timeoutSeconds }: CommandOptions) {
  const startedMs = performance.now();
  // The shell knows the CPU time of what has ended.
  const shell = `TIMEFORMAT="CPU %U %S"; time timeout ${timeoutSeconds} "$@"`;
  const [binary = "", ...args] = command;
  const running = startBinary(binary, args, { cwd, env: { ...noCompileCache, ...env }, shell });
  let peakBytes = 0;
  const sampling = setInterval(() => {
    void statsOf(running.process).then((stats) => (peakBytes = Math.max(peakBytes, stats.peakBytes)));
  }, sampleEveryMs);
  const { code, stdout, stderr } = await running.finished;
  clearInterval(sampling);
  const wallMs = Math.round(performance.now() - startedMs);
  if (code === lateCode) return null;
  const [, user, system] = /CPU ([\d.]+) ([\d.]+)\s*$/.exec(stderr) ?? [];
  if (code === null || !exitCodes.includes(code) || system === undefined)
    throw new Error(`${command.join(" ")} failed (${String(code)}):\n${stdout}\n${stderr}`);
  return { wallMs, cpuMs: (Number(user) + Number(system)) * 1000, maxRssMiB: Math.round(peakBytes / 2 ** 20) };
}

/** Sums over a process and its children; `peakBytes` is that of the largest. */
async function statsOf(child: ChildProcess) {
  const stats = await Promise.all((await treeOf(child.pid ?? 0)).map(readStat));
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
