import assert from "node:assert/strict";
import { eventually } from "../../gateway/library/contract_client.ts";
import { maxMessageBytes, pingMessage } from "../../shared/brokers/message.ts";
import { createChannel, eventMessage, record, unavailability, type BrokerHarness } from "./broker_harness.ts";

export type BrokerCase = (harness: BrokerHarness) => Promise<void>;

const ignore = { onMessage() {}, onLost() {} };
const never = new AbortController().signal;
const numbered = (count: number) => Array.from({ length: count }, (_, n) => eventMessage({ n }));

/** The promises of every adapter of the broker port; `broker_network_contract.ts` has those that need a network. */
export const brokerContract: Readonly<Record<string, BrokerCase>> = {
  "hands over a publisher's messages in order, awaited or not": async ({ createBroker, channel }) => {
    const recording = await record(createBroker(), channel);
    const publisher = createBroker();
    const messages = numbered(120);
    for (const message of messages.slice(0, 20)) await publisher.publish(channel, message);
    await Promise.all(messages.slice(20).map((message) => publisher.publish(channel, message)));
    await recording.untilCount(messages.length);
    assert.deepEqual(recording.messages, messages);
  },

  "hands a message to every subscriber, here and elsewhere": async ({ createBroker, channel }) => {
    const here = createBroker();
    const recordings = [
      await record(here, channel),
      await record(here, channel),
      await record(createBroker(), channel),
      await record(createBroker(), channel),
    ];
    await here.publish(channel, eventMessage({ n: 1 }));
    for (const recording of recordings) await recording.untilCount(1);
    for (const recording of recordings) assert.deepEqual(recording.messages, [eventMessage({ n: 1 })]);
  },

  "receives again when another subscriber joins right after the last has left": async (harness) => {
    const { channel } = harness;
    const broker = harness.createBroker();
    for (let round = 0; round < 5; round += 1) {
      const recording = await record(broker, channel);
      await broker.publish(channel, eventMessage({ round }));
      await recording.untilCount(1);
      recording.leave();
    }
    await untilReleased(harness, channel);
  },

  "a signal that aborts during the confirmation rejects with its reason and unsubscribes": async (harness) => {
    const { channel } = harness;
    const broker = harness.createBroker();
    const leaving = new AbortController();
    const reason = new Error("changed my mind");
    const subscribed = broker.subscribe(channel, ignore, leaving.signal);
    leaving.abort(reason);
    await assert.rejects(subscribed, reason);
    await untilReleased(harness, channel);
    const recording = await record(broker, channel);
    await broker.publish(channel, eventMessage({ n: 1 }));
    await recording.untilCount(1);
  },

  "nothing is handed over from the moment of the abort, not even of the same burst": async ({
    createBroker,
    channel,
  }) => {
    const broker = createBroker();
    const leaving = new AbortController();
    const received: string[] = [];
    let lateCount = 0;
    let lateAtAbort = -1;
    await broker.subscribe(
      channel,
      {
        onMessage(message) {
          received.push(message);
          if (received.length === 2) {
            leaving.abort();
            lateAtAbort = lateCount;
          }
        },
        onLost: (reason) => void received.push(reason),
      },
      leaving.signal,
    );
    // It is silenced by the other's handler.
    await broker.subscribe(channel, { ...ignore, onMessage: () => void (lateCount += 1) }, leaving.signal);
    const witness = await record(broker, channel);
    await Promise.all(numbered(6).map((message) => broker.publish(channel, message)));
    await witness.untilCount(6);
    assert.deepEqual(received, numbered(2));
    assert.equal(lateCount, lateAtAbort);
  },

  "carries every character unchanged": async ({ createBroker, channel }) => {
    const broker = createBroker();
    const recording = await record(broker, channel);
    const texts = [
      `quotes " ' \` and \\ and \\\\ and \\n`,
      "commas, colons: message,x,y and data: x",
      " spaces around ",
      "é ß 漢字 🜚 👩‍👩‍👧‍👦 \u{10FFFF} \u2028 \u2029 \uFEFF \uFFFD \u0000 \u0007 \t",
      "https://example.org/a?b=c&d=%2F#e + %",
      "dGVzdA==",
      "OK",
    ];
    const messages = texts.map((text) => eventMessage({ text }));
    messages.push(...texts, "", " ", "{", "null", "\uFEFFtext", "subscribe,x,1", ": comment");
    for (const message of messages) await broker.publish(channel, message);
    await recording.untilCount(messages.length);
    assert.deepEqual(recording.messages, messages);
  },

  "carries the longest message and refuses a longer one": async ({ createBroker, channel }) => {
    const broker = createBroker();
    const recording = await record(broker, channel);
    const longest = ["x".repeat(maxMessageBytes), "é".repeat(maxMessageBytes / 2)];
    for (const message of longest) await broker.publish(channel, message);
    await recording.untilCount(longest.length);
    assert.ok(recording.messages.every((message, index) => message === longest[index]));
    await assert.rejects(broker.publish(channel, `${longest[0]}x`), RangeError);
    await assert.rejects(broker.publish(channel, `${longest[1]}x`), RangeError);
  },

  "refuses messages that it could not carry unchanged": async ({ createBroker, channel }) => {
    const broker = createBroker();
    const recording = await record(broker, channel);
    const bad = ["two\nlines", "carriage\rreturn", "half a \uD83D", pingMessage];
    for (const message of bad) await assert.rejects(broker.publish(channel, message), TypeError, message);
    await broker.publish(channel, eventMessage({ n: 1 }));
    await recording.untilCount(1);
    assert.deepEqual(recording.messages, [eventMessage({ n: 1 })]);
  },

  "reports wrong credentials, without showing them": async ({ createRefusedBroker, channel, secrets }) => {
    const broker = createRefusedBroker();
    if (broker === null) return;
    for (const attempt of [
      () => broker.publish(channel, eventMessage({ n: 1 })),
      () => broker.subscribe(channel, ignore, never),
    ]) {
      const error = await unavailability(attempt(), secrets);
      assert.match(error.message, /refused the (user or password|token)/);
    }
  },

  "close ends every subscription and takes nothing more": async ({ createBroker, channel, upstreamCount, secrets }) => {
    const [first, second] = [channel, createChannel()];
    const broker = createBroker();
    const recordings = [await record(broker, first), await record(broker, second)];
    const left = await record(broker, second);
    left.leave();
    await broker.close();
    await broker.close();
    for (const recording of recordings) assert.equal(await recording.untilLost(), "ended");
    for (const { lost } of [...recordings, left]) assert.ok(lost.length <= 1);
    assert.deepEqual(left.lost, []);
    await untilReleased({ upstreamCount }, first, second);
    await unavailability(broker.publish(first, eventMessage({ n: 1 })), secrets);
    await unavailability(broker.subscribe(first, ignore, never), secrets);
    await unavailability(broker.ping(), secrets);
  },
};

/** The server, where there is one, sees that nothing is subscribed any more. */
async function untilReleased(
  { upstreamCount }: Pick<BrokerHarness, "upstreamCount">,
  ...channels: readonly string[]
): Promise<void> {
  if (upstreamCount === null) return;
  for (const channel of channels) {
    await eventually(async () => (await upstreamCount(channel)) === 0, "no subscription of the channel at the server");
  }
}
