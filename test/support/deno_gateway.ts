import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { denoProgram } from "./runtime_programs.ts";

const root = join(import.meta.dirname, "../..");

/** `gateway/runtime/main_deno.ts` in a process of its own, as `npm run start:deno` starts it. */
export interface DenoGateway {
  /** Without a slash at its end. */
  readonly url: string;
  /** Everything that was said. */
  readonly output: () => string;
  /** Sends SIGTERM, or the given signal, and resolves with the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Rejects with everything that was said when it ends before it listens. */
export async function startDenoGateway(environment: Readonly<Record<string, string>>): Promise<DenoGateway> {
  const child = spawn(denoProgram(), ["run", "-q", "--no-prompt", "-P", "gateway/runtime/main_deno.ts"], {
    cwd: root,
    env: { PATH: process.env["PATH"], NO_COLOR: "1", PORT: "0", DRAIN_DELAY_SECONDS: "0", ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  const exited = once(child, "exit").then(([code]) => code as number | null);
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        said += text;
        const listening = /The gateway listens on (http:\/\/\S+)/.exec(said)?.[1];
        if (listening !== undefined) resolve(listening);
      });
    }
    void exited.then((code) => reject(new Error(`The gateway ended with ${code} before it listened:\n${said}`)));
  });
  return {
    url,
    output: () => said,
    async stop(signal = "SIGTERM") {
      child.kill(signal);
      return exited;
    },
  };
}
