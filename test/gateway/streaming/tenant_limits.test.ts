import { expect, test } from "vitest";
import type { OpenStream } from "../../../gateway/streaming/open_stream.ts";
import { TenantLimits } from "../../../gateway/streaming/tenant_limits.ts";

function createLimits(bounds: {
  readonly maxStreams?: number;
  readonly maxStreamsPerTenant?: number;
  readonly random?: () => number;
}) {
  const calls: string[] = [];
  const limits = new TenantLimits({
    maxStreams: 100,
    maxStreamsPerTenant: 10,
    random: () => 0.5,
    ...bounds,
    onFirst: ({ id }) => void calls.push(`first ${id}`),
    onLast: ({ id }) => void calls.push(`last ${id}`),
  });
  return { limits, calls };
}

/** Only its identity matters here. */
const createStream = () => ({}) as OpenStream;

test("admit takes slots up to each limit and not one more", () => {
  const { limits } = createLimits({ maxStreams: 5, maxStreamsPerTenant: 3 });
  for (let n = 0; n < 3; n += 1) limits.admit("a");
  expect(() => limits.admit("a")).toThrow(expect.objectContaining({ code: "too_many" }));
  for (let n = 0; n < 2; n += 1) limits.admit("b");
  expect(() => limits.admit("b")).toThrow(expect.objectContaining({ code: "unavailable" }));
  expect(limits.count).toBe(5);
});

test("a released slot can be taken again, and empty resolves when none is taken", async () => {
  const { limits } = createLimits({ maxStreams: 1 });
  const tenant = limits.admit("a");
  const empty = limits.empty();
  tenant.release();
  await empty;
  expect(limits.count).toBe(0);
  limits.admit("b");
  expect(() => limits.admit("a")).toThrow();
});

test("Retry-After spreads from 2 to 10 seconds", () => {
  for (const [random, seconds] of [
    [0, 2],
    [0.999, 10],
  ] as const) {
    const { limits } = createLimits({ maxStreams: 0, random: () => random });
    expect(() => limits.admit("a")).toThrow(expect.objectContaining({ retryAfterSeconds: seconds }));
  }
});

test("onFirst and onLast are called once each, for the first and the last stream", () => {
  const { limits, calls } = createLimits({});
  const tenant = limits.admit("a");
  const [one, two] = [createStream(), createStream()];
  tenant.add(one);
  tenant.add(two);
  expect([...limits.streams()]).toEqual([one, two]);
  tenant.remove(one);
  expect(calls).toEqual(["first a"]);
  tenant.remove(two);
  tenant.remove(two);
  expect(calls).toEqual(["first a", "last a"]);
});
