import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { wranglerEnvironment, wranglerProgram } from "./runtime_programs.ts";
import { startServerProcess, type ServerProcess, type ServerProcessOptions } from "./server_process.ts";

export interface WranglerDevOptions extends Pick<ServerProcessOptions, "onOutput"> {
  readonly environment: Readonly<Record<string, string>>;
  readonly port?: number;
}

/** `wrangler dev` over `wrangler.toml` as it is, on loopback. */
export async function startWranglerDev(options: WranglerDevOptions): Promise<ServerProcess> {
  const { environment, port = 0, ...others } = options;
  const directory = await mkdtemp(join(tmpdir(), "scanstream-wrangler-"));
  const environmentFile = join(directory, "variables");
  const lines = Object.entries(environment).map(([name, value]) => `${name}='${value}'`);
  await writeFile(environmentFile, lines.join("\n"), { mode: 0o600 });
  const args = ["dev", "--ip", "127.0.0.1", "--port", String(port), "--inspector-port", "0"];
  args.push("--local", "--env-file", environmentFile, "--persist-to", join(directory, "state"), "--test-scheduled");
  args.push("--show-interactive-dev-session=false");
  const server = await startServerProcess([process.execPath, wranglerProgram(), ...args], {
    env: wranglerEnvironment(directory),
    ready: /Ready on (http:\/\/127\.0\.0\.1:\d+)/,
    ...others,
  });
  return {
    ...server,
    async stop() {
      const code = await server.stop();
      await rm(directory, { recursive: true, force: true });
      return code;
    },
  };
}
