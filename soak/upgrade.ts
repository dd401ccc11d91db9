import { runLoad, type LoadReport } from "../conformance/load/run_load.ts";
import { pause } from "../shared/abortable.ts";
import { temporaryFolder } from "../test/support/command_line.ts";
import { freePort } from "../test/support/free_port.ts";
import { startNginx } from "../test/support/proxies.ts";
import { startEnvironment } from "./environment.ts";
import { startGatewayProcess, type GatewayProcess } from "./gateway_process.ts";

export interface UpgradeOptions {
  readonly streams: number;
  /** How long streams are held between two steps. */
  readonly holdMs: number;
  readonly log: (line: string) => void;
}

export interface UpgradeReport extends LoadReport {
  readonly gateway_exit_codes: readonly (number | null)[];
}

const eventsPerSecond = 10;

/** Replaces two gateways behind nginx, with the settings of `deploy/`, one after the other while clients follow a scan. */
export async function runUpgrade({ streams, holdMs, log }: UpgradeOptions): Promise<UpgradeReport> {
  await using opened = new AsyncDisposableStack();
  const folder = opened.use(await temporaryFolder()).path;
  const environment = await startEnvironment();
  opened.defer(() => environment.close());
  const start = (port: number) =>
    startGatewayProcess({
      cwd: folder,
      environment: {
        ...environment.environment,
        PORT: String(port),
        DRAIN_DELAY_SECONDS: "1",
        EVENTSTREAM_MAX_STREAMS_PER_TENANT: "20000",
      },
    });
  const gateways = new Map<number, GatewayProcess>();
  for (const port of [await freePort(), await freePort()]) gateways.set(port, await start(port));
  opened.defer(async () => void (await Promise.all(Array.from(gateways.values(), (gateway) => gateway.stop()))));
  const proxy = await startNginx([...gateways.keys()], { tls: false });
  opened.defer(() => proxy.stop());
  const tenant = (await environment.admin("tenant.create", { name: "Upgrade" })) as { readonly id: string };
  const key = (await environment.admin("api-key.create", { tenant: tenant.id, name: "upgrade" })) as {
    readonly api_key: string;
  };

  const exitCodes: (number | null)[] = [];
  const report = await runLoad({
    access: { gatewayUrl: proxy.url, apiKey: key.api_key },
    streams,
    scanId: null,
    publish: eventsPerSecond,
    publishRetryMs: maxWaitMs,
    signal: new AbortController().signal,
    log,
    async hold() {
      await pause(holdMs, []);
      for (const [port, gateway] of gateways) {
        exitCodes.push(await gateway.stop());
        gateways.set(port, await start(port));
        await untilOpen(gateways, streams);
        log(`The gateway on port ${port} was replaced, and all clients have streams`);
        await pause(holdMs, []);
      }
    },
  });
  return { ...report, gateway_exit_codes: exitCodes };
}

/** Much longer than any reconnect. A client that is missing then is counted by the load client. */
const maxWaitMs = 120_000;

async function untilOpen(gateways: ReadonlyMap<number, GatewayProcess>, streams: number): Promise<void> {
  const untilMs = performance.now() + maxWaitMs;
  for (;;) {
    const open = await Promise.all(Array.from(gateways.values(), (one) => one.metric("scanstream_streams_open")));
    if (open.reduce((sum, count) => sum + count, 0) >= streams || performance.now() > untilMs) return;
    await pause(50, []);
  }
}
