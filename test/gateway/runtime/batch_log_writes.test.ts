import { expect, test } from "vitest";
import { batchLogWrites } from "../../../gateway/runtime/batch_log_writes.ts";

test("the lines of one turn are one write, in order, and nothing is left for the exit", async () => {
  const written: string[] = [];
  const { write, flush } = batchLogWrites((text) => void written.push(text));
  const listeners = process.listenerCount("exit");
  write("a\n");
  await Promise.resolve();
  write("b\n");
  expect(written).toEqual([]);
  await new Promise(setImmediate);
  expect(written).toEqual(["a\nb\n"]);
  write("c\n");
  flush();
  expect(written).toEqual(["a\nb\n", "c\n"]);
  expect(process.listenerCount("exit")).toBe(listeners);
});

test("what is left is written at the exit", async () => {
  const written: string[] = [];
  const { write } = batchLogWrites((text) => void written.push(text));
  const before = new Set(process.listeners("exit"));
  write("a\n");
  for (const listener of process.listeners("exit")) if (!before.has(listener)) listener(0);
  expect(written).toEqual(["a\n"]);
  await new Promise(setImmediate);
  expect(written).toEqual(["a\n"]);
});
