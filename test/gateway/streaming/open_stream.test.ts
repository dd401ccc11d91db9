import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createMemoryBroker } from "../../../shared/brokers/memory.ts";
import { createPublisher } from "../../../shared/send_event.ts";
import { makeChannelName } from "../../../shared/channel_name.ts";
import type { AuthorityCheck, AuthoritySubject } from "../../../gateway/auth/membership.ts";
import type { Chunk } from "../../../gateway/streaming/event_stream_encoding.ts";
import { createLocalStreams, type LocalStreamsOptions } from "../../../gateway/streaming/local_streams.ts";
import type { Sink, SinkOwner } from "../../../gateway/streaming/sinks/sink.ts";
import { createRandom } from "../../support/random.ts";
import { createScriptedSubscriber } from "../../support/scripted_subscriber.ts";
import { bounds, channel, createAuthority, tenantId, user } from "../../support/stream_server.ts";

/** Streams over a scripted sink, with a fake clock. */

// From now on: an embedded database of this process that waits would see its deadline in 57 years, and look each millisecond.
beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const recheckMs = bounds.recheckSeconds * 1000;

interface ScriptedSink extends Sink {
  readonly owner: SinkOwner;
  readonly written: string[];
  buffered: number;
  isDestroyed: boolean;
}

const decoder = new TextDecoder();

function createSink(owner: SinkOwner, overrides: Partial<Sink> = {}): ScriptedSink {
  const sink: ScriptedSink = {
    owner,
    written: [],
    buffered: 0,
    isDestroyed: false,
    open(first: Chunk) {
      sink.write(first);
      return new Response(null);
    },
    write(chunk: Chunk) {
      sink.written.push(decoder.decode(chunk.bytes));
      return sink.buffered;
    },
    bufferedBytes: () => sink.buffered,
    end: (last: Chunk) => void sink.write(last),
    finishIfDrained() {},
    destroy() {
      sink.isDestroyed = true;
      owner.onClosed();
    },
    ...overrides,
  };
  return sink;
}

function setUp(options: Partial<LocalStreamsOptions> & { readonly sink?: (owner: SinkOwner) => ScriptedSink } = {}) {
  const opened: ScriptedSink[] = [];
  const closed: string[] = [];
  const broker = createMemoryBroker();
  const streams = createLocalStreams({
    subscriber: broker,
    stillAllowed: createAuthority().stillAllowed,
    bounds,
    count: (name, value) => void (name === "streams_closed" && closed.push(String(value))),
    createSink(_stream, owner) {
      const sink = (options.sink ?? createSink)(owner);
      opened.push(sink);
      return sink;
    },
    ...options,
  });
  const open = async (principal = user, channels = [channel]) => {
    const request = new Request("http://gateway.test/");
    await streams.open({ request, principal, name: "/api/v1/event-stream", channels });
    const sink = opened.at(-1);
    if (sink === undefined) throw new Error("No sink was made");
    return sink;
  };
  return { broker, streams, open, closed };
}

const nothing = { channels: 0, members: 0, subscriptions: 0, streams: 0 };

test("S5: a client that left before there was a sink holds nothing, and subscribes to nothing", async () => {
  const { streams, open } = setUp({ sink: (owner) => (owner.onClosed(), createSink(owner)) });
  await open();
  expect(streams.stats()).toEqual(nothing);
});

// A Durable Object stays in memory, and is billed, for as long as it has a timer.
test("no timer goes on when the last stream is closed", async () => {
  const [begin, end] = [vi.spyOn(globalThis, "setInterval"), vi.spyOn(globalThis, "clearInterval")];
  const { streams, open } = setUp();
  const sinks = [await open(), await open(), await open({ ...user, expiresAtMs: Date.now() + 60_000 })];
  expect(begin).toHaveBeenCalledOnce();
  for (const { owner } of sinks) owner.onClosed();
  await vi.advanceTimersByTimeAsync(5000);
  expect(streams.stats()).toEqual(nothing);
  expect(end).toHaveBeenCalledWith(begin.mock.results[0]?.value);
});

test("an idle stream writes a comment at least every heartbeat, also when the clock is set back", async () => {
  const { open } = setUp();
  const sink = await open();
  sink.written.length = 0;
  for (let heartbeat = 1; heartbeat <= 20; heartbeat += 1) {
    await vi.advanceTimersByTimeAsync(15_000);
    expect(sink.written.length).toBeGreaterThanOrEqual(heartbeat);
  }
  expect(sink.written.length).toBeLessThanOrEqual(50);
  expect(new Set(sink.written)).toEqual(new Set([": heartbeat\n"]));
  sink.written.length = 0;
  vi.setSystemTime(1000);
  await vi.advanceTimersByTimeAsync(15_000);
  expect(sink.written.length).toBeGreaterThanOrEqual(1);
});

