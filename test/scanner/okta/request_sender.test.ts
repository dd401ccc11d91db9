import { expect, onTestFinished, test } from "vitest";
import type { Clock } from "../../../scanner/okta/clock.ts";
import { RequestSender, type RetryableRequest } from "../../../scanner/okta/request_sender.ts";
import { createFakeClock } from "../../support/fake_clock.ts";
import { setUpIdp, setUpSender } from "../../support/idp_connection.ts";
import { apiError, rateHeaders, tokenPath, type Reply } from "../../support/scripted_idp.ts";

const fine: Reply = { body: [] };

test("retries a transient failure with growing delays, and counts it", async () => {
  const { idp, sender, clock } = await setUpSender();
  idp.on("GET", "/api/v1/x", { status: 503 }, { status: 500 }, fine);
  expect((await sender.send(get("/api/v1/x"))).status).toBe(200);
  expect(clock.sleeps).toEqual([375, 750]);
  expect(sender.counters()).toEqual({ total: 3, retried: 2, throttled_ms: 0 });
});

test.each([
  [3, [500, 502, 503, 504, 408]],
  [1, [400, 401, 403, 404, 405, 302]],
])("sends a request %d times, if it is answered with one of %j", async (times, statuses) => {
  const { idp, sender } = await setUpSender();
  for (const status of statuses) {
    idp.on("GET", `/api/v1/x${status}`, { status });
    expect((await sender.send(get(`/api/v1/x${status}`))).status).toBe(status);
    expect(idp.seen(`/api/v1/x${status}`)).toHaveLength(times);
  }
});

test.each(["reset", "cut"] as const)(
  "retries a broken connection (%s), and names it when every retry fails",
  async (fault) => {
    const { idp, sender } = await setUpSender();
    idp.on("GET", "/api/v1/once", { fault, body: [1] }, fine);
    idp.on("GET", "/api/v1/always", { fault, body: [1] });
    expect((await sender.send(get("/api/v1/once"))).status).toBe(200);
    await expect(sender.send(get("/api/v1/always"))).rejects.toMatchObject({ kind: "reset" });
    expect(idp.seen("/api/v1/always")).toHaveLength(3);
  },
);

test("does not retry a refused first contact, but retries later ones", async () => {
  const { idp, config, sender, clock } = await setUpSender();
  idp.on("GET", "/api/v1/x", fine);
  await sender.send(get("/api/v1/x"));
  await idp.stop();
  await expect(sender.send(get("/api/v1/x"))).rejects.toMatchObject({ kind: "refused" });
  expect(clock.sleeps).toHaveLength(2);
  const fresh = new RequestSender(config, { signal: new AbortController().signal, clock });
  onTestFinished(() => fresh.close());
  await expect(fresh.send(get("/api/v1/x"))).rejects.toMatchObject({ kind: "refused" });
  expect(fresh.counters().total).toBe(1);
});

test("tries an endpoint once after two of its requests failed for good, until one succeeds", async () => {
  const { idp, sender } = await setUpSender();
  const bad = () => sender.send(get("/api/v1/bad"));
  idp.on("GET", "/api/v1/bad", { status: 500 });
  idp.on("GET", "/api/v1/other", { status: 500 });
  await bad();
  await bad();
  expect(idp.seen("/api/v1/bad")).toHaveLength(6);
  await bad();
  expect(idp.seen("/api/v1/bad")).toHaveLength(7);
  await sender.send(get("/api/v1/other"));
  expect(idp.seen("/api/v1/other")).toHaveLength(3);
  idp.on("GET", "/api/v1/bad", fine, { status: 500 });
  await bad();
  await bad();
  expect(idp.seen("/api/v1/bad")).toHaveLength(11);
});

