import { expect, test, vi } from "vitest";
import { maxPayloadBytes } from "../../../shared/event.ts";
import {
  tenantId,
  aId,
  bId,
  a,
  b,
  uuid,
  lingerMs,
  createMember,
  setUp,
  join,
  turn,
  delta,
  frame,
  useFakeTimers,
} from "./recording_hub.ts";

useFakeTimers();

test("S1: a member of several channels waits for every confirmation, of a hundred too", async () => {
  const { broker, hub } = setUp({ confirms: "by script" });
  const names = Array.from({ length: 100 }, (_, n) => `job:${tenantId}:n${n}`);
  let isConfirmed = false;
  const joined = join(hub, names).then(() => (isConfirmed = true));
  for (const name of names.slice(1).toReversed()) broker.newest(name).confirm();
  await turn();
  expect(isConfirmed).toBe(false);
  broker.newest(names[0] ?? "").confirm();
  await joined;
  hub.close();
});

test("the events of a turn are one chunk, the same bytes for every member", async () => {
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

test("a subscription is released when its linger ends, and no other", async () => {
  const { broker, hub } = setUp();
  hub.leave(await join(hub, [a]));
  await join(hub, [b]);
  vi.advanceTimersByTime(lingerMs - 1);
  expect(broker.newest(a).signal.aborted).toBe(false);
  vi.advanceTimersByTime(1);
  expect(broker.newest(a).signal.aborted).toBe(true);
  expect(broker.newest(b).signal.aborted).toBe(false);
  expect(hub.stats()).toEqual({ channels: 1, members: 1, subscriptions: 1 });
  hub.close();
});

test("a reconnect within the linger reuses the subscription, one after it subscribes afresh", async () => {
  const { broker, hub } = setUp();
  hub.leave(await join(hub, [a]));
  vi.advanceTimersByTime(lingerMs - 1);
  const member = createMember();
  const second = await join(hub, [a], member);
  vi.advanceTimersByTime(2 * lingerMs);
  broker.publish(a, "job.delta", delta(1));
  await turn();
  expect(broker.subscriptions).toHaveLength(1);
  expect(member.chunks).toHaveLength(1);
  hub.leave(second);
  vi.advanceTimersByTime(lingerMs);
  expect(hub.stats().subscriptions).toBe(0);
  const late = createMember();
  await join(hub, [a], late);
  broker.publish(a, "job.delta", delta(1));
  await turn();
  expect(broker.subscriptions).toHaveLength(2);
  expect(late.chunks).toHaveLength(1);
  hub.close();
});

test("a subscription stays while another member still waits for its confirmation", async () => {
  const { broker, hub } = setUp({ confirms: "by script" });
  const [leaving, staying] = [createMember(), createMember()];
  const left = expect(join(hub, [a], leaving)).rejects.toMatchObject({ code: "unavailable" });
  const joined = join(hub, [a], staying);
  hub.leave(leaving);
  vi.advanceTimersByTime(2 * lingerMs);
  broker.newest(a).confirm();
  await Promise.all([left, joined]);
  broker.publish(a, "job.delta", delta(1));
  await turn();
  expect([leaving.chunks.length, staying.chunks.length]).toEqual([0, 1]);
  expect(broker.subscriptions).toHaveLength(1);
  hub.close();
});

test("nobody joins when one channel was lost while another was being confirmed", async () => {
  const { broker, hub } = setUp({ confirms: "by script" });
  const joined = join(hub, [a, b]);
  broker.newest(a).confirm();
  await turn();
  broker.newest(a).lose("cut");
  broker.newest(b).confirm();
  await expect(joined).rejects.toMatchObject({ code: "unavailable" });
  vi.advanceTimersByTime(lingerMs);
  expect(hub.stats().subscriptions).toBe(0);
});

test.each(["before", "after"])("a subscription lost right %s its confirmation rejects", async (when) => {
  const { broker, hub } = setUp({ confirms: "by script" });
  const joined = join(hub, [a]);
  if (when === "after") broker.newest(a).confirm();
  broker.newest(a).lose("cut");
  await expect(joined).rejects.toMatchObject({ code: "unavailable", retryAfterSeconds: 2 });
  expect(hub.stats().subscriptions).toBe(0);
  const next = join(hub, [a]);
  broker.newest(a).confirm();
  await next;
  expect(broker.subscriptions).toHaveLength(2);
  hub.close();
});

test("S2: a lost subscription ends its members at once, after what had arrived, and no others", async () => {
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
  // Late calls of the broker for the lost subscription are ignored.
  broker.subscriptions[0]?.message(`{"type":"job.delta","data":{"n":2}}`);
  broker.subscriptions[0]?.lose("cut");
  await turn();
  expect(first.chunks).toHaveLength(1);
  hub.close();
});

const oneByteTooMany = JSON.stringify({ text: "x".repeat(maxPayloadBytes - `{"text":""}`.length + 1) });

test.each([
  ["no JSON", "garbage"],
  ["an unknown verb", `{"type":"job.explode","data":{}}`],
  ["a type with a line break", `{"type":"job.delta\\nid: 1","data":{}}`],
  ["a nested payload", `{"type":"job.delta","data":{"a":{"b":1}}}`],
  ["a terminal event without its id", `{"type":"job.end","data":{}}`],
  ["a payload over the bound", `{"type":"job.delta","data":${oneByteTooMany}}`],
])("S2, S8: %s ends the channel's members and is counted", async (_what, message) => {
  const count = vi.fn();
  const { broker, hub } = setUp({ count });
  const [member, other] = [createMember(), createMember()];
  await join(hub, [a], member);
  await join(hub, [b], other);
  broker.newest(a).message(message);
  expect(member.ends).toEqual(["lost"]);
  expect(member.chunks).toHaveLength(0);
  expect(other.ends).toEqual([]);
  expect(count.mock.calls).toEqual([["broker_messages_dropped", null]]);
  hub.close();
});

test("a malformed message on a channel without members is ignored", async () => {
  const { broker, hub } = setUp();
  hub.leave(await join(hub, [a]));
  broker.newest(a).message("garbage");
  const member = createMember();
  await join(hub, [a], member);
  broker.publish(a, "job.delta", delta(1));
  await turn();
  expect(member.ends).toEqual([]);
  expect(member.chunks).toHaveLength(1);
  hub.close();
});

test("the channel's terminal event is delivered whole and ends its members; another resource's ends nothing", async () => {
  const count = vi.fn();
  const { broker, hub } = setUp({ count });
  const member = createMember();
  await join(hub, [a], member);
  broker.publish(a, "job.delta", delta(1));
  broker.publish(a, "part.end", { part_id: uuid });
  broker.publish(a, "job.end", { job_id: bId });
  expect(count.mock.calls.filter(([name]) => name === "broker_messages_dropped")).toHaveLength(1);
  expect(member.ends).toEqual([]);
  broker.publish(a, "job.end", { job_id: aId });
  broker.publish(a, "job.delta", delta(2));
  await turn();
  expect(member.ends).toEqual(["ended"]);
  expect(member.text()).toBe(
    frame("job.delta", `{"n":1}`) +
      frame("part.end", `{"part_id":"${uuid}"}`) +
      frame("job.end", `{"job_id":"${aId}"}`),
  );
  hub.close();
});

test("a member that throws is ended and logged, and the others receive everything", async () => {
  const logged: unknown[] = [];
  const error = new Error("broken");
  const { broker, hub } = setUp({
    log: { debug() {}, info() {}, warn() {}, error: (fields) => void logged.push(fields["error"]) },
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

test("a subscription that nobody waits for any more is released, confirmed or not", async () => {
  const { broker, hub } = setUp({ confirms: "by script", confirmTimeoutMs: 50 });
  const joined = join(hub, [a, b]);
  broker.newest(b).refuse(new Error("no"));
  broker.newest(a).confirm();
  await expect(joined).rejects.toMatchObject({ code: "unavailable" });
  vi.advanceTimersByTime(lingerMs);
  expect(hub.stats().subscriptions).toBe(0);
  expect(broker.newest(a).signal.aborted).toBe(true);
});