test("a clock that is set back delays neither a recheck nor the end of a token, and a token that is valid then opens a stream", async () => {
  const hour = 3_600_000;
  vi.setSystemTime(10 * hour);
  const authority = createAuthority();
  const { streams, open, closed } = setUp({ stillAllowed: authority.stillAllowed });
  await open({ ...user, expiresAtMs: Date.now() + 40_000 });
  await vi.advanceTimersByTimeAsync(1000);
  vi.setSystemTime(Date.now() - hour);
  await open({ ...user, expiresAtMs: Date.now() + 60_000 });
  await vi.advanceTimersByTimeAsync(40_000);
  expect(closed).toEqual(["expired"]);
  await open();
  await vi.advanceTimersByTimeAsync(20_000);
  expect(closed).toEqual(["expired", "expired"]);
  authority.revoked.add(user.id);
  vi.setSystemTime(Date.now() - hour);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(closed).toEqual(["expired", "expired", "revoked"]);
  await vi.advanceTimersByTimeAsync(5000);
  expect(streams.stats()).toEqual(nothing);
});

test.each([
  [1_048_576, []],
  [1_048_577, ["slow"]],
])("S6: with %d buffered bytes a stream is closed: %j", async (buffered, reasons) => {
  const { broker, open, closed } = setUp();
  const sink = await open();
  sink.buffered = buffered;
  await createPublisher(broker).sendEvent(channel, "job.delta", { n: 1 });
  await vi.advanceTimersByTimeAsync(1);
  expect(closed).toEqual(reasons);
});

test("slow reading is noticed although the sink counts the framing of buffered chunks", async () => {
  const { broker, open, closed } = setUp();
  const sink = await open();
  const framingBytes = 6;
  sink.buffered = 1000;
  sink.write = (chunk) => (sink.buffered += chunk.bytes.byteLength + framingBytes);
  for (let second = 1; second <= 300; second += 1) {
    await createPublisher(broker).sendEvent(channel, "job.delta", { n: second });
    await vi.advanceTimersByTimeAsync(1000);
    // Less than the framing of what was written meanwhile.
    if (second % 50 === 0) sink.buffered -= 40 * framingBytes;
  }
  expect(closed).toEqual([]);
  await vi.advanceTimersByTimeAsync(70_000);
  expect(closed).toEqual(["slow"]);
});

test("a client that reads slowly is not closed, one that reads nothing is", async () => {
  const { open, closed } = setUp();
  const [trickling, stuck] = [await open(), await open()];
  trickling.buffered = 1000;
  stuck.buffered = 1000;
  for (let minute = 0; minute < 5; minute += 1) {
    await vi.advanceTimersByTimeAsync(55_000);
    trickling.buffered -= 100;
  }
  expect(closed).toEqual(["slow"]);
  expect(stuck.written.at(-1)).toBe(": close slow\n ");
  expect(trickling.written).toHaveLength(1);
});

test("a closed stream's last bytes have two seconds, then the connection is destroyed", async () => {
  const { streams, open } = setUp();
  const sink = await open({ ...user, expiresAtMs: Date.now() + 1000 });
  await vi.advanceTimersByTimeAsync(1000);
  expect(sink.written.at(-1)).toBe(": close expired\n ");
  await vi.advanceTimersByTimeAsync(1999);
  expect(sink.isDestroyed).toBe(false);
  expect(streams.stats()).toMatchObject({ members: 0, streams: 1 });
  await vi.advanceTimersByTimeAsync(1);
  expect(sink.isDestroyed).toBe(true);
  expect(streams.stats().streams).toBe(0);
});

test.each([
  [0, 2_880_000],
  [0.5, 3_240_000],
  [0.999, 3_600_000],
])("a lifetime is 80 to 100 %% of the bound: drawn %d", async (random, lifetimeMs) => {
  const { open, closed } = setUp({ random: () => random });
  await open();
  await vi.advanceTimersByTimeAsync(lifetimeMs - 1000);
  expect(closed).toEqual([]);
  await vi.advanceTimersByTimeAsync(1000);
  expect(closed).toEqual(["lifetime"]);
});

test("S7: a drain never extends a stream's life", async () => {
  const { streams, open, closed } = setUp({ random: () => 0.999 });
  await open({ ...user, expiresAtMs: Date.now() + 500 });
  await open();
  void streams.drain({ overMs: 3000 });
  await vi.advanceTimersByTimeAsync(1000);
  expect(closed).toEqual(["expired"]);
  await vi.advanceTimersByTimeAsync(2000);
  expect(closed).toEqual(["expired", "drain"]);
});

test("S7: a drain spreads the closes over its time", async () => {
  const { streams, open, closed } = setUp({ random: createRandom(1) });
  for (let n = 0; n < 40; n += 1) await open();
  void streams.drain({ overMs: 4000 });
  for (let second = 1; second <= 4; second += 1) {
    await vi.advanceTimersByTimeAsync(1000);
    expect(Math.abs(closed.length - second * 10)).toBeLessThanOrEqual(4);
  }
  expect(closed).toHaveLength(40);
});