test("waits a 429 out until the window ends by the server's clock", async () => {
  const { idp, sender, clock } = await setUpSender({ aheadMs: -5 * 3_600_000 });
  const refusal = () => ({
    ...apiError(429, "E0000047"),
    headers: rateHeaders(10, 0, 20, clock.nowMs() + 5 * 3_600_000),
  });
  idp.on("GET", "/api/v1/x", refusal, fine);
  const startMs = clock.nowMs();
  expect((await sender.send(get("/api/v1/x"))).status).toBe(200);
  const waitedMs = clock.nowMs() - startMs;
  expect(waitedMs).toBeGreaterThanOrEqual(20_000);
  expect(waitedMs).toBeLessThan(21_500);
  expect(sender.counters()).toEqual({ total: 2, retried: 1, throttled_ms: waitedMs });
});

test("waits a 429 without a window out with growing delays, or as Retry-After says", async () => {
  const { idp, sender, clock } = await setUpSender();
  const startMs = clock.nowMs();
  idp.on("GET", "/api/v1/x", { status: 429 }, { status: 429 }, fine);
  await sender.send(get("/api/v1/x"));
  expect(clock.nowMs() - startMs).toBe(750 + 1500);
  const laterMs = clock.nowMs();
  idp.on("GET", "/api/v1/y", { status: 429, headers: { "retry-after": "12" } }, fine);
  await sender.send(get("/api/v1/y"));
  expect(clock.nowMs() - laterMs).toBe(12_000);
});

test("a 429 for concurrency halves the requests in flight", async () => {
  const { idp, sender } = await setUpSender({ config: { concurrency: 4 } });
  let open = 0;
  let mostOpen = 0;
  const counted = async (): Promise<Reply> => {
    mostOpen = Math.max(mostOpen, ++open);
    await new Promise((resolve) => setTimeout(resolve, 5));
    open--;
    return fine;
  };
  idp.on(
    "GET",
    "/api/v1/x",
    {
      ...apiError(429, "E0000047"),
      headers: { "x-rate-limit-limit": "0", "x-rate-limit-remaining": "0", "x-rate-limit-reset": "1" },
    },
    counted,
  );
  await sender.send(get("/api/v1/x"));
  await Promise.all(Array.from({ length: 12 }, () => sender.send(get("/api/v1/x"))));
  expect(mostOpen).toBeLessThanOrEqual(2);
});

test("returns a 429 that does not end after four waits, and the next one without a request", async () => {
  const { idp, sender, clock } = await setUpSender();
  idp.on("GET", "/api/v1/x", () => ({ ...apiError(429, "E0000047"), headers: rateHeaders(10, 0, 60, clock.nowMs()) }));
  const startMs = clock.nowMs();
  const answers = await Promise.all([1, 2, 3].map(() => sender.send(get("/api/v1/x"))));
  expect(answers.map(({ status }) => status)).toEqual([429, 429, 429]);
  expect(clock.nowMs() - startMs).toBeLessThan(5 * 61_000);
  const asked = idp.requests.length;
  expect((await sender.send(get("/api/v1/x"))).status).toBe(429);
  expect(idp.requests).toHaveLength(asked);
  clock.advance(61_000);
  expect((await sender.send(get("/api/v1/x"))).status).toBe(429);
  expect(idp.requests).toHaveLength(asked + 1);
});

test("does not wait for a Retry-After beyond two minutes", async () => {
  const { idp, sender, clock } = await setUpSender();
  idp.on("GET", "/api/v1/x", { status: 429, headers: { "retry-after": "121" } });
  expect((await sender.send(get("/api/v1/x"))).status).toBe(429);
  expect(idp.requests).toHaveLength(1);
  idp.on("GET", "/api/v1/y", { status: 429, headers: { "retry-after": "120" } }, fine);
  const startMs = clock.nowMs();
  expect((await sender.send(get("/api/v1/y"))).status).toBe(200);
  expect(clock.nowMs() - startMs).toBe(120_000);
});

