import { expect, test, vi } from "vitest";
import { AppError } from "../../../shared/app_error.ts";
import { maxPayloadBytes } from "../../../shared/event.ts";
import type { Chunk } from "../../../gateway/streaming/encoded_chunk.ts";
import { createHub, type Hub, type HubMember, type HubOptions } from "../../../gateway/streaming/hub.ts";
import { noStreamMetrics } from "../../../gateway/observability/stream_metrics.ts";
import { createScriptedSubscriber } from "../../support/scripted_subscriber.ts";

const tenantId = "11111111-1111-4111-8111-111111111111";
const a = `job:${tenantId}:a`;
const b = `job:${tenantId}:b`;
const uuid = "22222222-2222-4222-8222-222222222222";
const decoder = new TextDecoder();

interface RecordingMember extends HubMember {
  readonly chunks: Chunk[];
  readonly ends: string[];
  text(): string;
}

function createMember(options: { readonly endsAfterTerminalEvent?: boolean } = {}): RecordingMember {
  const chunks: Chunk[] = [];
  const ends: string[] = [];
  return {
    chunks,
    ends,
    endsAfterTerminalEvent: options.endsAfterTerminalEvent ?? false,
    deliver: (chunk) => void chunks.push(chunk),
    end: (reason) => void ends.push(reason),
    text: () => chunks.map((chunk) => decoder.decode(chunk.bytes)).join(""),
  };
}

function setUp(options: Partial<HubOptions> & { readonly confirms?: "at once" | "when told" } = {}) {
  const broker = createScriptedSubscriber({ confirms: options.confirms ?? "at once" });
  const hub = createHub({ subscriber: broker, lingerMs: 20, ...options });
  return { broker, hub };
}

async function join(hub: Hub, channels: readonly string[], member: HubMember = createMember()) {
  const hold = await hub.hold(channels);
  hold.attach(member);
  return hold;
}

/** The turn in which the hub writes is over. */
const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

const delta = (n: number) => ({ n });
const frame = (type: string, data: string) => `event: ${type}\ndata: ${data}\n\n`;

test("hub resolves a hold only once the broker has confirmed (S1)", async () => {
  const { broker, hub } = setUp({ confirms: "when told" });
  let isHeld = false;
  const hold = hub.hold([a]).then(() => (isHeld = true));
  await turn();
  expect(isHeld).toBe(false);
  broker.newest(a).confirm();
  await hold;
  expect(isHeld).toBe(true);
  hub.close();
});

test("hub waits for every channel of a hold", async () => {
  const { broker, hub } = setUp({ confirms: "when told" });
  let isHeld = false;
  const hold = hub.hold([a, b]).then(() => (isHeld = true));
  broker.newest(b).confirm();
  await turn();
  expect(isHeld).toBe(false);
  broker.newest(a).confirm();
  await hold;
  hub.close();
});

test("hub subscribes once for all that follow a channel", async () => {
  const { broker, hub } = setUp();
  await Promise.all(Array.from({ length: 10 }, () => join(hub, [a])));
  await join(hub, [a, a]);
  expect(broker.subscriptions.map(({ channel }) => channel)).toEqual([a]);
  expect(hub.stats()).toEqual({ channels: 1, members: 11, subscriptions: 1 });
  hub.close();
});

test("hub hands the same bytes to every member, and one chunk for a whole turn", async () => {
  const { broker, hub } = setUp();
  const members = [createMember(), createMember()];
  for (const member of members) await join(hub, [a], member);
  for (let n = 1; n <= 3; n += 1) broker.publish(a, "job.delta", delta(n));
  expect(members.map(({ chunks }) => chunks.length)).toEqual([0, 0]);
  await turn();
  expect(members.map(({ chunks }) => chunks.length)).toEqual([1, 1]);
  expect(members[0]?.chunks[0]).toBe(members[1]?.chunks[0]);
  expect(members[0]?.text()).toBe([1, 2, 3].map((n) => frame("job.delta", `{"n":${n}}`)).join(""));
  hub.close();
});

