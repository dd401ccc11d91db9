import { expect, test } from "vitest";
import type { Principal } from "../../../gateway/auth/principal.ts";
import { requireReadable } from "../../../gateway/streaming/channel_manager.ts";
import { makeChannelName } from "../../../shared/channel_name.ts";

const tenantId = "11111111-1111-4111-8111-111111111111";
const principal: Principal = { kind: "user", tenantId, id: "ada", expiresAtMs: null, onlyStream: null };
const own = makeChannelName("scan", tenantId, "a");
const second = makeChannelName("scan", tenantId, "b");
const foreign = makeChannelName("scan", "22222222-2222-4222-8222-222222222222", "a");

test("requireReadable returns readable names, each once", () => {
  expect(requireReadable(principal, "scan", [own])).toEqual([own]);
  expect(requireReadable(principal, "scan", [own, second, own])).toEqual([own, second]);
});

test.each([
  [[foreign]],
  [[own, foreign]],
  [["scan:x"]],
  [[own, ""]],
  [[null]],
  [[{}]],
  [[`${own} `]],
  [[own.toUpperCase()]],
])("S3: requireReadable rejects %j as a whole, without naming a channel", (names) => {
  expect(() => requireReadable(principal, "scan", names)).toThrow(
    expect.objectContaining({ code: "permission_denied", message: "Not permitted to read this event stream" }),
  );
});

test("requireReadable rejects an empty list as not found", () => {
  expect(() => requireReadable(principal, "scan", [])).toThrow(expect.objectContaining({ code: "not_found" }));
});
