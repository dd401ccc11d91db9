import { afterEach, expect, test, vi } from "vitest";
import type { Database, TransactionSettings } from "../../drizzle/database.ts";
import { createDeliveryRate, createLimits, type Limits } from "../../gateway/limits.ts";
import { readJson } from "../../gateway/http/body.ts";
import { createLocalStreams } from "../../gateway/streaming/local_streams.ts";
import { createMemoryBroker } from "../../shared/brokers/memory.ts";
import { makeChannelName } from "../../shared/channel_name.ts";
import { createPublisher } from "../../shared/send_event.ts";
import { bounds, createAuthority, otherTenantId, resourceId, tenantId, user } from "../support/stream_server.ts";

afterEach(() => void vi.useRealTimers());

const ofStreams = { maxStreams: 10, maxStreamsPerTenant: 5 };

/** How many requests of a tenant are begun before one is refused. */
function begin(limits: Limits, tenant: string) {
  const accounts: ReturnType<Limits["open"]>[] = [];
  for (;;) {
    const account = limits.open(new Request("http://gateway/"), `address of ${tenant}`);
    try {
      account.belongsTo(tenant);
    } catch (error) {
      account.close();
      return { accounts, error };
    }
    accounts.push(account);
  }
}

test("three tenants with all the requests that they may have leave a fourth its own", () => {
  const limits = createLimits(ofStreams);
  const hostile = ["a", "b", "c"].map((tenant) => begin(limits, tenant));
  expect(hostile.map(({ accounts }) => accounts.length)).toEqual([512, 512, 512]);
  expect(hostile[0]?.error).toMatchObject({ code: "too_many", retryAfterSeconds: expect.any(Number) });
  const fourth = begin(limits, "d");
  expect(fourth.accounts).toHaveLength(512);
  for (const account of hostile[0]?.accounts ?? []) {
    account.close();
    account.close();
  }
  expect(begin(limits, "a").accounts).toHaveLength(512);
});

test("requests that are not authenticated count for their address", () => {
  const limits = createLimits(ofStreams);
  const open = (address: string) => limits.open(new Request("http://gateway/"), address);
  for (let n = 0; n < 512; n += 1) open("192.0.2.1");
  expect(() => open("192.0.2.1")).toThrow("The caller's limit of 512");
  open("192.0.2.2").belongsTo("tenant");
  // A tenant that is known from a request without the header is not charged for what comes without one.
  expect(open("192.0.2.3").holder).toBe("192.0.2.3");
});

test("a caller who is not known to be of the tenant, or is not any more, takes nothing of it", () => {
  const limits = createLimits(ofStreams);
  const open = () =>
    limits.open(new Request("http://gateway/", { headers: { authorization: "Bearer eve's" } }), "192.0.2.1");
  const arrive = (id = "eve") => open().isNew({ tenantId: "tenant", id });
  for (let n = 0; n < 512; n += 1) expect(arrive(n < 128 ? "eve" : `another ${n}`)).toBe(true);
  expect(arrive).toThrow("The tenant's limit of 512 requests that are not authorized yet is reached");
  expect(limits.newcomers.total()).toBe(512);
  open().belongsTo("tenant");
  expect(arrive()).toBe(false);
  open().refused();
  expect(open().holder).toBe("192.0.2.1");
  expect(begin(limits, "tenant").accounts).toHaveLength(511);
});

test("a few requests begin in a turn of the event loop, and one behind hundreds of others in the next", async () => {
  const limits = createLimits(ofStreams);
  const begun: string[] = [];
  const arrive = (address: string, key: string) => {
    const account = limits.open(new Request("http://gateway/", { headers: { authorization: key } }), address);
    void limits.begin(account.holder).then(() => begun.push(key));
    return account;
  };
  // Its credential was valid before: it does not stand behind the others of its address.
  arrive("192.0.2.1", "known").belongsTo("tenant");
  for (let n = 0; n < 300; n += 1) arrive("192.0.2.1", "guess");
  arrive("192.0.2.1", "known");
  arrive("192.0.2.2", "elsewhere");
  await vi.waitUntil(() => begun.length === 303);
  expect(begun.slice(0, 40)).toEqual(expect.arrayContaining(["elsewhere", "known"]));
  expect(begun.lastIndexOf("known")).toBeLessThan(40);
});

