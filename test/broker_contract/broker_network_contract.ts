import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "../../gateway/library/contract_client.ts";
import type { TcpProxy } from "../support/tcp_proxy.ts";
import type { BrokerCase } from "./broker_contract.ts";
import { createChannel, eventMessage, record, unavailability, type BrokerHarness } from "./broker_harness.ts";

interface NetworkHarness extends BrokerHarness {
  readonly network: TcpProxy;
}

const ignore = { onMessage() {}, onLost() {} };
const never = new AbortController().signal;

const cases: Readonly<Record<string, (harness: NetworkHarness) => Promise<void>>> = {
  "reports a cut once to every subscription, and hands over nothing after": async (harness) => {
    const [first, second] = [harness.channel, createChannel()];
    const broker = harness.createBroker();
    const recordings = [await record(broker, first), await record(broker, first), await record(broker, second)];
    const left = await record(broker, second);
    left.leave();
    harness.network.cut();
    for (const recording of recordings) assert.equal(await recording.untilLost(), "cut");
    // A new subscription receives again; the lost ones stay lost.
    const again = await record(broker, first);
    await harness.createDirectBroker().publish(first, eventMessage({ n: 1 }));
    await again.untilCount(1);
    for (const { messages, lost } of recordings) assert.deepEqual([messages, lost], [[], ["cut"]]);
    assert.deepEqual(left.lost, []);
  },

  "reports a connection that has gone silent": async (harness) => {
    const broker = harness.createBroker("short");
    const recording = await record(broker, harness.channel);
    harness.network.stall();
    assert.equal(await recording.untilLost(), "silent");
    // The network hands over now what it held, and nobody subscribes.
    await harness.createDirectBroker().publish(harness.channel, eventMessage({ n: 1 }));
    harness.network.restore();
    const again = await record(broker, harness.channel);
    await broker.publish(harness.channel, eventMessage({ n: 2 }));
    await again.untilCount(1);
    assert.deepEqual(again.messages, [eventMessage({ n: 2 })]);
    assert.deepEqual(recording.messages, []);
    assert.equal(recording.lost.length, 1);
  },

  "keeps an idle subscription, and hands over no ping": async (harness) => {
    const short = await record(harness.createBroker("short"), harness.channel);
    const normal = await record(harness.createBroker(), harness.channel);
    await sleep(1500);
    assert.deepEqual([short.lost, short.messages], [[], []]);
    await harness.createBroker().publish(harness.channel, eventMessage({ n: 1 }));
    await short.untilCount(1);
    await normal.untilCount(1);
    assert.deepEqual(normal.messages, [eventMessage({ n: 1 })]);
  },

  "a message that was cut off is not handed over, and the subscription is lost": async (harness) => {
    const recording = await record(harness.createBroker(), harness.channel);
    harness.network.truncate(40);
    await harness.createDirectBroker().publish(harness.channel, eventMessage({ text: "x".repeat(1000) }));
    assert.ok(["ended", "cut"].includes(await recording.untilLost()));
    assert.deepEqual(recording.messages, []);
  },

  "refuses to publish while the broker is unavailable, and publishes nothing of it later": async (harness) => {
    const publisher = harness.createBroker();
    const recording = await record(harness.createDirectBroker(), harness.channel);
    await publisher.publish(harness.channel, eventMessage({ n: 0 }));
    harness.network.refuse();
    const refused = Array.from({ length: 10 }, (_, n) =>
      publisher.publish(harness.channel, eventMessage({ refused: n })),
    );
    await Promise.all(refused.map((attempt) => unavailability(attempt, harness.secrets)));
    await unavailability(publisher.ping(), harness.secrets);
    harness.network.restore();
    await publisher.publish(harness.channel, eventMessage({ n: 1 }));
    await recording.untilCount(2);
    assert.deepEqual(recording.messages, [eventMessage({ n: 0 }), eventMessage({ n: 1 })]);
  },

  "refuses to publish within its timeout when nothing answers": async (harness) => {
    const publisher = harness.createBroker("short");
    await publisher.publish(harness.channel, eventMessage({ n: 0 }));
    harness.network.stall();
    const attempts = [1, 2, 3].map((n) => publisher.publish(harness.channel, eventMessage({ n })));
    const errors = await Promise.all(attempts.map((attempt) => unavailability(attempt, harness.secrets)));
    for (const { message } of errors) assert.match(message, /did not answer within|cannot be reached/);
    await unavailability(publisher.publish(harness.channel, eventMessage({ n: 4 })), harness.secrets);
    harness.network.restore();
    await publisher.publish(harness.channel, eventMessage({ n: 5 }));
  },

  "refuses to subscribe while the broker is unavailable or does not answer": async (harness) => {
    const broker = harness.createBroker("short");
    harness.network.refuse();
    await unavailability(broker.subscribe(harness.channel, ignore, never), harness.secrets);
    harness.network.restore();
    harness.network.stall();
    await unavailability(broker.subscribe(harness.channel, ignore, never), harness.secrets);
    harness.network.restore();
    const recording = await record(broker, harness.channel);
    await broker.publish(harness.channel, eventMessage({ n: 1 }));
    await recording.untilCount(1);
  },

  "subscribe does not resolve before the broker has confirmed": async (harness) => {
    const broker = harness.createBroker();
    // So that what is missing is the confirmation, not the connection.
    await record(broker, createChannel());
    harness.network.stall();
    let isOpen = false;
    const pending = record(broker, harness.channel).then((recording) => {
      isOpen = true;
      return recording;
    });
    // Meanwhile another subscribes, and receives what is published.
    const direct = harness.createDirectBroker();
    const witness = await record(direct, harness.channel);
    await direct.publish(harness.channel, eventMessage({ n: 0 }));
    await witness.untilCount(1);
    assert.equal(isOpen, false);
    harness.network.restore();
    const recording = await pending;
    await harness.createDirectBroker().publish(harness.channel, eventMessage({ n: 1 }));
    await recording.untilCount(1);
    assert.deepEqual(recording.messages, [eventMessage({ n: 1 })]);
  },

  "leaves no connection open after it was cut, or ended by the broker": async (harness) => {
    const broker = harness.createBroker();
    await broker.publish(harness.channel, eventMessage({ n: 0 }));
    const openCounts: number[] = [];
    for (let round = 0; round < 10; round += 1) {
      const recording = await record(broker, harness.channel);
      await broker.publish(harness.channel, eventMessage({ round }));
      await recording.untilCount(1);
      openCounts.push(harness.network.openCount());
      harness.network[round % 2 === 0 ? "cut" : "end"]();
      await recording.untilLost();
    }
    assert.ok(Math.max(...openCounts) <= 3, `connections grew: ${openCounts.join(", ")}`);
    await broker.close();
    await eventually(() => harness.network.openCount() === 0, "every connection is closed");
  },
};

/** The promises of an adapter when the network between it and its broker breaks. */
export const networkContract: Readonly<Record<string, BrokerCase>> = Object.fromEntries(
  Object.entries(cases).map(([name, run]) => [
    name,
    async (harness: BrokerHarness) => {
      if (harness.network === null) throw new TypeError(`Cannot run ${JSON.stringify(name)}: there is no network`);
      await run({ ...harness, network: harness.network });
    },
  ]),
);
