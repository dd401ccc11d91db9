import { expect, test, vi } from "vitest";
import { a, aId, b, bId, tenantId, uuid } from "./recording_hub.ts";
import { aMember, delta, fakeTimers, frame, join, lingerMs, setUp, turn } from "./recording_hub.ts";

fakeTimers();

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
  const members = [aMember(), aMember()];
  for (const member of members) await join(hub, [a], member);
  for (let n = 1; n <= 3; n += 1) broker.publish(a, "job.delta", delta(n));
  expect(members.map(({ chunks }) => chunks.length)).toEqual([0, 0]);
  await turn();
  expect(members.map(({ chunks }) => chunks.length)).toEqual([1, 1]);
  expect(members[0]?.chunks[0]).toBe(members[1]?.chunks[0]);
  expect(members[0]?.text()).toBe([1, 2, 3].map((n) => frame("job.delta", `{"n":${n}}`)).join(""));
  hub.close();
});

test("a reconnect within the linger reuses the subscription, one after it subscribes afresh", async () => {
  const { broker, hub } = setUp();
  hub.leave(await join(hub, [a]));
  vi.advanceTimersByTime(lingerMs - 1);
  const member = aMember();
  const second = await join(hub, [a], member);
  vi.advanceTimersByTime(2 * lingerMs);
  broker.publish(a, "job.delta", delta(1));
  await turn();
  expect(broker.subscriptions).toHaveLength(1);
  expect(member.chunks).toHaveLength(1);
  hub.leave(second);
  await join(hub, [b]);
  vi.advanceTimersByTime(lingerMs);
  expect([broker.newest(a).signal.aborted, broker.newest(b).signal.aborted]).toEqual([true, false]);
  const late = aMember();
  await join(hub, [a], late);
  broker.publish(a, "job.delta", delta(1));
  await turn();
  expect(broker.subscriptions).toHaveLength(3);
  expect(late.chunks).toHaveLength(1);
  hub.close();
});

test("a subscription stays while another member still waits for its confirmation", async () => {
  const { broker, hub } = setUp({ confirms: "by script" });
  const [leaving, staying] = [aMember(), aMember()];
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

test.each(["lost", "refused"])(
  "nobody joins when one channel was %s while another was being confirmed",
  async (how) => {
    const { broker, hub } = setUp({ confirms: "by script" });
    const joined = join(hub, [a, b]);
    if (how === "lost") broker.newest(a).confirm();
    await turn();
    if (how === "lost") broker.newest(a).lose("cut");
    else broker.newest(a).refuse(new Error("no"));
    broker.newest(b).confirm();
    await expect(joined).rejects.toMatchObject({ code: "unavailable" });
    vi.advanceTimersByTime(lingerMs);
    expect(hub.stats().subscriptions).toBe(0);
    expect(broker.newest(b).signal.aborted).toBe(true);
  },
);

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
  const [first, second, other, both] = [aMember(), aMember(), aMember(), aMember()];
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

// `shared/send_event.test.ts` has every way in which a message may be malformed.
test("S2, S8: a malformed message ends the channel's members and is counted", async () => {
  const count = vi.fn();
  const { broker, hub } = setUp({ count });
  const [member, other] = [aMember(), aMember()];
  await join(hub, [a], member);
  await join(hub, [b], other);
  broker.newest(a).message(`{"type":"job.explode","data":{}}`);
  expect(member.ends).toEqual(["lost"]);
  expect(member.chunks).toHaveLength(0);
  expect(other.ends).toEqual([]);
  expect(count.mock.calls).toEqual([["broker_messages_dropped", null]]);
  hub.close();
});

test("the channel's terminal event is delivered whole and ends its members; another resource's ends nothing", async () => {
  const count = vi.fn();
  const { broker, hub } = setUp({ count });
  const member = aMember();
  await join(hub, [a], member);
  broker.publish(a, "job.delta", delta(1));
  broker.publish(a, "part.end", { part_id: uuid });
  broker.publish(a, "job.end", { job_id: bId });
  expect(count.mock.calls.filter(([name]) => name === "broker_messages_dropped")).toHaveLength(1);
  expect(member.ends).toEqual([]);
  broker.newest(a).message(`[{"type":"job.end","data":{"job_id":"${aId}"}},{"type":"job.delta","data":{"n":2}}]`);
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
  const [before, broken, after] = [aMember(), aMember(), aMember()];
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
