import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createMemoryBroker } from "../../../shared/brokers/memory.ts";
import { createPublisher } from "../../../shared/send_event.ts";
import type { Chunk } from "../../../gateway/streaming/encoded_chunk.ts";
import { createLocalStreams, type LocalStreamsOptions } from "../../../gateway/streaming/local_streams.ts";
import type { Sink, SinkOwner } from "../../../gateway/streaming/sinks/sink.ts";
import { createRandom } from "../../support/random.ts";
import { createScriptedSubscriber } from "../../support/scripted_subscriber.ts";
import { bounds, channel, createAuthority, user } from "../../support/stream_server.ts";

/** Streams over a scripted sink, with a fake clock. */

// From now on: an embedded database of this process that waits would see its deadline in 57 years, and look each millisecond.
beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

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
    authority: createAuthority(),
    bounds,
    count: (name, value) => void (name === "streams_closed" && closed.push(String(value))),
    createSink(_stream, owner) {
      const sink = (options.sink ?? createSink)(owner);
      opened.push(sink);
      return sink;
    },
    ...options,
  });
  const open = async (principal = user) => {
    await streams.open({
      request: new Request("http://gateway.test/"),
      principal,
      name: "/api/v1/event-stream",
      channels: [channel],
    });
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
test("no timer is left when the last stream is closed", async () => {
  const timers = watchTimers();
  const { streams, open } = setUp();
  const sinks = [await open(), await open(), await open({ ...user, expiresAtMs: Date.now() + 60_000 })];
  expect(timers.size).toBeGreaterThan(0);
  for (const { owner } of sinks) owner.onClosed();
  await vi.advanceTimersByTimeAsync(5000);
  expect(streams.stats()).toEqual(nothing);
  expect(timers.size).toBe(0);
});

/** Returns the timers that streams have set and that are pending: other files of this process may have some of their own. */
function watchTimers(): ReadonlySet<unknown> {
  const pending = new Set<unknown>();
  const { setTimeout: once, setInterval: repeat, clearTimeout: clearOnce, clearInterval: clearRepeat } = globalThis;
  const isOurs = () => /\/(?<!test\/)gateway\/streaming\//.test(new Error("Where it is set").stack ?? "");
  const add = (timer: unknown, isCounted: boolean) => (isCounted && pending.add(timer), timer);
  vi.stubGlobal("setTimeout", (run: () => void, ms?: number) => {
    const timer = once(() => (pending.delete(timer), run()), ms);
    return add(timer, isOurs());
  });
  vi.stubGlobal("setInterval", (run: () => void, ms?: number) => add(repeat(run, ms), isOurs()));
  vi.stubGlobal("clearTimeout", (timer: NodeJS.Timeout) => (pending.delete(timer), clearOnce(timer)));
  vi.stubGlobal("clearInterval", (timer: NodeJS.Timeout) => (pending.delete(timer), clearRepeat(timer)));
  return pending;
}

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
  const { streams, open, closed } = setUp({ authority });
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

test("S4: the recheck of a stream that waited for the broker counts from the check of its authority", async () => {
  const authority = createAuthority();
  const subscriber = createScriptedSubscriber({ confirms: "by script" });
  // The latest moment at which a recheck may begin.
  const { open, closed } = setUp({ subscriber, authority, random: () => 0.999 });
  const opening = open();
  authority.revoked.add("ada");
  await vi.advanceTimersByTimeAsync(14_000);
  subscriber.newest(channel).confirm();
  await opening;
  await vi.advanceTimersByTimeAsync(bounds.recheckSeconds * 600 - 14_000);
  expect(closed).toEqual(["revoked"]);
});
