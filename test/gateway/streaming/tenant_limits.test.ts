import { expect, test } from "vitest";
import type { OpenStream } from "../../../gateway/streaming/open_stream.ts";
import { StreamTenants } from "../../../gateway/streaming/tenant_limits.ts";

function createTenants(bounds: {
  readonly maxStreams?: number;
  readonly maxStreamsPerTenant?: number;
  readonly random?: () => number;
}) {
  const heard: string[] = [];
  const tenants = new StreamTenants({
    maxStreams: 100,
    maxStreamsPerTenant: 10,
    random: () => 0.5,
    ...bounds,
    onFirst: ({ id }) => void heard.push(`first ${id}`),
    onLast: ({ id }) => void heard.push(`last ${id}`),
  });
  return { tenants, heard };
}

/** Only its identity matters here. */
const createStream = () => ({}) as OpenStream;

test("admit takes places up to each bound and not one more", () => {
  const { tenants } = createTenants({ maxStreams: 5, maxStreamsPerTenant: 3 });
  for (let n = 0; n < 3; n += 1) tenants.admit("a");
  expect(() => tenants.admit("a")).toThrow(expect.objectContaining({ code: "too_many" }));
  for (let n = 0; n < 2; n += 1) tenants.admit("b");
  expect(() => tenants.admit("b")).toThrow(expect.objectContaining({ code: "unavailable" }));
  expect(tenants.count).toBe(5);
});

test("a released place is free again, and a tenant without places is forgotten", async () => {
  const { tenants } = createTenants({ maxStreams: 1 });
  const tenant = tenants.admit("a");
  expect(tenants.tenantCount).toBe(1);
  const empty = tenants.empty();
  tenant.release();
  await empty;
  expect(tenants.count).toBe(0);
  expect(tenants.tenantCount).toBe(0);
  tenants.admit("b");
});

test("a refused tenant is not remembered", () => {
  const { tenants } = createTenants({ maxStreams: 1 });
  tenants.admit("a");
  expect(() => tenants.admit("b")).toThrow();
  expect(tenants.tenantCount).toBe(1);
});

test("Retry-After spreads from 2 to 10 seconds", () => {
  for (const [random, seconds] of [
    [0, 2],
    [0.999, 10],
  ] as const) {
    const { tenants } = createTenants({ maxStreams: 0, random: () => random });
    expect(() => tenants.admit("a")).toThrow(expect.objectContaining({ retryAfterSeconds: seconds }));
  }
});

test("a tenant's first and last open stream are told, once each", () => {
  const { tenants, heard } = createTenants({});
  const tenant = tenants.admit("a");
  const [one, two] = [createStream(), createStream()];
  tenant.add(one);
  tenant.add(two);
  expect([...tenants.streams()]).toEqual([one, two]);
  tenant.remove(one);
  expect(heard).toEqual(["first a"]);
  tenant.remove(two);
  tenant.remove(two);
  expect(heard).toEqual(["first a", "last a"]);
});
