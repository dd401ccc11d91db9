import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { root } from "./built_package.ts";
import { startBinary, startCommand, type RunOptions, type Running } from "./command_line.ts";
import { denoProgram, wranglerEnvironment, wranglerProgram } from "./runtime_programs.ts";
import { temporaryFolder } from "./temporary_folder.ts";

/** A gateway in a process of its own. */
export interface ServerProcess extends Running {
  /** Without a slash at its end. */
  readonly url: string;
}

type Variables = Readonly<Record<string, string>>;

/** Starts it. Rejects with everything that was said when it ends before it listens. */
export function startServer([binary = "", ...args]: readonly string[], options: RunOptions): Promise<ServerProcess> {
  return untilReady(startBinary(binary, args, options));
}

async function untilReady(running: Running, ready = /The gateway listens on (http:\/\/\S+)/): Promise<ServerProcess> {
  const [, url = ""] = await running.until("stdout", ready);
  return { ...running, url };
}

/** The gateway on Node, as the package's command starts it. */
export async function startNodeGateway(environment: Variables): Promise<ServerProcess> {
  const folder = await temporaryFolder();
  const env = { PORT: "0", LOG_LEVEL: "debug", ...environment };
  const running = await untilReady(startCommand(["serve"], { cwd: folder.path, env }));
  void running.finished.then(() => folder[Symbol.asyncDispose]());
  return running;
}

/** The gateway on Deno, as `npm run start:deno` starts it, with the page. */
export async function startDenoGateway(environment: Variables): Promise<ServerProcess> {
  const [, args = ""] = packageJson.scripts["start:deno"].split(" && deno ");
  const env = { HOME: process.env["HOME"] ?? "", NO_COLOR: "1", PORT: "0", ...environment };
  return startServer([denoProgram(), ...args.split(" ")], { cwd: root, env });
}

export interface WranglerDevOptions {
  readonly environment: Variables;
  readonly port?: number;
  /** Or the path of a file. Default: `wrangler.toml` as it is. */
  readonly config?: object | string;
}

/** The configuration of a Worker of one file. */
export function workerConfig(main: string): object {
  return { name: "worker", main, compatibility_date: "2026-10-01", compatibility_flags: ["enable_request_signal"] };
}

/** `wrangler dev` on loopback. */
export async function startWranglerDev({ environment, port = 0, config }: WranglerDevOptions): Promise<ServerProcess> {
  const folder = await temporaryFolder();
  const write = async (name: string, text: string) => {
    const file = join(folder.path, name);
    await writeFile(file, text, { mode: 0o600 });
    return file;
  };
  const lines = Object.entries(environment).map(([name, value]) => `${name}='${value}'`);
  const args = ["dev", "--ip", "127.0.0.1", "--port", String(port), "--inspector-port", "0", "--local"];
  args.push("--env-file", await write("variables", lines.join("\n")));
  args.push("--persist-to", join(folder.path, "state"), "--test-scheduled", "--show-interactive-dev-session=false");
  const file = typeof config === "object" ? await write("wrangler.json", JSON.stringify(config)) : config;
  if (file !== undefined) args.push("--config", file);
  const options = { cwd: root, env: wranglerEnvironment(folder.path) };
  const started = startBinary(process.execPath, [wranglerProgram(), ...args], options);
  const running = await untilReady(started, /Ready on (http:\/\/127\.0\.0\.1:\d+)/);
  void running.finished.then(() => folder[Symbol.asyncDispose]());
  return running;
}
