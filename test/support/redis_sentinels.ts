import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../../gateway/library/contract_client.ts";
import { startRedis, type RedisServer } from "./redis.ts";

/** A primary, its replica and three sentinels that watch them. */
export interface RedisSentinels {
  readonly primary: RedisServer;
  readonly replica: RedisServer;
  /** As `REDIS_URL` takes it. */
  readonly url: string;
  stop(): Promise<void>;
}

const sentinelName = "the-primary";

export async function startRedisSentinels(): Promise<RedisSentinels> {
  const primary = await startRedis();
  const replica = await startRedis({
    args: ["--replicaof", `${primary.host} ${primary.port}`, "--repl-diskless-sync-delay", "0"],
  });
  await eventually(
    async () => String(await replica.command("INFO", "replication")).includes("master_link_status:up"),
    "the replica has its primary",
  );
  const files: string[] = [];
  const sentinels = await Promise.all([1, 2, 3].map((number) => startSentinel(number)));
  await eventually(async () => {
    const known = await Promise.all(
      sentinels.map((server) => server.command("SENTINEL", "CKQUORUM", sentinelName).catch(() => "not yet")),
    );
    return known.every((reply) => String(reply).startsWith("OK 3"));
  }, "each sentinel knows the others");
  await eventually(async () => {
    const replicas = await Promise.all(sentinels.map((server) => server.command("SENTINEL", "REPLICAS", sentinelName)));
    return replicas.every((reply) => Array.isArray(reply) && reply.length === 1);
  }, "each sentinel knows the replica");
  return {
    primary,
    replica,
    url: `redis+sentinel://${sentinels.map(({ host, port }) => `${host}:${port}`).join(",")}/${sentinelName}`,
    async stop() {
      await Promise.all([...sentinels, replica, primary].map((server) => server.stop("SIGKILL")));
      for (const file of files) await rm(file, { force: true });
    },
  };

  async function startSentinel(number: number): Promise<RedisServer> {
    const file = join(tmpdir(), `sentinel-${process.pid}-${primary.port}-${number}.conf`);
    files.push(file);
    const settings = [
      `sentinel monitor ${sentinelName} ${primary.host} ${primary.port} 2`,
      `sentinel down-after-milliseconds ${sentinelName} 1000`,
      `sentinel failover-timeout ${sentinelName} 5000`,
    ];
    await writeFile(file, `${settings.join("\n")}\n`);
    return startRedis({ configFile: file, args: ["--sentinel"] });
  }
}
