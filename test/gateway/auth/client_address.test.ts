import { expect, test } from "vitest";
import { clientAddress } from "../../../gateway/auth/client_address.ts";

const peer = "192.0.2.1";

test.each([
  // Nobody is trusted by default: whatever a client writes is ignored.
  [0, "198.51.100.7", peer, peer],
  [1, "198.51.100.7", peer, "198.51.100.7"],
  // The client wrote the first one itself, and the proxy added whom it spoke to.
  [1, "203.0.113.9, 198.51.100.7", peer, "198.51.100.7"],
  [2, "203.0.113.9, 198.51.100.7, 10.0.0.1", peer, "198.51.100.7"],
  [2, "198.51.100.7", peer, peer],
  [1, "2001:db8::7", peer, "2001:db8:0:0"],
  [1, "192.0.2.1:49152", peer, "192.0.2.1"],
  [1, "[2001:db8::7]:49152", peer, "2001:db8:0:0"],
  [1, "x".repeat(9000), peer, peer],
  [1, "", peer, peer],
  [0, null, "::ffff:192.0.2.1", peer],
  [0, null, "2001:0db8:0000:0001:ffff:1:2:3", "2001:db8:0:1"],
  [0, null, "::1", "0:0:0:0"],
])("behind %i proxies, X-Forwarded-For %j of the peer %s comes from %s", (hops, header, from, expected) => {
  const headers = new Headers(header === null ? {} : { "x-forwarded-for": header });
  expect(clientAddress(headers, from, hops)).toBe(expected);
});