test("hub writes a chunk before its turn is over when much has arrived", async () => {
  const { broker, hub } = setUp();
  const member = createMember();
  await join(hub, [a], member);
  const half = "x".repeat(40_000);
  broker.publish(a, "job.delta", { half });
  expect(member.chunks).toHaveLength(0);
  broker.publish(a, "job.delta", { half });
  expect(member.chunks).toHaveLength(1);
  broker.publish(a, "job.delta", delta(3));
  await turn();
  expect(member.chunks).toHaveLength(2);
  expect(member.text()).toBe(
    frame("job.delta", JSON.stringify({ half })).repeat(2) + frame("job.delta", JSON.stringify(delta(3))),
  );
  hub.close();
});

test("hub keeps the order of arrival over all channels of one member", async () => {
  const { broker, hub } = setUp();
  const [both, onlyA] = [createMember(), createMember()];
  await join(hub, [a, b], both);
  await join(hub, [a], onlyA);
  broker.publish(a, "job.delta", delta(1));
  broker.publish(b, "job.delta", delta(2));
  broker.publish(a, "job.delta", delta(3));
  await turn();
  expect(both.chunks).toHaveLength(1);
  expect(both.text()).toBe([1, 2, 3].map((n) => frame("job.delta", `{"n":${n}}`)).join(""));
  expect(onlyA.text()).toBe([1, 3].map((n) => frame("job.delta", `{"n":${n}}`)).join(""));
  // A turn with one channel needs no bytes of its own.
  broker.publish(a, "job.delta", delta(4));
  await turn();
  expect(both.chunks[1]).toBe(onlyA.chunks[1]);
  hub.close();
});

test("hub delivers nothing after a release", async () => {
  const { broker, hub } = setUp();
  const [stays, leaves] = [createMember(), createMember()];
  await join(hub, [a], stays);
  const hold = await join(hub, [a], leaves);
  broker.publish(a, "job.delta", delta(1));
  hold.release();
  hold.release();
  await turn();
  expect(leaves.chunks).toHaveLength(0);
  expect(stays.chunks).toHaveLength(1);
  expect(hub.stats()).toEqual({ channels: 1, members: 1, subscriptions: 1 });
  hub.close();
});

test("hub lets go of a channel a little after its last member, and of no other", async () => {
  const { broker, hub } = setUp();
  const hold = await join(hub, [a]);
  await join(hub, [b]);
  hold.release();
  expect(broker.newest(a).signal.aborted).toBe(false);
  await vi.waitFor(() => expect(broker.newest(a).signal.aborted).toBe(true));
  expect(broker.newest(b).signal.aborted).toBe(false);
  expect(hub.stats()).toEqual({ channels: 1, members: 1, subscriptions: 1 });
  hub.close();
});

test("hub gives a reconnect the subscription that lingers", async () => {
  const { broker, hub } = setUp({ lingerMs: 60 });
  (await join(hub, [a])).release();
  const member = createMember();
  await join(hub, [a], member);
  await new Promise((resolve) => setTimeout(resolve, 90));
  broker.publish(a, "job.delta", delta(1));
  await turn();
  expect(broker.subscriptions).toHaveLength(1);
  expect(member.chunks).toHaveLength(1);
  hub.close();
});

test("hub subscribes anew after the linger", async () => {
  const { broker, hub } = setUp();
  (await join(hub, [a])).release();
  await vi.waitFor(() => expect(hub.stats().subscriptions).toBe(0));
  const member = createMember();
  await join(hub, [a], member);
  broker.publish(a, "job.delta", delta(1));
  await turn();
  expect(broker.subscriptions).toHaveLength(2);
  expect(member.chunks).toHaveLength(1);
  hub.close();
});

test("hub keeps a subscription that is being confirmed while somebody else still waits for it", async () => {
  const { broker, hub } = setUp({ confirms: "when told", lingerMs: 5 });
  const [first, second] = [hub.hold([a]), hub.hold([a])];
  broker.newest(a).confirm();
  (await first).release();
  await new Promise((resolve) => setTimeout(resolve, 20));
  const member = createMember();
  (await second).attach(member);
  broker.publish(a, "job.delta", delta(1));
  await turn();
  expect(member.chunks).toHaveLength(1);
  expect(broker.subscriptions).toHaveLength(1);
  hub.close();
});

