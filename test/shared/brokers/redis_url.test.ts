import { expect, test } from "vitest";
import { parseRedisUrl } from "../../../shared/brokers/redis_url.ts";

test.each([
  ["redis://host", { kind: "single", endpoint: { host: "host", port: 6379 }, access: {}, database: null }],
  [
    "rediss://user:p%40s%2Fs@[::1]:6380/7",
    {
      kind: "single",
      endpoint: { host: "::1", port: 6380 },
      access: { username: "user", password: "p@s/s", tls: {} },
      database: 7,
    },
  ],
  [
    "rediss+sentinel://user:pw@a,b:26380/the-primary",
    {
      kind: "sentinel",
      endpoints: [
        { host: "a", port: 26_379 },
        { host: "b", port: 26_380 },
      ],
      name: "the-primary",
      access: { username: "user", password: "pw", tls: {} },
    },
  ],
])("parseRedisUrl reads %s", (url, address) => {
  expect(parseRedisUrl(url)).toEqual(address);
});

test.each([
  [
    "redis+sentinel://:secret@a,b:port/main",
    "expected addresses with commas between them, as in redis+sentinel://host:26379,",
  ],
  ["redis+sentinel://:secret@a/main?db=2", "expected no query and no fragment, as in redis+sentinel://"],
  ["redis+sentinel://:%secret@a/main", "expected a password that is percent-encoded, as in redis+sentinel://"],
  ["redis+sentinel://:secret@a,b", "expected the name of the primary after the addresses, as in redis+sentinel://"],
])("parseRedisUrl refuses %s with what is wrong, without the value", (url, problem) => {
  expect(() => parseRedisUrl(url)).toThrow(problem);
  expect(() => parseRedisUrl(url)).not.toThrow("secret");
});
