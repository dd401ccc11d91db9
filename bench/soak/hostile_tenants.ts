import { fork } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "../../test/support/free_port.ts";
import { startEdgeBackends } from "../../test/support/edge_backends.ts";
import { temporaryFolder } from "../../test/support/temporary_folder.ts";
import type { Attack } from "./attacks.ts";
import { startNginx, type GatewayVariant } from "../servers.ts";
import { startGatewayProcess } from "./gateway_process.ts";
import { useAsVictim, type GatewayUse } from "./victim.ts";

/** The memory of a gateway in a container. */
const memoryBytes = 1024 * 1_048_576;
const maxP99Ms = 250;
const hostileTenants = 3;

/** Three tenants attack a gateway behind the shipped proxy, with one attack after the other, and a fourth one uses it. Resolves with what was not held. */
export async function runAttacks(
  attacks: readonly Attack[],
  { on, seconds, log }: { readonly on: GatewayVariant; readonly seconds: number; readonly log: (line: string) => void },
): Promise<readonly string[]> {
  await using opened = new AsyncDisposableStack();
  const folder = opened.use(await temporaryFolder()).path;
  const backends = await startEdgeBackends();
  opened.defer(() => backends.close());
  const { processEnvironment, database, redis } = backends;
  // Past the networks that can be broken: they are part of this process, and take its time.
  const direct = { ...processEnvironment, DATABASE_URL: database.appUrl, REDIS_URL: redis.url };
  // One proxy more, so that each tenant has its own address.
  const gateway = await startGatewayProcess({ ...direct, TRUSTED_PROXY_HOPS: "2" }, folder, on);
  opened.defer(async () => void (await gateway.stop()));
  const proxy = await startShippedProxy(gateway.url, folder);
  opened.defer(async () => void (await proxy.stop()));
  const uses: GatewayUse[] = [];
  for (let n = 0; n <= hostileTenants; n += 1) {
    const { apiKey: key } = await backends.createTenant(`Tenant ${n}`);
    uses.push({ url: proxy.url, key, address: `192.0.2.${n + 1}` });
  }
  const [victim, ...hostile] = uses as [GatewayUse, ...GatewayUse[]];
  const problems: string[] = [];
  // Code that runs and connects for the first time takes longer.
  await useAsVictim(victim, 3000);
  log("| | attack | each of three tried | the fourth | the gateway |\n|---|---|---|---|---|");
  for (const { name, tries } of attacks) {
    const attackers = await Promise.all(hostile.map((use) => startAttacker(name, use)));
    const { requests, p50Ms, p99Ms, failed, lost } = await useAsVictim(victim, seconds * 1000);
    const rssBytes = await gateway.residentBytes();
    const counts = await Promise.all(attackers.map(({ stop }) => stop()));
    const failures = Object.entries(failed).map(([reason, count]) => `, ${count} × ${reason}`);
    const isHeld =
      failures.length === 0 && lost === 0 && p99Ms < maxP99Ms && rssBytes <= memoryBytes && Math.min(...counts) > 0;
    if (!isHeld) problems.push(`the attack "${name}" was not held, or never came through`);
    const tried = `${tries} (${counts.join(", ")} in all)`;
    const figures = `${requests} requests, p50 ${p50Ms} ms, p99 ${p99Ms} ms${failures.join("")}, ${lost} events lost`;
    const memory = `${Math.round(rssBytes / 1_048_576)} MiB`;
    log(`| ${[isHeld ? "held" : "NOT HELD", name, tried, figures, memory].join(" | ")} |`);
  }
  return problems;
}

/** Resolves when it has begun. */
async function startAttacker(name: string, { url, key, address }: GatewayUse) {
  const child = fork(join(import.meta.dirname, "hostile_tenant.ts"), [name, url, key, address]);
  await once(child, "message");
  return {
    /** Resolves with how often it came through. */
    async stop(): Promise<number> {
      const reached = once(child, "message") as Promise<[number]>;
      child.kill("SIGTERM");
      return (await reached)[0];
    },
  };
}

/** nginx with the settings of `deploy/nginx.conf` before one gateway, without TLS. Resolves with its URL. */
async function startShippedProxy(gatewayUrl: string, folder: string) {
  const port = await freePort();
  const shipped = await readFile(join(import.meta.dirname, "../../deploy/nginx.conf"), "utf8");
  const http = shipped
    .replaceAll(/^ *(ssl_certificate.*|server 127.*|server_name.*|access_log.*)$/gm, "")
    .replace("least_conn;", `server ${new URL(gatewayUrl).host};`)
    .replace("listen 443 ssl http2", `listen 127.0.0.1:${port}`)
    .replace("http {", `http { access_log off; client_body_temp_path ${folder}; proxy_temp_path ${folder};`)
    // All clients of this program have one address.
    .replace("limit_conn addresses 2000", "limit_conn addresses 20000");
  const configuration = `events { worker_connections 20000; }\n${http}`;
  const nginx = await startNginx({ program: "nginx", folder, port, configuration });
  return { url: `http://127.0.0.1:${port}`, stop: () => nginx.stop() };
}