test("S7: a drain is bounded although a stream still waits for the broker", async () => {
  const subscriber = createScriptedSubscriber({ confirms: "by script" });
  const { streams, open } = setUp({ subscriber });
  const refused = expect(open()).rejects.toMatchObject({ code: "unavailable" });
  let isDrained = false;
  void streams.drain({ overMs: 50 }).then(() => (isDrained = true));
  await vi.advanceTimersByTimeAsync(4049);
  expect(isDrained).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(isDrained).toBe(true);
  await refused;
  expect(subscriber.newest(channel).signal.aborted).toBe(true);
});

/** The latest moment at which a recheck may begin is 18 s after the last one. */
const latest = () => 0.999;

test("S4: a revoked stream is closed within the interval although the query is slow", async () => {
  let isRevoked = false;
  const stillAllowed: AuthorityCheck = async (_tenantId, subjects) => {
    // The query saw this when it began; it takes as long as it may.
    const allowed = new Set(isRevoked ? [] : subjects);
    await new Promise((resolve) => setTimeout(resolve, recheckMs * 0.3 - 1));
    return allowed;
  };
  const { open, closed } = setUp({ stillAllowed, random: latest });
  await open();
  // Right after a query began, the worst moment.
  await vi.advanceTimersByTimeAsync(recheckMs * 0.6 + 1);
  isRevoked = true;
  await vi.advanceTimersByTimeAsync(recheckMs - 1);
  expect(closed).toEqual(["revoked"]);
});

test("S4: the recheck of a stream that waited for the broker counts from the check of its authority, also during a query", async () => {
  const startMs = Date.now();
  const askedMs: number[] = [];
  const stillAllowed: AuthorityCheck = async (_tenantId, subjects) => {
    askedMs.push(Date.now() - startMs);
    await new Promise((resolve) => setTimeout(resolve, 8000));
    return new Set(subjects);
  };
  const subscriber = createScriptedSubscriber({ confirms: "by script" });
  const { open } = setUp({ stillAllowed, random: latest, subscriber });
  const first = open();
  subscriber.newest(channel).confirm();
  await first;
  await vi.advanceTimersByTimeAsync(6000);
  const late = makeChannelName("job", tenantId, "late");
  const second = open({ ...user, id: "grace" }, [late]);
  await vi.advanceTimersByTimeAsync(14_000);
  subscriber.newest(late).confirm();
  await second;
  await vi.advanceTimersByTimeAsync(10_000);
  // Right after the first query.
  expect(askedMs).toEqual([18_000, 26_000]);
});

test("streams stay while the database is down, and are closed, spread, after two to four intervals", async () => {
  const stillAllowed = vi.fn<AuthorityCheck>(() => Promise.reject(new Error("down")));
  const { open, closed } = setUp({ stillAllowed, random: createRandom(1) });
  for (let n = 0; n < 30; n += 1) await open({ ...user, id: String(n) });
  await vi.advanceTimersByTimeAsync(2 * recheckMs - 1);
  expect(closed).toEqual([]);
  expect(stillAllowed.mock.calls.length).toBeGreaterThan(2);
  await vi.advanceTimersByTimeAsync(1.5 * recheckMs);
  expect(closed.length).toBeGreaterThan(0);
  expect(closed.length).toBeLessThan(30);
  await vi.advanceTimersByTimeAsync(1.1 * recheckMs);
  expect(closed).toEqual(Array(30).fill("revoked"));
});

test("a stream that was opened after a query began is not closed by its result", async () => {
  const { promise, resolve } = Promise.withResolvers<ReadonlySet<AuthoritySubject>>();
  const { streams, open, closed } = setUp({ stillAllowed: () => promise, random: latest });
  await open();
  await vi.advanceTimersByTimeAsync(recheckMs * 0.6 + 1);
  await open();
  resolve(new Set());
  await vi.advanceTimersByTimeAsync(1);
  expect(closed).toEqual(["revoked"]);
  expect(streams.stats().members).toBe(1);
});

test("the openings of a tenant's subjects are repeated one after the other, all of them, also when that outlasts a check", async () => {
  let atOnce = 0;
  const most: number[] = [];
  const asked: string[] = [];
  const { open } = setUp({
    async recheckChannels({ id }) {
      most.push((atOnce += 1));
      asked.push(id);
      await new Promise((resolve) => setTimeout(resolve, recheckMs));
      atOnce -= 1;
      return new Map();
    },
  });
  for (const id of ["ada", "grace", "joan"]) await open({ ...user, id });
  await vi.advanceTimersByTimeAsync(4 * recheckMs);
  expect(asked.slice(0, 3)).toEqual(["ada", "grace", "joan"]);
  expect(Math.max(...most)).toBe(1);
});