test("the work of a tenant begins before that of one whose answers were larger", async () => {
  const limits = createLimits(ofStreams);
  const begun: string[] = [];
  const arrive = (count: number, tenant: string) => {
    for (let n = 0; n < count; n += 1) void limits.begin(tenant).then(() => begun.push(tenant));
  };
  arrive(20, "large");
  limits.chargeAnswer("large", 10_000_000);
  arrive(12, "small");
  await vi.waitUntil(() => begun.length === 32);
  // The first two had their turn before.
  expect(begun.slice(2, 14)).toEqual(Array.from({ length: 12 }, () => "small"));
});

test("bodies that are complete at once are handled a few in a turn, small ones of one tenant before large ones of another", async () => {
  const limits = createLimits(ofStreams);
  const handled: string[] = [];
  const arrive = (count: number, tenant: string, text: string) => {
    for (let n = 0; n < count; n += 1) {
      const init = { method: "POST", body: JSON.stringify(text), headers: { "content-type": "application/json" } };
      const request = new Request("http://gateway/", init);
      limits.open(request, "").belongsTo(tenant);
      void readJson(request, { maxBytes: 1_048_576 }).then(() => handled.push(tenant));
    }
  };
  arrive(20, "large", "x".repeat(500_000));
  arrive(12, "small", "");
  await vi.waitUntil(() => handled.length === 32);
  expect(handled.lastIndexOf("small")).toBeLessThan(20);
});

test("a tenant has its turns while new addresses arrive without end", async () => {
  const limits = createLimits(ofStreams);
  let addresses = 0;
  const arriveAgain = async () => {
    while (addresses < 20_000) await limits.begin(`2001:db8:${(addresses += 1).toString(16)}::/64`);
  };
  const others = Array.from({ length: 50 }, arriveAgain);
  for (let turn = 0; turn < 5; turn += 1) await limits.begin("tenant");
  // A count: had the new ones come first, all 20,000 would have had a turn.
  expect(addresses).toBeLessThan(1000);
  addresses = 20_000;
  await Promise.all(others);
});

/** Transactions end when they are told to. */
function createSlowDatabase() {
  const running: { readonly who: string; readonly end: () => void }[] = [];
  const run = (who: string) => {
    const { promise, resolve } = Promise.withResolvers<never>();
    running.push({ who, end: () => resolve(undefined as never) });
    return promise;
  };
  const database: Database = {
    transact: ({ tenantId: id, holder }) => run(holder ?? id),
    close: async () => {},
  };
  const limits = createLimits(ofStreams);
  const limited = limits.limitDatabase(database);
  const settings = { role: null, access: "read" } as const;
  const transact = (given: Pick<TransactionSettings, "tenantId" | "holder">) =>
    limited.transact({ ...settings, ...given }, async () => {});
  return { limits, running, transact };
}

test("a tenant runs a quarter of the transactions, tenants take turns, and lookups have places of their own", async () => {
  const { running, transact } = createSlowDatabase();
  for (const tenant of ["a", "b", "c"]) {
    for (let n = 0; n < 100; n += 1) transact({ tenantId: tenant }).catch(() => {});
  }
  const names = () => running.map(({ who }) => who).toSorted();
  await expect.poll(names).toEqual(["a", "b", "c"].flatMap((who) => [who, who, who, who]));
  void transact({ tenantId: "d" });
  void transact({ tenantId: "", holder: "192.0.2.1" });
  await expect.poll(() => names().length).toBe(14);
  expect(names()).toEqual(expect.arrayContaining(["d", "192.0.2.1"]));
  const ended = running.find(({ who }) => who === "a");
  ended?.end();
  await expect.poll(() => running.length).toBe(15);
  expect(running[14]?.who).toBe("a");
});

