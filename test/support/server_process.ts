import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

/** A gateway on another runtime, in a process of its own. */
export interface ServerProcess {
  /** Without a slash at its end. */
  readonly url: string;
  /** Everything that was said. */
  readonly output: () => string;
  /** Resolves with the exit code. */
  readonly exited: Promise<number | null>;
  /** Sends SIGTERM, and resolves with the exit code. */
  stop(): Promise<number | null>;
}

export interface ServerProcessOptions {
  /** Default: the project's. */
  readonly cwd?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Says that it listens; its group is the address. */
  readonly ready: RegExp;
  /** Receives what is said, as it comes. */
  readonly onOutput?: (text: string) => void;
}

/** Starts it. Rejects with everything that was said when it ends before it listens. */
export async function startServerProcess(
  [program = "", ...args]: readonly string[],
  { cwd = join(import.meta.dirname, "../.."), env, ready, onOutput }: ServerProcessOptions,
): Promise<ServerProcess> {
  const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  const exited = once(child, "exit").then(([code]) => code as number | null);
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        said += text;
        onOutput?.(text);
        const address = ready.exec(said)?.[1];
        if (address !== undefined) resolve(address);
      });
    }
    void exited.then((code) => reject(new Error(`The gateway ended with ${code} before it listened:\n${said}`)));
  });
  return {
    url,
    output: () => said,
    exited,
    stop() {
      child.kill();
      return exited;
    },
  };
}
