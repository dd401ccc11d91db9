import { spawn } from "node:child_process";

export interface MeasuredCommand {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly exitCodes: readonly number[];
}

/** Runs a command that prints its peak memory at its end, as `peak_memory.ts` does. Rejects with its output when it fails. */
export async function runMeasured({ command: [program = "", ...args], env, exitCodes }: MeasuredCommand) {
  const startedMs = performance.now();
  const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const code = await new Promise<number | null>((resolve, reject) =>
    child.once("close", resolve).once("error", reject),
  );
  const wallMs = Math.round(performance.now() - startedMs);
  const peak = /peak memory (\d+) KiB/.exec(text)?.[1];
  if (code === null || !exitCodes.includes(code) || peak === undefined)
    throw new Error(`${[program, ...args].join(" ")} failed (${String(code)}):\n${text}`);
  return { wallMs, maxRssMiB: Math.round(Number(peak) / 1024) };
}
