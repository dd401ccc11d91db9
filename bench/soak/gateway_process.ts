import { request } from "undici";
import { gatewayCommands, startGateway, type GatewayVariant } from "../servers.ts";

/** A gateway in a separate process, and what it says of itself. */
export type GatewayProcess = Awaited<ReturnType<typeof startGatewayProcess>>;

/** Lines that no run may log: errors, secrets (a JWT, a stream token, an API key), and Node's own, which are warnings and stacks. */
const complaint = String.raw`^[^{]|"level":"(error|fatal)"|eyJ[A-Za-z0-9_-]{20,}|scs_\w+_\w{20,}`;

/** Resolves once it listens. */
export async function startGatewayProcess(
  environment: Readonly<Record<string, string>>,
  cwd: string,
  on: GatewayVariant = "node",
) {
  // Its whole log is more than this process should read.
  const redirect = `2> >(grep -E --line-buffered '${complaint}' >&2)`;
  const gateway = await startGateway({ command: gatewayCommands[on](), env: environment, cwd, redirect });
  return {
    ...gateway,
    /** The complaints in its log. */
    complaints: () => gateway.output.stderr.split("\n", 10).filter((line) => line !== ""),
    /** Sums of the series of `/metrics`, by name; `{type="Timeout"}` and the like stay a part of the name. */
    async metrics(): Promise<ReadonlyMap<string, number>> {
      // On a new connection: one that is kept would be counted.
      const { body } = await request(`${gateway.url}/metrics`, { reset: true });
      const sums = new Map<string, number>();
      for (const [, name = "", labels = "", value] of (await body.text()).matchAll(/^(\w+)(\{.*\})? (\S+)$/gm))
        for (const key of new Set([name, name + labels])) sums.set(key, (sums.get(key) ?? 0) + Number(value));
      return sums;
    },
  };
}
