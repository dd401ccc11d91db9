import { expect, test } from "vitest";
import { endpointOf, parseRateLimit, parseRetryAfterMs, ProviderTime } from "../../../scanner/okta/rate_limit.ts";

/** A recorded 429: the local clock is some other time altogether. */
const recorded = {
  date: "Thu, 11 Sep 2025 16:21:50 GMT",
  "x-rate-limit-limit": "10",
  "x-rate-limit-remaining": "0",
  "x-rate-limit-reset": "1757607758",
};
const receivedAtMs = 1_000_000;
const facts = (headers: Record<string, string>) =>
  parseRateLimit(new Headers({ ...recorded, ...headers }), { receivedAtMs, providerMs: Date.parse(recorded.date) });

test("parseRateLimit converts the end of the window to this machine's clock", () => {
  expect(facts({})).toEqual({ limit: 10, remaining: 0, resetSeconds: 1_757_607_758, resetAtMs: receivedAtMs + 48_000 });
});

const dated = (dateMs: number) => new Headers({ date: new Date(dateMs).toUTCString() });

test("ProviderTime takes a first response's Date, which is cut to the second", () => {
  const time = new ProviderTime();
  expect(time.at(dated(500_000), { sentAtMs: 900, receivedAtMs: 1000 })).toEqual({
    receivedAtMs: 1000,
    providerMs: 500_000,
  });
});

test("ProviderTime becomes more exact with every response, and never runs ahead of the provider", () => {
  const time = new ProviderTime();
  // The provider's clock shows 500,700 when this machine's shows 1,000; an answer takes 20 ms each way.
  for (let atMs = 1000; atMs < 5000; atMs += 130) {
    const stampedMs = Math.floor((atMs + 499_700) / 1000) * 1000;
    const { providerMs } = time.at(dated(stampedMs), { sentAtMs: atMs - 20, receivedAtMs: atMs + 20 });
    expect(providerMs).toBeLessThanOrEqual(atMs + 20 + 499_700);
    if (atMs > 3000) expect(providerMs).toBeGreaterThan(atMs + 20 + 499_700 - 150);
  }
});

test("ProviderTime starts afresh when a clock was set back", () => {
  const time = new ProviderTime();
  time.at(dated(500_000), { sentAtMs: 900, receivedAtMs: 1000 });
  expect(time.at(dated(100_000), { sentAtMs: 1900, receivedAtMs: 2000 }).providerMs).toBe(100_000);
});

test("ProviderTime takes the clocks to agree without a Date", () => {
  const time = new ProviderTime();
  expect(time.at(new Headers(), { sentAtMs: 900, receivedAtMs: 1000 }).providerMs).toBe(1000);
  time.at(dated(500_000), { sentAtMs: 900, receivedAtMs: 1000 });
  expect(time.at(new Headers(), { sentAtMs: 1900, receivedAtMs: 2000 }).providerMs).toBe(501_000);
});

const reset = (secondsFromDate: number) => ({ "x-rate-limit-reset": String(1_757_607_710 + secondsFromDate) });

test("parseRateLimit believes windows that end up to two minutes ahead", () => {
  expect(facts(reset(120))).toMatchObject({ resetAtMs: receivedAtMs + 120_000 });
  expect(facts(reset(121))).toBeNull();
});

test("parseRateLimit accepts a window that has just ended, and ignores an old one", () => {
  expect(facts(reset(0))).toMatchObject({ resetAtMs: receivedAtMs });
  expect(facts(reset(-2))).toMatchObject({ resetAtMs: receivedAtMs });
  expect(facts(reset(-3))).toBeNull();
});

test.each([
  ["a limit of 0, which is about concurrency", { "x-rate-limit-limit": "0" }],
  ["a limit that is no number", { "x-rate-limit-limit": "many" }],
  ["a negative rest", { "x-rate-limit-remaining": "-1" }],
  ["a rest that is no number", { "x-rate-limit-remaining": "" }],
  ["an end that is no number", { "x-rate-limit-reset": "soon" }],
])("parseRateLimit gives null for %s", (_, headers) => {
  expect(facts(headers)).toBeNull();
});

test("parseRetryAfterMs reads seconds and dates", () => {
  const read = (value: string) =>
    parseRetryAfterMs(new Headers({ date: recorded.date, "retry-after": value }), receivedAtMs);
  expect(read("7")).toBe(7000);
  expect(read("Thu, 11 Sep 2025 16:22:00 GMT")).toBe(10_000);
  expect(read("Thu, 11 Sep 2025 16:21:00 GMT")).toBe(0);
  expect(read("later")).toBeNull();
  expect(parseRetryAfterMs(new Headers(), receivedAtMs)).toBeNull();
});

test.each([
  ["/api/v1/policies?type=PASSWORD", "policies type=PASSWORD", "policies"],
  ["/api/v1/policies/00p1/rules", "policies * rules", "policies"],
  ["/api/v1/policies/x/rules?limit=1", "policies * rules", "policies"],
  ["/api/v1/brands/b1/pages/sign-in/customized", "brands * pages * customized", "brands"],
  ["/oauth2/v1/clients/0oa1/roles", "clients * roles", "clients"],
  ["/oauth2/v1/token", "token", "token"],
  ["/.well-known/okta-organization", "", ""],
])("endpointOf(%s) is %s", (path, endpoint, family) => {
  expect(endpointOf(path)).toEqual({ endpoint, family });
});
