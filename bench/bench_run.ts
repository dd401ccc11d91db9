import { startBackends, type Backends } from "./backends.ts";
import type { BenchServer } from "./bench_server.ts";
import { measureFanOut, type FanOutFigures, type FanOutOptions } from "./fan_out.ts";
import { startGatewayServer, type GatewayVariant } from "./gateway_bench_server.ts";
import { compileLoadClient } from "./load_client.ts";
import { startNchanServer } from "./nchan_bench_server.ts";
import { medians, text } from "./report.ts";

/** Parts that the benches of one run share. */
export interface BenchRun {
  readonly client: string;
  readonly backends: Backends;
  readonly progress: (line: string) => void;
  /** Rounds of each comparison; servers take turns, and medians count. */
  readonly rounds: number;
}

/** Null: it is not installed here. */
export type Start = () => Promise<BenchServer | null>;

/** Throws where the load client cannot be compiled. */
export async function openBenchRun(progress: (line: string) => void, rounds: number): Promise<BenchRun> {
  return { client: await compileLoadClient(), backends: await startBackends(), progress, rounds };
}

/** The servers take turns, so that other work of the machine affects all of them. The first round only warms up. */
export async function compare(run: BenchRun, starts: readonly Start[], options: FanOutOptions) {
  const measured = new Map<string, FanOutFigures[]>();
  await withServers(starts, async (servers) => {
    for (let round = 0; round <= run.rounds; round += 1) {
      for (const server of servers) {
        const figure = await measureFanOut(run.client, server, options).catch((error: unknown) => {
          // A round counts only when every event arrived once.
          if (server.name.startsWith("gateway")) throw error;
          run.progress(error instanceof Error ? error.message : String(error));
          return null;
        });
        if (figure === null) continue;
        run.progress(`${server.name}: ${text.thousands(figure.eventsPerSecond)}, p99 ${text.ms(figure.p99Ms)}`);
        if (round > 0) measured.set(server.name, [...(measured.get(server.name) ?? []), figure]);
      }
    }
  });
  return new Map([...measured].map(([name, figures]) => [name, medians(figures)] as const));
}

export async function withServers(
  starts: readonly Start[],
  work: (servers: readonly BenchServer[]) => Promise<void>,
): Promise<void> {
  const servers: BenchServer[] = [];
  try {
    for (const start of starts) {
      const server = await start();
      if (server !== null) servers.push(server);
    }
    await work(servers);
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

export function nchan({ progress }: BenchRun): Start {
  return async () => {
    const server = await startNchanServer();
    if (server === null) progress("nchan: left out: apt-get install nginx-light libnginx-mod-nchan");
    return server;
  };
}

export function gateway({ backends }: BenchRun, variant: GatewayVariant = "node"): Start {
  return () => startGatewayServer(backends, variant);
}
