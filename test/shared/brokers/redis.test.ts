import { rm, writeFile } from "node:fs/promises";
import { connect, createServer as createTcpServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { eventually } from "../../../gateway/library/contract_client.ts";
import type { Broker } from "../../../shared/broker.ts";
import { maxMessageBytes } from "../../../shared/brokers/message.ts";
import { createRedisBroker, type RedisBrokerOptions } from "../../../shared/brokers/redis.ts";
import { createChannel, eventMessage, record, unavailability } from "../../broker_contract/broker_harness.ts";
import { listen } from "../../support/listen.ts";
import { startRedis } from "../../support/redis.ts";
import { createSelfSigned } from "../../support/self_signed.ts";
import { startTcpProxy } from "../../support/tcp_proxy.ts";

const redis = await startRedis();
afterAll(() => redis.stop());

function open(options: Partial<RedisBrokerOptions> = {}): Broker {
  const broker = createRedisBroker({ url: redis.url, database: 2, ...options });
  onTestFinished(() => broker.close());
  return broker;
}

/** The clients of Redis, without the one that lists them. */
async function clients(): Promise<readonly string[]> {
  const list = String(await redis.command("CLIENT", "LIST"));
  return list.split("\n").filter((line) => line !== "" && !line.includes("cmd=client"));
}

test("createRedisBroker uses two connections, however many channels, and resumes none", async () => {
  const broker = open();
  const channels = Array.from({ length: 50 }, createChannel);
  await broker.ping();
  const recordings = await Promise.all(channels.map((channel) => record(broker, channel)));
  expect(await clients()).toHaveLength(2);
  await redis.command("CLIENT", "KILL", "TYPE", "pubsub");
  for (const recording of recordings) expect(await recording.untilLost()).toBe("ended");
  expect(await redis.command("PUBSUB", "CHANNELS")).toEqual([]);
});

test("createRedisBroker ends a channel as garbage for bytes that are no text, and only that channel", async () => {
  const [bad, good] = [createChannel(), createChannel()];
  const broker = open();
  const [lost, kept] = [await record(broker, bad), await record(broker, good)];
  const publisher = connect(redis.port, redis.host);
  const key = `scanstream:2:${bad}`;
  publisher.write(`*3\r\n$7\r\nPUBLISH\r\n$${key.length}\r\n${key}\r\n$3\r\n`);
  publisher.write(Buffer.from([0x61, 0xff, 0xfe]));
  publisher.end("\r\n");
  expect(await lost.untilLost()).toBe("garbage");
  await broker.publish(good, eventMessage({ n: 1 }));
  await kept.untilCount(1);
  expect(lost.messages).toEqual([]);
  await eventually(async () => !String(await redis.command("PUBSUB", "CHANNELS")).includes(bad), "it was unsubscribed");
});

test("createRedisBroker gives a connection up whose message would not end, and only its channel for one that ends too late", async () => {
  const [channel, other] = [createChannel(), createChannel()];
  const broker = open();
  const recording = await record(broker, channel);
  const untouched = await record(broker, other);
  const key = `scanstream:2:${channel}`;
  // Many answers are no endless message, however many bytes they are.
  for (let time = 0; time < 2; time += 1) {
    await Promise.all(Array.from({ length: 20 }, () => redis.command("PUBLISH", key, "x".repeat(maxMessageBytes))));
    await recording.untilCount(20 * (time + 1));
  }
  await redis.command("PUBLISH", key, "x".repeat(20 * maxMessageBytes));
  expect(await recording.untilLost()).toBe("garbage");
  await broker.publish(other, eventMessage({ n: 1 }));
  await untouched.untilCount(1);

  // Redis itself would end the connection of a subscriber for whom more than 32 MiB wait.
  const [, limits = ""] = (await redis.command("CONFIG", "GET", "client-output-buffer-limit")) as readonly string[];
  await redis.command("CONFIG", "SET", "client-output-buffer-limit", "pubsub 0 0 0");
  await redis.command("PUBLISH", `scanstream:2:${other}`, "x".repeat(33 * maxMessageBytes));
  expect(await untouched.untilLost()).toBe("garbage");
  await eventually(async () => (await clients()).length === 1, "only the publisher's connection is left");
  await redis.command("CONFIG", "SET", "client-output-buffer-limit", limits);
});

test("createRedisBroker: a publish that it gave up never arrives", async () => {
  const network = await startTcpProxy(redis);
  onTestFinished(() => network.close());
  const channel = createChannel();
  const broker = open({ url: `redis://127.0.0.1:${network.port}`, timeoutMs: 3000 });
  const witness = await record(open(), channel);
  await broker.publish(channel, eventMessage({ n: 0 }));
  network.stall();
  await unavailability(broker.publish(channel, eventMessage({ late: 1 })), []);
  // With its connection goes what was sent.
  await expect.poll(() => network.openCount()).toBe(0);
  network.restore();
  await broker.publish(channel, eventMessage({ n: 1 }));
  await witness.untilCount(2);
  expect(witness.messages).toEqual([eventMessage({ n: 0 }), eventMessage({ n: 1 })]);
});

test("createRedisBroker answers no ping of a user that may not use its channels", async () => {
  await redis.command("ACL", "SETUSER", "mute", "on", ">hunter2", "+@all", "resetchannels");
  onTestFinished(async () => void (await redis.command("ACL", "DELUSER", "mute")));
  const url = redis.url.replace("//", "//mute:hunter2@");
  expect(String(await unavailability(open({ url }).ping(), ["hunter2"]))).toContain("command or channel");
});

test("createRedisBroker never shows a password that the server repeats", async () => {
  const server = createTcpServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (data) =>
      socket.write(`-ERR unknown command, with args: ${String(data).replaceAll("\r\n", " ")}\r\n`),
    );
  });
  const url = `redis://user:hunter%202@${await start(server)}`;
  const error = await unavailability(open({ url }).ping(), ["hunter 2", "hunter%202"]);
  expect(error.cause).toBeInstanceOf(Error);
});

