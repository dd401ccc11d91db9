import { expect, test } from "vitest";
import { createRateLimits } from "../../practice_org/http/rate_limits.ts";
import { createReplayGuard } from "../../practice_org/auth/dpop_proof.ts";
import { createRawClient } from "./raw_client.ts";
import { startOrg } from "./start_org.ts";

const startMs = Date.UTC(2026, 5, 1);
const startSeconds = startMs / 1000;

test("createRateLimits admits as many as the limit in a window, then again after its reset", () => {
  const limits = createRateLimits({ perWindow: 2, windowSeconds: 60 });
  const take = (secondsLater: number) => limits.take("apps", startMs + secondsLater * 1000);
  expect(take(0)).toEqual({
    isAdmitted: true,
    headers: [
      ["x-rate-limit-limit", "2"],
      ["x-rate-limit-remaining", "1"],
      ["x-rate-limit-reset", String(startSeconds + 60)],
    ],
  });
  expect(take(30).isAdmitted).toBe(true);
  expect(take(59)).toMatchObject({
    isAdmitted: false,
    headers: [[], ["x-rate-limit-remaining", "0"], []].map((pair, i) => (i === 1 ? pair : expect.anything())),
  });
  expect(take(60).isAdmitted).toBe(true);
});

test("createRateLimits counts each bucket on its own, with its own limit", () => {
  const limits = createRateLimits({ perWindow: 1, windowSeconds: 60, buckets: { policies: 2 } });
  const take = (bucket: string) => limits.take(bucket, startMs).isAdmitted;
  expect([take("apps"), take("apps"), take("zones")]).toEqual([true, false, true]);
  expect([take("policies"), take("policies"), take("policies")]).toEqual([true, true, false]);
});

test("An org over its limit answers 429 with E0000047 and no Retry-After, until the window ends", async () => {
  let nowMs = startMs;
  const org = await startOrg({ clock: () => nowMs, rateLimit: { buckets: { zones: 1 } } });
  const client = await createRawClient(org, () => nowMs);
  const token = await client.logIn();
  const get = (path: string) => client.call(token, path);
  expect((await get("/api/v1/zones")).status).toBe(200);
  const refused = await get("/api/v1/zones");
  expect(refused.status).toBe(429);
  expect(await refused.json()).toMatchObject({
    errorCode: "E0000047",
    errorSummary: "API call exceeded rate limit due to too many requests.",
  });
  expect(refused.headers.get("retry-after")).toBeNull();
  expect(refused.headers.get("x-rate-limit-remaining")).toBe("0");
  expect(refused.headers.get("x-rate-limit-reset")).toBe(String(startSeconds + 60));
  expect((await get("/api/v1/brands")).status).toBe(200);
  nowMs += 60_000;
  expect((await get("/api/v1/zones")).status).toBe(200);
});

test("createReplayGuard remembers an id for its lifetime", () => {
  const guard = createReplayGuard(10);
  expect([guard.admit("a", 0), guard.admit("a", 9), guard.admit("a", 10)]).toEqual([true, false, true]);
});

test("createReplayGuard forgets the oldest when it is full", () => {
  const guard = createReplayGuard(10, 2);
  for (const id of ["a", "b", "c"]) guard.admit(id, 0);
  expect([guard.admit("c", 1), guard.admit("b", 1), guard.admit("a", 1)]).toEqual([false, false, true]);
});
