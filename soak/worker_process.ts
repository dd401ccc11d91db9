import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { readOutside, type GatewayProcess, type GatewayProcessOptions } from "./gateway_process.ts";

/** What a child says once the Worker listens. */
export interface WorkerListens {
  readonly url: string;
  readonly pid: number;
}

/**
 * The Worker as it is deployed, in workerd itself. What stands before its database and its broker is in a separate process, so that
 * it takes no time of whoever measures.
 */
export async function startWorkerProcess({
  environment,
  onStarted,
}: Pick<GatewayProcessOptions, "environment" | "onStarted">): Promise<
  Pick<GatewayProcess, "url" | "outside" | "stop">
> {
  const env = { PATH: process.env["PATH"], ...environment };
  const child = fork(join(import.meta.dirname, "worker_child.ts"), { env, silent: true });
  let said = "";
  // A Worker logs each request: only its last words are kept, for when it ends.
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => void (said = (said + text).slice(-2000)));
  const exited = once(child, "exit").then(([code]) => code as number | null);
  const failed = exited.then((code) => Promise.reject(new Error(`The Worker ended with ${code}: ${said}`)));
  const [{ url, pid }] = (await Promise.race([once(child, "message"), failed])) as [WorkerListens];
  failed.catch(() => undefined);
  await onStarted?.(pid);
  return {
    url,
    outside: () => readOutside(pid),
    stop() {
      if (child.connected) child.disconnect();
      return exited;
    },
  };
}