test("after a large answer a tenant has one transaction at a time, and after a small one four", async () => {
  const { limits, running, transact } = createSlowDatabase();
  limits.chargeAnswer("a", 1_000_000);
  for (let n = 0; n < 20; n += 1) transact({ tenantId: "a" }).catch(() => {});
  transact({ tenantId: "b" }).catch(() => {});
  await expect.poll(() => running.map(({ who }) => who)).toEqual(["a", "b"]);
  limits.chargeAnswer("a", 1000);
  running[0]?.end();
  await expect.poll(() => running.length).toBe(6);
});

test("transactions that took nobody's place do not set a tenant back", async () => {
  const { running, transact } = createSlowDatabase();
  const untilBegun = (count: number) => expect.poll(() => running.length, { interval: 2 }).toBe(count);
  const ask = (tenantId: string) => {
    for (let n = 0; n < 20; n += 1) transact({ tenantId }).catch(() => {});
  };
  // The others of "a" wait all the time.
  ask("a");
  await untilBegun(4);
  for (let n = 0; n < 15; n += 1) {
    void transact({ tenantId: "b" });
    await untilBegun(5 + n);
    running.at(-1)?.end();
  }
  for (const tenant of ["c", "d", "e", "b"]) ask(tenant);
  await untilBegun(31);
  for (const { end } of running.slice(19, 29)) end();
  await untilBegun(41);
  expect(running.slice(31).map(({ who }) => who)).toContain("b");
});

test("a transaction that waits 2 s for its turn is 503", async () => {
  vi.useFakeTimers();
  const { transact } = createSlowDatabase();
  for (let n = 0; n < 4; n += 1) transact({ tenantId: "a" }).catch(() => {});
  const late = transact({ tenantId: "a" }).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(2001);
  expect(await late).toMatchObject({ code: "unavailable" });
});

test("a tenant's deliveries are spread over time, and another's go out at once", () => {
  const rate = createDeliveryRate(50_000);
  expect(rate.take("a", 8000, 0)).toBe(true);
  expect(rate.take("a", 1, 10)).toBe(false);
  expect(rate.take("b", 5000, 10)).toBe(true);
  expect(rate.take("a", 1, 61)).toBe(true);
});

test("the unread streams of one tenant are closed when they hold its quarter, and those of another stay", async () => {
  const broker = createMemoryBroker();
  // A hundredth of 48 MiB.
  const limits = createLimits({ ...ofStreams, tenantPercent: 1, memoryBytes: 0 });
  const streams = createLocalStreams({ subscriber: broker, ...createAuthority(), bounds, limits, lingerMs: 0 });
  const { sendEvent } = createPublisher(broker);
  const open = async (tenant: string) => {
    const channel = makeChannelName("job", tenant, resourceId);
    const request = new Request("http://gateway/");
    const principal = { ...user, tenantId: tenant };
    const response = await streams.open({ request, principal, name: "/", channels: [channel] });
    return { channel, reader: response.body?.getReader() };
  };
  const unread = [await open(tenantId), await open(tenantId)];
  const other = await open(otherTenantId);
  for (let sent = 0; sent < 12; sent += 1) {
    await sendEvent(unread[0]?.channel ?? "", "job.delta", { text: "x".repeat(60_000) });
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(streams.stats().streams).toBe(1);
  await sendEvent(other.channel, "job.delta", { n: 1 });
  await other.reader?.read();
  expect(new TextDecoder().decode((await other.reader?.read())?.value)).toContain('{"n":1}');
  await other.reader?.cancel();
  await streams.drain({ overMs: 0 });
});
