import { spawn } from "node:child_process";

interface MeasuredCommand {
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

/**
 * An option of Node's: prints the program's peak memory and CPU time when it exits. The memory is the program's own:
 * `resourceUsage().maxRSS` is never below what the process that started it had, on Linux. Not a file of TypeScript, for which
 * Node would load its compiler into what is measured.
 */
export const saysWhatItUsed = `--import=data:text/javascript,${encodeURIComponent(`
import { readFileSync } from "node:fs";
process.once("exit", () => {
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  const peak = /VmHWM:\\s+(\\d+) kB/.exec(readFileSync("/proc/self/status", "utf8"))[1];
  process.stderr.write(\`peak memory \${peak} KiB, CPU \${Math.round((userCPUTime + systemCPUTime) / 1000)} ms\\n\`);
});
`)}`;

/**
 * Runs a command that prints at its end what it used, as with `saysWhatItUsed`. Null: it was stopped at the timeout. Rejects
 * with its output when it fails.
 */
export async function runMeasured(options: MeasuredCommand): Promise<Used | null> {
  const { command, env, exitCodes, timeoutMs } = options;
  const [program = "", ...args] = command;
  const startedMs = performance.now();
  const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const late = setTimeout(() => child.kill("SIGKILL"), timeoutMs);
  const code = await new Promise<number | null>((resolve, reject) =>
    child.once("close", resolve).once("error", reject),
  );
  clearTimeout(late);
  const wallMs = Math.round(performance.now() - startedMs);
  if (child.killed) return null;
  const used = /peak memory (\d+) KiB, CPU (\d+) ms/.exec(text);
  if (code === null || !exitCodes.includes(code) || used === null)
    throw new Error(`${command.join(" ")} failed (${String(code)}):\n${text}`);
  return { wallMs, cpuMs: Number(used[2]), maxRssMiB: Math.round(Number(used[1]) / 1024) };
}