test("keeps a family's rate limit without a single 429, in little more than the time it needs", async () => {
  const { idp, sender, clock } = await setUpSender();
  const limited = limitedTo(20, clock);
  idp.on("GET", "/api/v1/policies", limited);
  idp.on("GET", "/api/v1/policies/1/rules", limited);
  const startMs = clock.nowMs();
  const paths = Array.from({ length: 111 }, (_, index) => `/api/v1/policies${index % 3 === 0 ? "" : "/1/rules"}`);
  const answers = await Promise.all(paths.map((path) => sender.send(get(path))));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(sender.counters().retried).toBe(0);
  const needed = Math.floor(111 / 20) * 60_000;
  expect(clock.nowMs() - startMs).toBeLessThan(needed * 1.1);
  expect(sender.counters().throttled_ms).toBeGreaterThan(needed * 0.9);
});

test.each<readonly [string, Record<string, string>, number]>([
  ["a limit that is no number", { "x-rate-limit-limit": "many" }, 0],
  ["a negative rest", { "x-rate-limit-remaining": "-1" }, 0],
  ["an end that is no number", { "x-rate-limit-reset": "soon" }, 0],
  ["an end of long ago", { "x-rate-limit-reset": "1" }, 0],
  ["an end in years", { "x-rate-limit-reset": "9999999999" }, 0],
  ["an end that was set before the clock went back", {}, -3_600_000],
])("does not wait for a rate limit with %s", async (_, odd, jumpMs) => {
  const { idp, sender, clock } = await setUpSender();
  idp.on("GET", "/api/v1/x", () => ({ body: [], headers: { ...rateHeaders(10, 0, 60, clock.nowMs()), ...odd } }));
  await sender.send(get("/api/v1/x"));
  clock.advance(jumpMs);
  await sender.send(get("/api/v1/x"));
  expect(sender.counters().throttled_ms).toBe(0);
});

test.each([
  ["between two attempts", { status: 500 }],
  ["for a rate limit", { status: 429 }],
])("an abort ends the wait %s", async (_, reply) => {
  const stop = new AbortController();
  const { idp, config } = await setUpIdp();
  idp.on("GET", "/api/v1/x", reply);
  const clock = {
    ...createFakeClock(),
    sleep: (_: number, signal: AbortSignal) => untilAborted(signal, () => stop.abort(new Error("interrupted"))),
  };
  const sender = new RequestSender(config, { signal: stop.signal, clock });
  onTestFinished(() => sender.close());
  await expect(sender.send(get("/api/v1/x"))).rejects.toThrow("interrupted");
});

test("token requests are sent while every API request waits for a token", async () => {
  const { idp, sender } = await setUpSender({ config: { concurrency: 1 } });
  idp.on("GET", "/api/v1/x", fine);
  idp.on("POST", tokenPath, fine);
  const prepare = async () => {
    await sender.send({ method: "POST", path: tokenPath });
    return { headers: {} };
  };
  const responses = await Promise.all([1, 2].map(() => sender.send({ method: "GET", path: "/api/v1/x", prepare })));
  expect(responses.map(({ status }) => status)).toEqual([200, 200]);
});

/** Answers of one window of a minute after another. */
function limitedTo(limit: number, clock: Clock): () => Reply {
  let used = 0;
  let resetSeconds = 0;
  return () => {
    if (clock.nowMs() >= resetSeconds * 1000) {
      used = 0;
      resetSeconds = Math.floor(clock.nowMs() / 1000) + 60;
    }
    const headers = {
      "x-rate-limit-limit": String(limit),
      "x-rate-limit-remaining": String(Math.max(0, limit - ++used)),
      "x-rate-limit-reset": String(resetSeconds),
    };
    return used > limit ? { ...apiError(429, "E0000047"), headers } : { body: [], headers };
  };
}

function get(path: string): RetryableRequest {
  return { method: "GET", path };
}

function untilAborted(signal: AbortSignal, abort: () => void): Promise<void> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    abort();
  });
}
