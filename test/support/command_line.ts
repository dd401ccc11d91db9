import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { builtPackage, unoptimized } from "./built_package.ts";
import { requestSharedService } from "./shared_services.ts";

/** Folder in which Node keeps compiled code from one command to the next: a fifth of a command's CPU time. */
const compileCache = join(builtPackage, "../compiled");
export { builtPackage, unoptimized };

// A system test that imports this module runs the built package.
await requestSharedService("package");

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly process: ChildProcess;
  /** Everything that it wrote so far. */
  readonly output: { readonly stdout: string; readonly stderr: string };
  readonly finished: Promise<Outcome>;
  /** Resolves with the match as soon as the text is there; rejects when the process ends without it. */
  until(stream: "stdout" | "stderr", pattern: RegExp): Promise<RegExpExecArray>;
  stop(signal?: NodeJS.Signals): Promise<Outcome>;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Folder in which it runs; default: one of its own. */
  readonly cwd: string;
  /** A line of bash that runs it as `"$@"`, for redirections and limits; default: it is run without a shell. */
  readonly shell?: string;
}

/** Starts the command line as a user would, with an environment of its own. */
export function startCommand(args: readonly string[], options: RunOptions): Running {
  return startBinary(process.execPath, [...unoptimized, join(builtPackage, "scanstream.js"), ...args], options);
}

/** As `startCommand`, for another program. */
export function startBinary(binary: string, args: readonly string[], options: RunOptions): Running {
  const command = [binary, ...args] as const;
  const [file, ...rest] = options.shell === undefined ? command : ["bash", "-c", options.shell, "bash", ...command];
  const child = spawn(file, rest, {
    cwd: options.cwd,
    // There is no load balancer before a test's gateway that would have to notice first.
    env: {
      PATH: process.env["PATH"],
      HOME: options.cwd,
      DRAIN_DELAY_SECONDS: "0",
      NODE_COMPILE_CACHE: compileCache,
      ...options.env,
    },
  });
  const output = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream].setEncoding("utf8").on("data", (text: string) => {
      output[stream] += text;
      child.emit("output");
    });
  }
  const finished = once(child, "close").then(([code]): Outcome => ({ code: code as number | null, ...output }));
  return {
    process: child,
    output,
    finished,
    async until(stream, pattern) {
      for (;;) {
        const match = pattern.exec(output[stream]);
        if (match !== null) return match;
        const isOver = await Promise.race([once(child, "output").then(() => false), finished.then(() => true)]);
        if (isOver && pattern.exec(output[stream]) === null) {
          const { code, stdout, stderr } = await finished;
          throw new Error(`The command ended with ${code} before it wrote ${pattern}:\n${stdout}\n${stderr}`);
        }
      }
    },
    stop(signal = "SIGTERM") {
      child.kill(signal);
      return finished;
    },
  };
}

/** Runs the command line to its end. */
export function runCommand(args: readonly string[], options: RunOptions): Promise<Outcome> {
  return startCommand(args, options).finished;
}
