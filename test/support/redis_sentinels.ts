import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../../gateway/library/contract_client.ts";
import { startRedis } from "./redis.ts";

const sentinelName = "the-primary";

/** A primary, its replica and a sentinel that watches them; `url` is as `REDIS_URL` takes it. */
export async function startRedisSentinels() {
  const primary = await startRedis();
  const replica = await startRedis({
    args: ["--replicaof", `${primary.host} ${primary.port}`, "--repl-diskless-sync-delay", "0"],
  });
  await eventually(
    async () => String(await replica.command("INFO", "replication")).includes("master_link_status:up"),
    "the replica has its primary",
  );
  const configFile = join(tmpdir(), `sentinel-${process.pid}-${primary.port}.conf`);
  const settings = [
    `sentinel monitor ${sentinelName} ${primary.host} ${primary.port} 1`,
    `sentinel down-after-milliseconds ${sentinelName} 1000`,
    `sentinel failover-timeout ${sentinelName} 5000`,
  ];
  await writeFile(configFile, `${settings.join("\n")}\n`);
  const sentinel = await startRedis({ configFile, args: ["--sentinel"] });
  await eventually(async () => {
    const replicas = await sentinel.command("SENTINEL", "REPLICAS", sentinelName);
    return Array.isArray(replicas) && replicas.length === 1;
  }, "the sentinel knows the replica");
  return {
    primary,
    replica,
    url: `redis+sentinel://${sentinel.host}:${sentinel.port}/${sentinelName}`,
    async stop() {
      await Promise.all([sentinel, replica, primary].map((server) => server.stop()));
      await rm(configFile, { force: true });
    },
  };
}
