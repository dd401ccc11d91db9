import packageJson from "../../package.json" with { type: "json" };
import { denoProgram } from "./runtime_programs.ts";
import { startServerProcess, type ServerProcess } from "./server_process.ts";

/** The gateway on Deno, as `npm run start:deno` starts it. */
export function startDenoGateway(environment: Readonly<Record<string, string>>): Promise<ServerProcess> {
  const [, args = ""] = packageJson.scripts["start:deno"].split(" && deno ");
  return startServerProcess([denoProgram(), ...args.split(" ")], {
    env: { PATH: process.env["PATH"], NO_COLOR: "1", PORT: "0", DRAIN_DELAY_SECONDS: "0", ...environment },
    ready: /The gateway listens on (http:\/\/\S+)/,
  });
}
