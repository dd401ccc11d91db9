import { expect, test } from "vitest";
import { clientAddress, networkOf } from "../../../gateway/auth/client_address.ts";

test.each([
  // Nobody is trusted by default: whatever a client writes is ignored.
  [0, "198.51.100.7", "192.0.2.1"],
  [1, "198.51.100.7", "198.51.100.7"],
  // The client wrote the first one itself, and the proxy added whom it spoke to.
  [1, "203.0.113.9, 198.51.100.7", "198.51.100.7"],
  [2, "203.0.113.9, 198.51.100.7, 10.0.0.1", "198.51.100.7"],
  [2, "198.51.100.7", "192.0.2.1"],
  [1, "2001:db8::7", "2001:db8:0:0"],
  [1, "unknown", "192.0.2.1"],
  [1, "x".repeat(9000), "192.0.2.1"],
  [1, "", "192.0.2.1"],
  [1, null, "192.0.2.1"],
])("behind %i proxies, X-Forwarded-For %j comes from %s", (hops, header, expected) => {
  const headers = new Headers(header === null ? {} : { "x-forwarded-for": header });
  expect(clientAddress(headers, "192.0.2.1", hops)).toBe(expected);
});

test.each([
  ["192.0.2.1", "192.0.2.1"],
  ["::ffff:192.0.2.1", "192.0.2.1"],
  ["2001:db8:0:1::7", "2001:db8:0:1"],
  ["2001:0db8:0000:0001:ffff:1:2:3", "2001:db8:0:1"],
  ["2001:db8::7", "2001:db8:0:0"],
  ["::1", "0:0:0:0"],
])("%s counts as %s", (address, network) => {
  expect(networkOf(address)).toBe(network);
});
