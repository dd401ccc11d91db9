import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canReadChannel, makeChannelName, parseChannelName, tenantIdFromChannel } from "../../shared/channel_name.ts";

const tenant = "0b54a9d2-6d0c-4ae2-8f0a-0d3f8a6f2a11";
const other = "5f0e2c1b-93c7-4a51-9d58-6c6f0f1f7a22";

// `contract/use_cases.ts` has the names that a careless producer makes.
describe("makeChannelName", () => {
  test.each([
    ["scan", "a1", "a1"],
    ["model-tokens", "A.b_c~d-e", "A.b_c~d-e"],
    // As a path with it is read.
    ["0", other.toUpperCase(), other],
  ])("builds %s:tenant:%s and parse reads it back", (prefix, given, resourceId) => {
    const name = makeChannelName(prefix, tenant, given);
    expect(name).toBe(`${prefix}:${tenant}:${resourceId}`);
    expect(parseChannelName(name)).toEqual({ prefix, tenantId: tenant, resourceId });
  });

  test.each([
    ["a colon in the prefix", "a:b", tenant, "1"],
    ["an upper-case tenant id", "scan", tenant.toUpperCase(), "1"],
    ["a colon in the resource id", "scan", tenant, "1:2"],
    ["a newline in the resource id", "scan", tenant, "1\n"],
  ])("refuses %s", (_, prefix, tenantId, resourceId) => {
    expect(() => makeChannelName(prefix, tenantId, resourceId)).toThrow(TypeError);
  });
});

describe("parseChannelName", () => {
  test.each(["", `-x:${tenant}:1`, `x-:${tenant}:1`, `${"x".repeat(101)}:${tenant}:1`, null, 42, [`x:${tenant}:1`]])(
    "gives null for %j",
    (name) => {
      expect(parseChannelName(name)).toBeNull();
      expect(tenantIdFromChannel(name)).toBeNull();
      expect(canReadChannel({ tenantId: tenant }, name)).toBe(false);
    },
  );

  test("parseChannelName never throws and only accepts what makeChannelName would build", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string().map((text) => `scan:${tenant}:${text}`),
        ),
        (name) => {
          const parts = parseChannelName(name);
          if (parts !== null) expect(makeChannelName(parts.prefix, parts.tenantId, parts.resourceId)).toBe(name);
        },
      ),
    );
  });
});

describe("canReadChannel", () => {
  test("opens a tenant's own channel only", () => {
    expect(canReadChannel({ tenantId: tenant }, `scan:${tenant}:1`)).toBe(true);
    expect(canReadChannel({ tenantId: other }, `scan:${tenant}:1`)).toBe(false);
  });

  test.each([null, undefined])("is closed to a principal that is %s", (principal) => {
    expect(canReadChannel(principal, `scan:${tenant}:1`)).toBe(false);
    expect(canReadChannel(principal, "garbage")).toBe(false);
  });
});
