import { expect, test, vi } from "vitest";
import { tenantId, aId, a, b, uuid, aMember, setUp, join, turn, frame, fakeTimers } from "./recording_hub.ts";

/** Numbered events that are late, repeated or missing. */

fakeTimers();

const numbered = (n: number, producer = "gateway") =>
  `{"type":"job.delta","data":{"n":${n}},"delivery_id":"${producer}.${n}"}`;

test("an event that another process hands over late is delivered, and one that is sent again is not", async () => {
  const { broker, hub } = setUp();
  const member = aMember();
  await join(hub, [a], member);
  for (const n of [1, 3, 2, 2, 4]) broker.newest(a).message(numbered(n));
  await turn();
  expect([...member.text().matchAll(/"n":(\d)/g)].map(([, n]) => n)).toEqual(["1", "3", "2", "4"]);
  vi.advanceTimersByTime(10_000);
  expect(member.ends).toEqual([]);
});

test("S2: a number that a restored database gives a second time ends the channel's members", async () => {
  const { broker, hub } = setUp();
  const member = aMember();
  await join(hub, [a], member);
  broker.newest(a).message(numbered(3));
  vi.spyOn(performance, "now").mockReturnValue(performance.now() + 6000);
  broker.newest(a).message(numbered(3, "producer"));
  broker.newest(a).message(numbered(3, "producer"));
  expect(member.ends).toEqual([]);
  broker.newest(a).message(numbered(2));
  expect(member.ends).toEqual(["lost"]);
});

test("S2: an event that does not arrive 2 s after a later one of its producer ends the channel's members", async () => {
  const { broker, hub } = setUp();
  const [member, other] = [aMember(), aMember()];
  await join(hub, [a], member);
  await join(hub, [b], other);
  // The first number of a producer of which nothing is stored is where it begins.
  for (const n of [7, 9]) broker.newest(a).message(numbered(n));
  vi.advanceTimersByTime(1500);
  broker.newest(a).message(numbered(11));
  broker.newest(a).message(numbered(8));
  vi.advanceTimersByTime(1999);
  expect(member.ends).toEqual([]);
  vi.advanceTimersByTime(1);
  expect([member.ends, other.ends]).toEqual([["lost"], []]);
});

test("S2: what was stored when a stream opened is no hole, and what was stored after that is one", async () => {
  const read: (readonly string[])[] = [];
  const answers = Promise.withResolvers<void>();
  const { broker, hub } = setUp({
    async readStored(_tenantId, channels) {
      read.push(channels);
      await answers.promise;
      return channels.map((channel) => ({ channel, producer: "gateway", lastN: 3, ageMs: 1, lostAgeMs: null }));
    },
  });
  const members = [aMember(), aMember(), aMember()];
  const joined = [[a], [b], [`job:${tenantId}:${uuid}`]].map((channels, n) => join(hub, channels, members[n]));
  await turn();
  // Before it is known how far they were stored, and each once.
  for (const n of [4, 4]) broker.newest(a).message(numbered(n));
  broker.newest(b).message(numbered(5));
  answers.resolve();
  await Promise.all(joined);
  broker.newest(a).message(numbered(4));
  await turn();
  vi.advanceTimersByTime(2000);
  expect(members[0]?.text()).toBe(frame("job.delta", `{"n":4}`));
  expect(members.map(({ ends }) => ends)).toEqual([[], ["lost"], []]);
  expect(read.length).toBeLessThan(3);
  hub.close();
});

test("a query that began for a member that has left tells the next one nothing", async () => {
  const answers = [Promise.withResolvers<number>(), Promise.withResolvers<number>()];
  let asked = 0;
  const { broker, hub } = setUp({
    async readStored() {
      const lastN = (await answers[asked++]?.promise) ?? 0;
      return [{ channel: a, producer: "gateway", lastN, ageMs: 1, lostAgeMs: null }];
    },
  });
  const [left, member] = [aMember(), aMember()];
  void join(hub, [a], left);
  await turn();
  hub.leave(left);
  const joined = join(hub, [a], member);
  await turn();
  answers[0]?.resolve(3);
  await turn();
  broker.newest(a).message(numbered(6));
  answers[1]?.resolve(5);
  await joined;
  vi.advanceTimersByTime(4000);
  expect(member.ends).toEqual([]);
});

test("S2: a terminal event does not hide that others are missing", async () => {
  const { broker, hub } = setUp();
  const member = aMember();
  await join(hub, [a], member);
  for (const n of [1, 3]) broker.newest(a).message(numbered(n, "ci"));
  broker.publish(a, "job.end", { job_id: aId });
  await turn();
  expect(member.ends).toEqual(["lost"]);
  expect(member.text()).not.toContain("job.end");
});

test.each([6000, -6000])("a member that lacks an event of %i ms ago is ended, a younger may come", async (ageMs) => {
  const { broker, hub } = setUp();
  const member = aMember();
  await join(hub, [a], member);
  for (const n of [1, 2, 5]) broker.newest(a).message(numbered(n));
  const stored = { channel: a, producer: "gateway", ageMs, lostAgeMs: null };
  hub.loseBehind([
    { ...stored, lastN: 2 },
    { ...stored, lastN: 6, ageMs: 1000 },
    { ...stored, channel: b, lastN: 9 },
    // The broker was late to say that it took it.
    { ...stored, lastN: 5, lostAgeMs: 0 },
  ]);
  // Older than the stream, and so are what another producer stored and what the broker did not take.
  hub.loseBehind([
    { ...stored, lastN: 2, lostAgeMs: 1e9 },
    { ...stored, producer: "other", lastN: 9, ageMs: 1e9 },
  ]);
  expect(member.ends).toEqual([]);
  hub.loseBehind([{ ...stored, lastN: 6 }]);
  expect(member.ends).toEqual(["lost"]);
});