test("hub: a hold that was lost between its confirmation and its member cannot be attached", async () => {
  const { broker, hub } = setUp();
  const hold = await hub.hold([a]);
  broker.newest(a).lose("cut");
  expect(() => hold.attach(createMember())).toThrow(expect.objectContaining({ code: "unavailable" }));
  hold.release();
  expect(hub.stats()).toEqual({ channels: 0, members: 0, subscriptions: 0 });
});

test("hub: one of several channels lost while another is being confirmed refuses the hold", async () => {
  const { broker, hub } = setUp({ confirms: "when told" });
  const hold = hub.hold([a, b]);
  broker.newest(a).confirm();
  await turn();
  broker.newest(a).lose("cut");
  broker.newest(b).confirm();
  const member = createMember();
  expect(() => hub.stats()).not.toThrow();
  const held = await hold;
  expect(() => held.attach(member)).toThrow(expect.objectContaining({ code: "unavailable" }));
  held.release();
  await vi.waitFor(() => expect(hub.stats().subscriptions).toBe(0));
});

test.each(["before", "after"])("hub: lost %s the confirmation was seen refuses the hold", async (when) => {
  const { broker, hub } = setUp({ confirms: "when told" });
  const hold = hub.hold([a]);
  if (when === "after") broker.newest(a).confirm();
  broker.newest(a).lose("cut");
  await expect(hold).rejects.toMatchObject({ code: "unavailable", retryAfterSeconds: 2 });
  expect(hub.stats().subscriptions).toBe(0);
  // The next one starts from the beginning.
  const next = hub.hold([a]);
  broker.newest(a).confirm();
  (await next).attach(createMember());
  expect(broker.subscriptions).toHaveLength(2);
  hub.close();
});

test("hub: a subscription that was lost does not take the next one of its channel with it", async () => {
  const { broker, hub } = setUp({ confirms: "when told" });
  const lost = hub.hold([a]);
  broker.newest(a).lose("cut");
  // The hub still hears of the lost one's end, after this.
  const next = hub.hold([a]);
  await expect(lost).rejects.toMatchObject({ code: "unavailable" });
  broker.newest(a).confirm();
  (await next).attach(createMember());
  expect(hub.stats()).toEqual({ channels: 1, members: 1, subscriptions: 1 });
  await join(hub, [a]);
  expect(broker.subscriptions).toHaveLength(2);
  hub.close();
});

test("hub: a hold that is released twice is not released for others", async () => {
  const { broker, hub } = setUp({ lingerMs: 5 });
  const [stays, leaves] = [createMember(), await join(hub, [a])];
  await join(hub, [a], stays);
  leaves.release();
  leaves.release();
  await new Promise((resolve) => setTimeout(resolve, 20));
  broker.publish(a, "job.delta", delta(1));
  await turn();
  expect(stays.chunks).toHaveLength(1);
  hub.close();
});

test("hub tells everybody who waits when the broker refuses, as unavailable", async () => {
  const { broker, hub } = setUp({ confirms: "when told" });
  const holds = [hub.hold([a]), hub.hold([a, b])];
  broker.newest(b).confirm();
  broker.newest(a).refuse(new Error("connect ECONNREFUSED"));
  for (const hold of holds) await expect(hold).rejects.toMatchObject({ name: "AppError", code: "unavailable" });
  await vi.waitFor(() => expect(hub.stats().subscriptions).toBe(0));
});

test("hub passes on the broker's own AppError", async () => {
  const { broker, hub } = setUp({ confirms: "when told" });
  const hold = hub.hold([a]);
  const error = new AppError("unavailable", "The broker is away", { retryAfterSeconds: 7 });
  broker.newest(a).refuse(error);
  await expect(hold).rejects.toBe(error);
});

test("hub does not wait for a confirmation for ever", async () => {
  const { broker, hub } = setUp({ confirms: "when told", confirmTimeoutMs: 10 });
  await expect(hub.hold([a])).rejects.toMatchObject({ code: "unavailable" });
  expect(broker.newest(a).signal.aborted).toBe(true);
  expect(hub.stats().subscriptions).toBe(0);
});