test("createRedisBroker speaks TLS to rediss:// and checks the certificate", async () => {
  const certificate = createSelfSigned();
  const server = createTlsServer(certificate, (client) => {
    const upstream = connect(redis.port, redis.host);
    client.on("error", () => upstream.destroy());
    upstream.on("error", () => client.destroy());
    client.pipe(upstream).pipe(client);
  });
  const url = `rediss://${await start(server)}`;
  const error = await unavailability(open({ url }).ping(), []);
  expect(String(error.cause)).toMatch(/self.signed/i);
  const trusted = getCACertificates("default");
  onTestFinished(() => setDefaultCACertificates(trusted));
  setDefaultCACertificates([...trusted, certificate.cert]);
  await open({ url }).ping();
});

test("createRedisBroker leaves a primary that sentinels have replaced, follows the one that they name, and no replica", async () => {
  const own = await startRedisSentinels();
  onTestFinished(() => own.stop());
  const { primary, replica } = own;
  const channel = createChannel();
  const broker = open({ url: own.url, pingTimeoutMs: 60_000 });
  // The sentinels notice it some seconds later.
  await primary.command("REPLICAOF", replica.host, replica.port);
  const error = await unavailability(broker.publish(channel, eventMessage({ n: 1 })), []);
  expect(String(error.cause)).toContain("expected the primary");
  await primary.command("REPLICAOF", "NO", "ONE");
  const first = await record(broker, channel);
  // Nothing says so but the sentinels.
  primary.freeze();
  expect(await first.untilLost()).toBe("ended");
  const succeeds = (attempt: Promise<unknown>) =>
    attempt.then(
      () => true,
      () => false,
    );
  await eventually(() => succeeds(record(broker, channel)), "subscribed again");
  await eventually(() => succeeds(broker.publish(channel, eventMessage({ n: 1 }))), "published again");
  expect(await replica.command("PUBSUB", "NUMSUB", `scanstream:2:${channel}`)).toEqual([expect.any(String), 1]);
});

async function start(server: Server): Promise<string> {
  const { host, port, close } = await listen(server);
  onTestFinished(() => void close());
  return `${host}:${port}`;
}

/** A primary, its replica and a sentinel that watches them; `url` is as `REDIS_URL` takes it. */
async function startRedisSentinels() {
  const name = "the-primary";
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
    `sentinel monitor ${name} ${primary.host} ${primary.port} 1`,
    `sentinel down-after-milliseconds ${name} 1000`,
    `sentinel failover-timeout ${name} 5000`,
  ];
  await writeFile(configFile, `${settings.join("\n")}\n`);
  const sentinel = await startRedis({ configFile, args: ["--sentinel"] });
  await eventually(async () => {
    const replicas = await sentinel.command("SENTINEL", "REPLICAS", name);
    return Array.isArray(replicas) && replicas.length === 1;
  }, "the sentinel knows the replica");
  return {
    primary,
    replica,
    url: `redis+sentinel://${sentinel.host}:${sentinel.port}/${name}`,
    async stop() {
      await Promise.all([sentinel, replica, primary].map((server) => server.stop()));
      await rm(configFile, { force: true });
    },
  };
}
