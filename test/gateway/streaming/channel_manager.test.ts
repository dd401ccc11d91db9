import { expect, test } from "vitest";
import { channelManager } from "../../../gateway/streaming/channel_manager.ts";
import { makeChannelName } from "../../../shared/channel_name.ts";

const tenantId = "11111111-1111-4111-8111-111111111111";
const reader = { tenantId };
const own = makeChannelName("scan", tenantId, "a");
const second = makeChannelName("scan", tenantId, "b");
const foreign = makeChannelName("scan", "22222222-2222-4222-8222-222222222222", "a");

test("requireReadable gives back readable names, each once", () => {
  expect(channelManager.requireReadable(reader, [own])).toEqual([own]);
  expect(channelManager.requireReadable(reader, [own, second, own])).toEqual([own, second]);
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
])("requireReadable refuses %j as a whole, without naming anything", (names) => {
  expect(() => channelManager.requireReadable(reader, names)).toThrow(
    expect.objectContaining({ code: "permission_denied", message: "Not permitted to read this event stream" }),
  );
});

test("requireReadable: no channel is no stream", () => {
  expect(() => channelManager.requireReadable(reader, [])).toThrow(expect.objectContaining({ code: "not_found" }));
});

test("canReadChannel and isChannelReliable are those of the channel's name", () => {
  expect(channelManager.canReadChannel(reader, own)).toBe(true);
  expect(channelManager.canReadChannel(reader, foreign)).toBe(false);
  expect(channelManager.canReadChannel(null, own)).toBe(false);
  expect(channelManager.isChannelReliable(own)).toBe(false);
});
