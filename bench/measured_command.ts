import { spawn } from "node:child_process";

export interface MeasuredCommand {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly exitCodes: readonly number[];
  /** Default: as long as it takes. */
  readonly timeoutMs?: number;
}

interface Used {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly maxRssMiB: number;
}

/**
 * Runs a command that prints at its end what it used, as `peak_memory.ts` does. Null: it was stopped at the timeout. Rejects
 * with its output when it fails.
 */
export async function runMeasured(options: MeasuredCommand & { readonly timeoutMs: number }): Promise<Used | null>;
export async function runMeasured(options: Omit<MeasuredCommand, "timeoutMs">): Promise<Used>;
export async function runMeasured(options: MeasuredCommand): Promise<Used | null> {
  const { command, env, exitCodes, timeoutMs } = options;
  const [program = "", ...args] = command;
  const startedMs = performance.now();
  const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const late = timeoutMs === undefined ? undefined : setTimeout(() => child.kill("SIGKILL"), timeoutMs);
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
