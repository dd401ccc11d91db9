import { expect, test } from "vitest";
import { createCleanup } from "../../../gateway/runtime/cleanup.ts";

test("closes everything once, in reverse order, one after another", async () => {
  const closed: string[] = [];
  const cleanup = createCleanup();
  cleanup.defer(async () => {
    await Promise.resolve();
    closed.push("first");
  });
  cleanup.defer(() => void closed.push("second"));
  await Promise.all([cleanup.run(), cleanup.run()]);
  expect(closed).toEqual(["second", "first"]);
});

test("closes the others although one fails", async () => {
  const closed: string[] = [];
  const cleanup = createCleanup();
  cleanup.defer(() => void closed.push("first"));
  cleanup.defer(() => Promise.reject(new Error("second")));
  cleanup.defer(() => {
    throw new Error("third");
  });
  await expect(cleanup.run()).rejects.toThrow("third");
  expect(closed).toEqual(["first"]);
});
