import { expect, test } from "vitest";
import { AppError } from "../../../shared/app_error.ts";
import type { LostReason } from "../../../shared/broker.ts";
import { createSharedSubscriptions, type ChannelListener } from "../../../shared/brokers/shared_subscriptions.ts";
import { record } from "../../broker_contract/broker_harness.ts";

interface Opened extends ChannelListener {
  readonly channel: string;
  readonly confirm: () => void;
  readonly fail: (error: Error) => void;
  isClosed: boolean;
}

/** Subscriptions over channels that the test confirms, fails and loses by hand. */
function create() {
  const opened: Opened[] = [];
  const subscriptions = createSharedSubscriptions((channel, listener) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const source: Opened = { channel, ...listener, confirm: resolve, fail: reject, isClosed: false };
    opened.push(source);
    return { confirmed: promise, close: () => void (source.isClosed = true) };
  });
  const openedAt = (index: number): Opened => {
    const source = opened[index];
    if (source === undefined) throw new Error(`No channel was opened as number ${index}`);
    return source;
  };
  return { subscriptions, opened, openedAt };
}

const ignore = { onMessage() {}, onLost() {} };
const never = new AbortController().signal;

test("createSharedSubscriptions opens a channel once and closes it with its last subscription", async () => {
  const { subscriptions, opened, openedAt } = create();
  const pending = [record(subscriptions, "a"), record(subscriptions, "a", "b")];
  expect(opened.map(({ channel }) => channel)).toEqual(["a", "b"]);
  openedAt(0).confirm();
  openedAt(1).confirm();
  const [first, second] = await Promise.all(pending);
  first?.leave();
  expect(opened.map(({ isClosed }) => isClosed)).toEqual([false, false]);
  second?.leave();
  second?.leave();
  expect(opened.map(({ isClosed }) => isClosed)).toEqual([true, true]);
  void record(subscriptions, "a");
  expect(opened.map(({ channel }) => channel)).toEqual(["a", "b", "a"]);
});

test("createSharedSubscriptions resolves when every channel is confirmed, not before", async () => {
  const { subscriptions, openedAt } = create();
  let isOpen = false;
  const subscribed = subscriptions.subscribe(["a", "b"], ignore, never).then(() => (isOpen = true));
  openedAt(1).confirm();
  await new Promise((resolve) => setImmediate(resolve));
  expect(isOpen).toBe(false);
  openedAt(0).confirm();
  await subscribed;
});

test("createSharedSubscriptions rejects with the failure of one channel, releases the others, and opens again", async () => {
  const { subscriptions, opened, openedAt } = create();
  const failure = new AppError("unavailable", "no");
  const subscribed = [
    subscriptions.subscribe(["a", "b"], ignore, never),
    subscriptions.subscribe(["b"], ignore, never),
  ];
  openedAt(0).confirm();
  openedAt(1).fail(failure);
  for (const attempt of subscribed) await expect(attempt).rejects.toBe(failure);
  expect(opened.map(({ isClosed }) => isClosed)).toEqual([true, true]);
  void subscriptions.subscribe(["b"], ignore, never).catch(() => undefined);
  expect(opened).toHaveLength(3);
});

test("createSharedSubscriptions rejects when a channel is lost between its confirmation and the resolving", async () => {
  const { subscriptions, openedAt } = create();
  const lost: LostReason[] = [];
  const subscribed = subscriptions.subscribe(["a"], { ...ignore, onLost: (reason) => void lost.push(reason) }, never);
  openedAt(0).confirm();
  openedAt(0).onLost("cut");
  await expect(subscribed).rejects.toThrow(/the broker was lost/);
  expect(lost).toEqual([]);
});

test("createSharedSubscriptions reports the loss of any channel once, and hands over nothing after", async () => {
  const { subscriptions, openedAt } = create();
  const pending = record(subscriptions, "a", "b");
  openedAt(0).confirm();
  openedAt(1).confirm();
  const recording = await pending;
  openedAt(0).onMessage("1");
  openedAt(1).onLost("silent");
  openedAt(0).onMessage("2");
  openedAt(0).onLost("cut");
  await recording.untilLost();
  expect([recording.messages, recording.lost]).toEqual([["1"], ["silent"]]);
  expect(openedAt(0).isClosed).toBe(true);
});

test("createSharedSubscriptions lets no subscription join, in onLost, a channel that is lost with the same connection", async () => {
  const { subscriptions, opened, openedAt } = create();
  const again = Promise.withResolvers<void>();
  const onLost = () => void subscriptions.subscribe(["a", "b"], ignore, never).then(again.resolve, again.reject);
  const subscribed = subscriptions.subscribe(["a", "b"], { onMessage() {}, onLost }, never);
  const other = record(subscriptions, "b");
  openedAt(0).confirm();
  openedAt(1).confirm();
  await subscribed;
  const witness = await other;
  openedAt(0).onLost("cut");
  openedAt(1).onLost("cut");
  await witness.untilLost();
  expect(opened.map(({ channel }) => channel)).toEqual(["a", "b", "a", "b"]);
  openedAt(2).confirm();
  openedAt(3).confirm();
  await again.promise;
});

test("createSharedSubscriptions ignores messages and losses of a closed channel", async () => {
  const { subscriptions, openedAt } = create();
  const pending = record(subscriptions, "a");
  openedAt(0).confirm();
  (await pending).leave();
  const next = record(subscriptions, "a");
  openedAt(1).confirm();
  const recording = await next;
  openedAt(0).onMessage("stale");
  openedAt(0).onLost("cut");
  openedAt(1).onMessage("fresh");
  expect([recording.messages, recording.lost]).toEqual([["fresh"], []]);
});

test("createSharedSubscriptions keeps no listener on a signal whose subscription is over", async () => {
  const { subscriptions, openedAt } = create();
  const leaving = new AbortController();
  let listenerCount = 0;
  const { signal } = leaving;
  const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
  Object.assign(signal, {
    addEventListener: (...args: Parameters<typeof add>) => {
      listenerCount += 1;
      add(...args);
    },
    removeEventListener: (...args: Parameters<typeof remove>) => {
      listenerCount -= 1;
      remove(...args);
    },
  });
  const subscribed = subscriptions.subscribe(["a"], ignore, signal);
  expect(listenerCount).toBe(1);
  openedAt(0).confirm();
  await subscribed;
  openedAt(0).onLost("cut");
  expect(listenerCount).toBe(0);
});
