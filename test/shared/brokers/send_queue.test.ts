import { expect, test } from "vitest";
import { createSendQueue } from "../../../shared/brokers/send_queue.ts";

/** A queue whose batches the test answers by hand; sizes are lengths, 4 a batch. */
function create(maxWaitingSize = 10) {
  const batches: {
    readonly items: readonly string[];
    readonly answer: (failures?: (Error | null)[]) => void;
    readonly fail: (error: Error) => void;
  }[] = [];
  const queue = createSendQueue<string>({
    send(items) {
      const { promise, resolve, reject } = Promise.withResolvers<readonly (Error | null)[]>();
      batches.push({ items, answer: (failures) => resolve(failures ?? items.map(() => null)), fail: reject });
      return promise;
    },
    sizeOf: (item) => item.length,
    maxBatchSize: 4,
    maxWaitingSize,
  });
  return { queue, batches };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("createSendQueue sends the items of one turn together, up to the batch size, one batch after another", async () => {
  const { queue, batches } = create(20);
  const sent = ["a", "bb", "c", "dddd", "eeeee", "f"].map((item) => queue.push(item));
  for (const expected of [["a", "bb", "c"], ["dddd"], ["eeeee"], ["f"]]) {
    await turn();
    const batch = batches.at(-1);
    expect(batch?.items).toEqual(expected);
    expect(queue.isIdle()).toBe(false);
    batch?.answer();
  }
  await Promise.all(sent);
  await turn();
  expect(queue.isIdle()).toBe(true);
  expect(batches).toHaveLength(4);
});

test("createSendQueue fails the item that was refused, and no other", async () => {
  const { queue, batches } = create();
  const sent = ["a", "b", "c"].map((item) => queue.push(item));
  await turn();
  const refusal = new Error("not this one");
  batches[0]?.answer([null, refusal, null]);
  expect(await Promise.allSettled(sent)).toEqual([
    { status: "fulfilled", value: undefined },
    { status: "rejected", reason: refusal },
    { status: "fulfilled", value: undefined },
  ]);
});

test("createSendQueue fails every waiting item when a batch fails, and sends later ones", async () => {
  const { queue, batches } = create();
  const sent = ["aaaa", "b"].map((item) => queue.push(item));
  await turn();
  const failure = new Error("unavailable");
  batches[0]?.fail(failure);
  for (const { status } of await Promise.allSettled(sent)) expect(status).toBe("rejected");
  const later = queue.push("c");
  await turn();
  expect(batches.map(({ items }) => items)).toEqual([["aaaa"], ["c"]]);
  batches[1]?.answer();
  await later;
});

test("createSendQueue refuses an item over the bound, and counts only waiting ones", async () => {
  const { queue, batches } = create();
  const sent = ["aaaa", "bbbb", "cc"].map((item) => queue.push(item));
  await expect(queue.push("d")).rejects.toMatchObject({ code: "unavailable", retryAfterSeconds: 1 });
  await turn();
  // The first four left the queue with the batch.
  sent.push(queue.push("dddd"));
  await expect(queue.push("e")).rejects.toMatchObject({ code: "unavailable" });
  for (let index = 0; index < 4; index += 1) {
    batches[index]?.answer();
    await turn();
  }
  await Promise.all(sent);
});

test("createSendQueue takes one item that is over every bound", async () => {
  const { queue, batches } = create();
  const sent = queue.push("x".repeat(100));
  await turn();
  batches[0]?.answer();
  await sent;
});