test("hub ends the members of a lost channel at once, after what had arrived, and no others (S2)", async () => {
  const { broker, hub } = setUp();
  const [first, second, other, both] = [createMember(), createMember(), createMember(), createMember()];
  await join(hub, [a], first);
  await join(hub, [a], second);
  await join(hub, [b], other);
  await join(hub, [a, b], both);
  broker.publish(a, "job.delta", delta(1));
  broker.newest(a).lose("cut");
  for (const member of [first, second, both]) {
    expect(member.ends).toEqual(["lost"]);
    expect(member.text()).toBe(frame("job.delta", `{"n":1}`));
  }
  expect(other.ends).toEqual([]);
  expect(hub.stats()).toEqual({ channels: 1, members: 1, subscriptions: 1 });
  // What the broker still says of the lost subscription is nobody's.
  broker.subscriptions[0]?.message(`{"type":"job.delta","data":{"n":2}}`);
  broker.subscriptions[0]?.lose("cut");
  await turn();
  expect(first.chunks).toHaveLength(1);
  hub.close();
});

test("hub counts a lost subscription once, with its reason", async () => {
  const lost: string[] = [];
  const { broker, hub } = setUp({
    metrics: { ...noStreamMetrics, subscriptionLost: (reason) => void lost.push(reason) },
  });
  await join(hub, [a]);
  broker.newest(a).lose("silent");
  broker.newest(a).lose("silent");
  expect(lost).toEqual(["silent"]);
});

const oneByteTooMany = JSON.stringify({ text: "x".repeat(maxPayloadBytes - `{"text":""}`.length + 1) });
const asLargeAsAllowed = JSON.stringify({ text: "x".repeat(maxPayloadBytes - `{"text":""}`.length) });

test.each([
  ["no JSON", "garbage"],
  ["an unknown verb", `{"type":"job.explode","data":{}}`],
  ["a type with a line break", `{"type":"job.delta\\nid: 1","data":{}}`],
  ["a nested payload", `{"type":"job.delta","data":{"a":{"b":1}}}`],
  ["a terminal event without its id", `{"type":"job.end","data":{}}`],
  ["a payload over the bound", `{"type":"job.delta","data":${oneByteTooMany}}`],
])("hub ends a channel's members on %s, and counts it (S2, S8)", async (_what, message) => {
  let dropped = 0;
  const { broker, hub } = setUp({ metrics: { ...noStreamMetrics, messageDropped: () => void (dropped += 1) } });
  const [member, other] = [createMember(), createMember()];
  await join(hub, [a], member);
  await join(hub, [b], other);
  broker.newest(a).message(message);
  expect(member.ends).toEqual(["lost"]);
  expect(member.chunks).toHaveLength(0);
  expect(other.ends).toEqual([]);
  expect(dropped).toBe(1);
  hub.close();
});

test("hub delivers a payload that is just within the bound", async () => {
  const { broker, hub } = setUp();
  const member = createMember();
  await join(hub, [a], member);
  broker.newest(a).message(`{"type":"job.delta","data":${asLargeAsAllowed}}`);
  await turn();
  expect(member.ends).toEqual([]);
  expect(member.text()).toBe(frame("job.delta", asLargeAsAllowed));
  hub.close();
});

test("hub: a message that nobody follows cannot hurt", async () => {
  const { broker, hub } = setUp({ lingerMs: 1000 });
  const hold = await hub.hold([a]);
  broker.newest(a).message("garbage");
  const member = createMember();
  hold.attach(member);
  broker.publish(a, "job.delta", delta(1));
  await turn();
  expect(member.ends).toEqual([]);
  expect(member.chunks).toHaveLength(1);
  hub.close();
});

test("hub ends whoever wants it right after the terminal event, whole", async () => {
  const { broker, hub } = setUp();
  const [ends, stays] = [createMember({ endsAfterTerminalEvent: true }), createMember()];
  await join(hub, [a], ends);
  await join(hub, [a], stays);
  broker.publish(a, "job.delta", delta(1));
  broker.publish(a, "job.end", { job_id: uuid });
  broker.publish(a, "job.delta", delta(2));
  await turn();
  const untilEnd = frame("job.delta", `{"n":1}`) + frame("job.end", `{"job_id":"${uuid}"}`);
  expect(ends.ends).toEqual(["ended"]);
  expect(ends.text()).toBe(untilEnd);
  expect(stays.ends).toEqual([]);
  expect(stays.text()).toBe(untilEnd + frame("job.delta", `{"n":2}`));
  hub.close();
});

