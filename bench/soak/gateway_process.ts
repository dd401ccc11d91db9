import { request } from "undici";
import { startGateway } from "../servers.ts";

/** `scanstream serve` in a separate process, and what it says of itself. */
export interface GatewayProcess {
  readonly url: string;
  /** Lines of the log that no run may have: errors, and secrets. */
  readonly complaints: readonly string[];
  /** Sums of the series of `/metrics`, by name; `{type="Timeout"}` and the like stay a part of the name. */
  metrics(): Promise<ReadonlyMap<string, number>>;
  residentBytes(): Promise<number>;
  /** Sends SIGTERM. Resolves with the exit code. */
  stop(): Promise<number | null>;
}

/** A JWT, a stream token or an API key. */
const secretPattern = /eyJ[\w-]{20,}|scs_\w+_\w{20,}/;
const maxKept = 10;

/** Resolves once it listens. */
export async function startGatewayProcess(
  environment: Readonly<Record<string, string>>,
  cwd: string,
): Promise<GatewayProcess> {
  const complaints: string[] = [];
  const gateway = await startGateway({
    env: environment,
    cwd,
    onError(line) {
      // Other lines are Node's own: a warning, or a stack.
      const isError = !line.startsWith("{") || /"level":"(error|fatal)"/.test(line);
      if ((isError || secretPattern.test(line)) && complaints.length < maxKept) complaints.push(line.slice(0, 400));
    },
  });
  const [, url = ""] = gateway.match;
  return {
    url,
    complaints,
    async metrics() {
      // On a new connection: one that is kept would be counted.
      const { body } = await request(`${url}/metrics`, { reset: true });
      const sums = new Map<string, number>();
      for (const [, name = "", labels = "", value] of (await body.text()).matchAll(/^(\w+)(\{.*\})? (\S+)$/gm))
        for (const key of new Set([name, name + labels])) sums.set(key, (sums.get(key) ?? 0) + Number(value));
      return sums;
    },
    residentBytes: () => gateway.residentBytes(),
    stop: () => gateway.stop(),
  };
}
