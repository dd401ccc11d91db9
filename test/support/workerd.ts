import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { build } from "esbuild";
import { resolveFromWrangler } from "./runtime_programs.ts";
import { refuseInFastTest } from "./machine_tools.ts";

export interface Workerd {
  /** Without a slash at its end. */
  readonly url: string;
  /** The answer's JSON, or its status and text. */
  ask(path: string): Promise<unknown>;
  close(): Promise<void>;
}

export interface WorkerdOptions {
  readonly bindings: Readonly<Record<string, string>>;
  /** A class that the Worker exports, bound under its name in capitals. */
  readonly durableObject?: string;
}

/** The Worker of this file in the runtime of Cloudflare Workers, on a port of its own. */
export async function startWorkerd(entryPoint: string, options: WorkerdOptions): Promise<Workerd> {
  const directory = mkdtempSync(join(tmpdir(), "scanstream-workerd-"));
  const [program = "", ...args] = await prepareWorkerd(entryPoint, directory, options);
  const child = spawn(program, [...args, "--control-fd=3"], { stdio: ["ignore", "inherit", "inherit", "pipe"] });
  const control = createInterface({ input: child.stdio[3] as Readable });
  const [line] = await once(control, "line");
  const { port } = JSON.parse(String(line)) as { readonly port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    async ask(path) {
      const response = await fetch(`http://127.0.0.1:${port}${path}`);
      return response.ok && response.headers.get("content-type") === "application/json"
        ? response.json()
        : `${response.status} ${await response.text()}`;
    },
    async close() {
      child.kill();
      await once(child, "exit");
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/**
 * The command that serves the Worker, whose bundle and configuration are written to the folder. With `--control-fd` added it reports
 * its port there, as a line of JSON.
 */
async function prepareWorkerd(
  entryPoint: string,
  directory: string,
  { bindings, durableObject: name }: WorkerdOptions,
): Promise<readonly string[]> {
  refuseInFastTest("workerd");
  await build({
    entryPoints: [entryPoint],
    bundle: true,
    format: "esm",
    conditions: ["workerd", "worker"],
    outfile: join(directory, "worker.js"),
    logLevel: "error",
  });
  const objects =
    name === undefined
      ? ""
      : `durableObjectNamespaces = [(className = "${name}", uniqueKey = "${name}")], durableObjectStorage = (inMemory = void),`;
  const texts = Object.entries(bindings).map(([key, text]) => `(name = "${key}", text = ${JSON.stringify(text)})`);
  if (name !== undefined) texts.push(`(name = "${name.toUpperCase()}", durableObjectNamespace = "${name}")`);
  writeFileSync(
    join(directory, "config.capnp"),
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker), (name = "internet", network = (allow = ["private"]))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "2026-10-01",
  compatibilityFlags = ["enable_request_signal"],
  bindings = [${texts.join(", ")}],
  ${objects}
);
`,
  );
  return [resolveFromWrangler("workerd/bin/workerd"), "serve", join(directory, "config.capnp")];
}