test("hub ends a member of several channels after the last terminal event", async () => {
  const { broker, hub } = setUp();
  const member = createMember({ endsAfterTerminalEvent: true });
  await join(hub, [a, b], member);
  broker.publish(a, "job.end", { job_id: uuid });
  broker.publish(a, "job.end", { job_id: uuid });
  expect(member.ends).toEqual([]);
  broker.publish(b, "job.end", { job_id: uuid });
  expect(member.ends).toEqual(["ended"]);
  expect(member.text()).toBe(frame("job.end", `{"job_id":"${uuid}"}`).repeat(3));
  hub.close();
});

test("hub: a member that throws is ended, logged and harmless to the others", async () => {
  const logged: unknown[] = [];
  const error = new Error("broken");
  const { broker, hub } = setUp({
    log: { debug() {}, info() {}, warn() {}, error: (fields) => void logged.push(fields["err"]) },
  });
  const [before, broken, after] = [createMember(), createMember(), createMember()];
  await join(hub, [a], before);
  await join(hub, [a], {
    ...broken,
    deliver() {
      throw error;
    },
    end(reason) {
      broken.ends.push(reason);
      throw error;
    },
  });
  await join(hub, [a], after);
  for (let n = 1; n <= 2; n += 1) {
    broker.publish(a, "job.delta", delta(n));
    await turn();
  }
  expect(broken.ends).toEqual(["lost"]);
  expect(before.chunks).toHaveLength(2);
  expect(after.chunks).toHaveLength(2);
  expect(logged).toEqual([error, error]);
  hub.close();
});

test("hub: members that leave while a chunk is handed out disturb nobody", async () => {
  const { broker, hub } = setUp();
  const members = [createMember(), createMember(), createMember()];
  const [first, , third] = members;
  await join(hub, [a], first);
  const second = await hub.hold([a]);
  second.attach({ ...createMember(), deliver: () => second.release() });
  await join(hub, [a], third);
  broker.publish(a, "job.delta", delta(1));
  broker.publish(a, "job.end", { job_id: uuid });
  await turn();
  expect(first?.text()).toBe(third?.text());
  expect(hub.stats().members).toBe(2);
  hub.close();
});

test("hub.close ends everybody, lets go of everything and opens nothing more", async () => {
  const { broker, hub } = setUp();
  const member = createMember();
  await join(hub, [a], member);
  (await hub.hold([b])).release();
  hub.close();
  expect(member.ends).toEqual(["lost"]);
  expect(broker.subscriptions.every(({ signal }) => signal.aborted)).toBe(true);
  expect(hub.stats()).toEqual({ channels: 0, members: 0, subscriptions: 0 });
  await expect(hub.hold([a])).rejects.toMatchObject({ code: "unavailable" });
});

test("hub.close while a subscription is being confirmed refuses who waits", async () => {
  const { hub } = setUp({ confirms: "when told" });
  const hold = hub.hold([a]);
  hub.close();
  await expect(hold).rejects.toMatchObject({ code: "unavailable" });
});

test("hub: everybody who waited left, and the broker confirms too late or never", async () => {
  const { broker, hub } = setUp({ confirms: "when told", lingerMs: 5, confirmTimeoutMs: 50 });
  const hold = hub.hold([a, b]);
  broker.newest(b).refuse(new Error("no"));
  broker.newest(a).confirm();
  await expect(hold).rejects.toMatchObject({ code: "unavailable" });
  await vi.waitFor(() => expect(hub.stats().subscriptions).toBe(0));
  expect(broker.newest(a).signal.aborted).toBe(true);
});

test("hub holds nothing after a thousand joins and leaves", async () => {
  const { broker, hub } = setUp({ lingerMs: 1 });
  for (let round = 0; round < 1000; round += 1) {
    const hold = await join(hub, round % 2 === 0 ? [a] : [a, b]);
    if (round % 10 === 0) broker.newest(a).lose("cut");
    hold.release();
  }
  await vi.waitFor(() => expect(hub.stats()).toEqual({ channels: 0, members: 0, subscriptions: 0 }));
  expect(broker.subscriptions.every(({ signal }) => signal.aborted)).toBe(true);
});
