import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startRedis, type RedisServer } from "./redis.ts";
import { freePort } from "./free_port.ts";

/** Primaries that share the slots evenly, each with a replica where asked for. */
export interface RedisCluster {
  readonly primaries: readonly RedisServer[];
  readonly replicas: readonly RedisServer[];
  /** The nodes' own addresses, as `REDIS_URL` takes them. */
  readonly url: string;
  stop(): Promise<void>;
}

const slotCount = 16_384;

/** The first slot that a primary is given, by its index. */
function firstSlotOf(index: number, primaryCount: number): number {
  return Math.floor((index * slotCount) / primaryCount);
}

/** The index of the primary that was given the slot at the start. */
export function primaryOf(slot: number, primaryCount = 3): number {
  return Array.from({ length: primaryCount }, (_, index) => firstSlotOf(index, primaryCount)).findLastIndex(
    (first) => first <= slot,
  );
}

export async function startRedisCluster(
  options: { readonly password?: string; readonly hasReplicas?: boolean; readonly primaryCount?: number } = {},
): Promise<RedisCluster> {
  const { password, primaryCount = 3 } = options;
  const servers = await Promise.all(
    Array.from({ length: options.hasReplicas === true ? 2 * primaryCount : primaryCount }, () => startNode(password)),
  );
  const primaries = servers.slice(0, primaryCount);
  const replicas = servers.slice(primaryCount);
  const [first] = primaries;
  if (first === undefined) throw new RangeError("A cluster has at least one node");
  for (const [index, primary] of primaries.entries()) {
    const last = firstSlotOf(index + 1, primaryCount) - 1;
    await primary.command("CLUSTER", "ADDSLOTSRANGE", firstSlotOf(index, primaryCount), last);
    await primary.command("CLUSTER", "SET-CONFIG-EPOCH", index + 1);
  }
  for (const server of servers.slice(1)) {
    await server.command("CLUSTER", "MEET", first.host, first.port, await busPort(first));
  }
  await until(async () =>
    (await infoOf(servers, "cluster_known_nodes")).every((count) => count === `${servers.length}`),
  );
  for (const [index, replica] of replicas.entries()) {
    const id = String(await primaries[index]?.command("CLUSTER", "MYID"));
    // The node may not have heard of the primary yet.
    await until(async () => (await replica.command("CLUSTER", "REPLICATE", id).catch(() => null)) === "OK");
  }
  await until(async () => (await infoOf(servers, "cluster_state")).every((state) => state === "ok"));
  await until(async () => (await slotOwners(servers)).every((count) => count === primaries.length));
  for (const replica of replicas) {
    await until(async () => String(await replica.command("INFO", "replication")).includes("master_link_status:up"));
  }
  const credentials = password === undefined ? "" : `:${encodeURIComponent(password)}@`;
  return {
    primaries,
    replicas,
    url: `redis+cluster://${credentials}${primaries.map(({ host, port }) => `${host}:${port}`).join(",")}`,
    async stop() {
      await Promise.all(servers.map((server) => server.stop("SIGKILL")));
    },
  };
}

/** Moves an empty slot from one primary to another, as `redis-cli --cluster reshard` does. */
export async function moveSlot(slot: number, from: RedisServer, to: RedisServer): Promise<void> {
  const [fromId, toId] = [String(await from.command("CLUSTER", "MYID")), String(await to.command("CLUSTER", "MYID"))];
  await to.command("CLUSTER", "SETSLOT", slot, "IMPORTING", fromId);
  await from.command("CLUSTER", "SETSLOT", slot, "MIGRATING", toId);
  await to.command("CLUSTER", "SETSLOT", slot, "NODE", toId);
  await from.command("CLUSTER", "SETSLOT", slot, "NODE", toId);
}

async function startNode(password: string | undefined): Promise<RedisServer> {
  // The port of the cluster's bus would be 10,000 above, which may be none.
  const bus = await freePort();
  const file = `nodes-${bus}-${process.pid}.conf`;
  const args = `--cluster-enabled yes --cluster-port ${bus} --cluster-node-timeout 1000 --cluster-config-file ${file}`;
  const secret = password === undefined ? [] : ["--masterauth", password];
  const server = await startRedis({
    ...(password === undefined ? {} : { password }),
    // A replica takes over however long a busy machine held the election back.
    args: [...args.split(" "), "--cluster-replica-validity-factor", "0", "--repl-diskless-sync-delay", "0", ...secret],
  });
  return {
    ...server,
    async stop(signal) {
      await server.stop(signal);
      await rm(join(tmpdir(), file), { force: true });
    },
  };
}

async function busPort(server: RedisServer): Promise<number> {
  return Number(/@(\d+)/.exec(String(await server.command("CLUSTER", "NODES")))?.[1]);
}

async function infoOf(servers: readonly RedisServer[], field: string): Promise<readonly (string | undefined)[]> {
  const texts = await Promise.all(servers.map((server) => server.command("CLUSTER", "INFO")));
  return texts.map((text) => new RegExp(`^${field}:(\\w+)`, "m").exec(String(text))?.[1]);
}

async function slotOwners(servers: readonly RedisServer[]): Promise<readonly number[]> {
  const replies = await Promise.all(servers.map((server) => server.command("CLUSTER", "SLOTS")));
  return replies.map((reply) => (Array.isArray(reply) ? reply.length : 0));
}

export async function until(isTrue: () => Promise<boolean>): Promise<void> {
  const startMs = Date.now();
  while (!(await isTrue())) {
    if (Date.now() - startMs > 30_000) throw new Error("The servers did not come together in 30 s");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
