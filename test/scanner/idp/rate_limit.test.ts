import { expect, test } from "vitest";
import { endpointOf, parseRateFacts, parseRetryAfterMs } from "../../../scanner/idp/rate_limit.ts";

/** A recorded 429: the local clock is some other time altogether. */
const recorded = {
  date: "Thu, 11 Sep 2025 16:21:50 GMT",
  "x-rate-limit-limit": "10",
  "x-rate-limit-remaining": "0",
  "x-rate-limit-reset": "1757607758",
};
const receivedAtMs = 1_000_000;
const facts = (headers: Record<string, string>) =>
  parseRateFacts(new Headers({ ...recorded, ...headers }), receivedAtMs);

test("parseRateFacts places the end of the window by the answer's own Date", () => {
  expect(facts({})).toEqual({ limit: 10, remaining: 0, resetSeconds: 1_757_607_758, resetAtMs: receivedAtMs + 48_000 });
});

test("parseRateFacts goes by this machine's clock without a Date", () => {
  const headers = new Headers({
    "x-rate-limit-limit": "5",
    "x-rate-limit-remaining": "4",
    "x-rate-limit-reset": "1010",
  });
  expect(parseRateFacts(headers, receivedAtMs)).toMatchObject({ resetAtMs: 1_010_000 });
});

const reset = (secondsFromDate: number) => ({ "x-rate-limit-reset": String(1_757_607_710 + secondsFromDate) });

test("parseRateFacts believes windows that end up to two minutes ahead", () => {
  expect(facts(reset(120))).toMatchObject({ resetAtMs: receivedAtMs + 120_000 });
  expect(facts(reset(121))).toBeNull();
});

test("parseRateFacts takes a window that has just ended for ended, and an old one for nothing", () => {
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
])("parseRateFacts gives null for %s", (_, headers) => {
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
  ["/api/v1/policies?type=PASSWORD", "policies", "policies"],
  ["/api/v1/policies/00p1/rules", "policies * rules", "policies"],
  ["/api/v1/policies/x/rules?limit=1", "policies * rules", "policies"],
  ["/api/v1/brands/b1/pages/sign-in/customized", "brands * pages * customized", "brands"],
  ["/oauth2/v1/clients/0oa1/roles", "clients * roles", "clients"],
  ["/oauth2/v1/token", "token", "token"],
  ["/.well-known/okta-organization", "", ""],
])("endpointOf(%s) is %s", (path, endpoint, family) => {
  expect(endpointOf(path)).toEqual({ endpoint, family });
});
