import { afterEach, expect, test } from "vitest";
import { RequestSender, type RetryableRequest } from "../../../scanner/idp/request_sender.ts";
import { createHttpTransport } from "../../../scanner/idp/http_transport.ts";
import { createFakeClock, type FakeClock } from "../../support/fake_clock.ts";
import {
  apiError,
  createScriptedIdp,
  rateHeaders,
  tokenPath,
  type Reply,
  type ScriptedIdp,
} from "../../support/scripted_idp.ts";

const owned: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const stop of owned.splice(0).toReversed()) await stop();
});

const fine: Reply = { body: [] };

test("a transport repeats a failure that may pass, with growing waits, and counts it", async () => {
  const { idp, transport, clock } = await setUp();
  idp.on("GET", "/api/v1/x", { status: 503 }, { status: 500 }, fine);
  expect((await transport.send(get("/api/v1/x"))).status).toBe(200);
  expect(clock.sleeps).toEqual([375, 750]);
  expect(transport.counters()).toEqual({ total: 3, retried: 2, throttledMs: 0 });
});

test.each([500, 502, 503, 504, 408])(
  "a transport gives a %d back when two repetitions did not help",
  async (status) => {
    const { idp, transport } = await setUp();
    idp.on("GET", "/api/v1/x", { status });
    expect((await transport.send(get("/api/v1/x"))).status).toBe(status);
    expect(idp.requests).toHaveLength(3);
  },
);

test.each([400, 401, 403, 404, 405, 302])("a transport does not repeat a %d", async (status) => {
  const { idp, transport } = await setUp();
  idp.on("GET", "/api/v1/x", { status });
  expect((await transport.send(get("/api/v1/x"))).status).toBe(status);
  expect(idp.requests).toHaveLength(1);
});

test.each(["reset", "cut"] as const)(
  "a transport survives a connection that breaks (%s), and names it when it does not end",
  async (fault) => {
    const { idp, transport } = await setUp();
    idp.on("GET", "/api/v1/once", { fault, body: [1] }, fine);
    idp.on("GET", "/api/v1/always", { fault, body: [1] });
    expect((await transport.send(get("/api/v1/once"))).status).toBe(200);
    await expect(transport.send(get("/api/v1/always"))).rejects.toMatchObject({ kind: "reset" });
    expect(idp.seen("/api/v1/always")).toHaveLength(3);
  },
);

test("a transport repeats after a time-out", async () => {
  const { idp, transport } = await setUp({ timeoutMs: 80 });
  idp.on("GET", "/api/v1/x", fine, { fault: "hang" }, fine);
  await transport.send(get("/api/v1/x"));
  expect((await transport.send(get("/api/v1/x"))).status).toBe(200);
});

test("a transport waits as long as a 503 asks for, within reason", async () => {
  const { idp, transport, clock } = await setUp();
  idp.on(
    "GET",
    "/api/v1/x",
    { status: 503, headers: { "retry-after": "7" } },
    { status: 503, headers: { "retry-after": "9999" } },
    fine,
  );
  await transport.send(get("/api/v1/x"));
  expect(clock.sleeps).toEqual([7000, 30_000]);
});

test("a first contact that is not answered in time is told at once", async () => {
  const { idp, transport } = await setUp({ timeoutMs: 400 });
  idp.on("GET", "/api/v1/x", { fault: "hang" });
  await expect(transport.send(get("/api/v1/x"))).rejects.toMatchObject({ kind: "timeout" });
  expect(idp.requests).toHaveLength(1);
});

test("a refused first contact is told at once; later ones are repeated", async () => {
  const { idp, transport, clock } = await setUp();
  idp.on("GET", "/api/v1/x", fine);
  await transport.send(get("/api/v1/x"));
  await idp.stop();
  await expect(transport.send(get("/api/v1/x"))).rejects.toMatchObject({ kind: "refused" });
  expect(clock.sleeps).toHaveLength(2);
  const fresh = transportTo(idp.url, clock);
  await expect(fresh.send(get("/api/v1/x"))).rejects.toMatchObject({ kind: "refused" });
  expect(fresh.counters().total).toBe(1);
});

test("a transport prepares each attempt anew", async () => {
  const { idp, transport } = await setUp();
  idp.on("GET", "/api/v1/x", { status: 500 }, { status: 429 }, fine);
  let attempts = 0;
  await transport.send({
    method: "GET",
    path: "/api/v1/x",
    prepare: async () => ({ headers: { "x-attempt": String(++attempts) } }),
  });
  expect(idp.requests.map(({ headers }) => headers["x-attempt"])).toEqual(["1", "2", "3"]);
});

test("after two requests of an endpoint that failed for good its next ones are tried once, until one succeeds", async () => {
  const { idp, transport } = await setUp();
  const bad = () => transport.send(get("/api/v1/bad"));
  idp.on("GET", "/api/v1/bad", { status: 500 });
  idp.on("GET", "/api/v1/other", { status: 500 });
  await bad();
  await bad();
  expect(idp.seen("/api/v1/bad")).toHaveLength(6);
  await bad();
  expect(idp.seen("/api/v1/bad")).toHaveLength(7);
  await transport.send(get("/api/v1/other"));
  expect(idp.seen("/api/v1/other")).toHaveLength(3);
  idp.on("GET", "/api/v1/bad", fine, { status: 500 });
  await bad();
  await bad();
  expect(idp.seen("/api/v1/bad")).toHaveLength(11);
});

test("a 429 is waited out until the window's end by the server's clock", async () => {
  const { idp, transport, clock } = await setUp({ providerAheadMs: 5 * 3_600_000 });
  const refusal = () => ({
    ...apiError(429, "E0000047"),
    headers: rateHeaders(10, 0, 20, clock.nowMs() + 5 * 3_600_000),
  });
  idp.on("GET", "/api/v1/x", refusal, fine);
  const startMs = clock.nowMs();
  expect((await transport.send(get("/api/v1/x"))).status).toBe(200);
  const waitedMs = clock.nowMs() - startMs;
  expect(waitedMs).toBeGreaterThanOrEqual(20_000);
  expect(waitedMs).toBeLessThan(21_500);
  expect(transport.counters()).toEqual({ total: 2, retried: 1, throttledMs: waitedMs });
});

test("a 429 without a window is waited out with growing pauses, or as Retry-After says", async () => {
  const { idp, transport, clock } = await setUp();
  const startMs = clock.nowMs();
  idp.on("GET", "/api/v1/x", { status: 429 }, { status: 429 }, fine);
  await transport.send(get("/api/v1/x"));
  expect(clock.nowMs() - startMs).toBe(750 + 1500);
  const laterMs = clock.nowMs();
  idp.on("GET", "/api/v1/y", { status: 429, headers: { "retry-after": "12" } }, fine);
  await transport.send(get("/api/v1/y"));
  expect(clock.nowMs() - laterMs).toBe(12_000);
});

test("a 429 for too many requests at once lowers how many there are", async () => {
  const { idp, transport } = await setUp({ concurrency: 4 });
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
  await transport.send(get("/api/v1/x"));
  await Promise.all(Array.from({ length: 12 }, () => transport.send(get("/api/v1/x"))));
  expect(mostOpen).toBe(2);
});

test("a 429 that does not end is given back after four waits, and the next request fails without any", async () => {
  const { idp, transport, clock } = await setUp();
  idp.on("GET", "/api/v1/x", () => ({ ...apiError(429, "E0000047"), headers: rateHeaders(10, 0, 60, clock.nowMs()) }));
  const startMs = clock.nowMs();
  const answers = await Promise.all([1, 2, 3].map(() => transport.send(get("/api/v1/x"))));
  expect(answers.map(({ status }) => status)).toEqual([429, 429, 429]);
  expect(clock.nowMs() - startMs).toBeLessThan(5 * 61_000);
  const asked = idp.requests.length;
  expect((await transport.send(get("/api/v1/x"))).status).toBe(429);
  expect(idp.requests).toHaveLength(asked);
  clock.advance(61_000);
  expect((await transport.send(get("/api/v1/x"))).status).toBe(429);
  expect(idp.requests).toHaveLength(asked + 1);
});

test("an endpoint that refused without end is read again once it answers", async () => {
  const { idp, transport, clock } = await setUp();
  idp.on("GET", "/api/v1/x", { status: 429 });
  await transport.send(get("/api/v1/x"));
  clock.advance(31_000);
  idp.on("GET", "/api/v1/x", fine);
  expect((await transport.send(get("/api/v1/x"))).status).toBe(200);
  idp.on("GET", "/api/v1/x", { status: 429 }, fine);
  expect((await transport.send(get("/api/v1/x"))).status).toBe(200);
});

test("a Retry-After beyond two minutes is not waited for", async () => {
  const { idp, transport, clock } = await setUp();
  idp.on("GET", "/api/v1/x", { status: 429, headers: { "retry-after": "121" } });
  expect((await transport.send(get("/api/v1/x"))).status).toBe(429);
  expect(idp.requests).toHaveLength(1);
  idp.on("GET", "/api/v1/y", { status: 429, headers: { "retry-after": "120" } }, fine);
  const startMs = clock.nowMs();
  expect((await transport.send(get("/api/v1/y"))).status).toBe(200);
  expect(clock.nowMs() - startMs).toBe(120_000);
});

test("rate limits are kept without a single 429, in little more than the time that they need", async () => {
  const { idp, transport, clock } = await setUp({ concurrency: 8 });
  const limit = 20;
  let used = 0;
  let resetMs = 0;
  const counting = (): Reply => {
    if (clock.nowMs() >= resetMs) {
      used = 0;
      resetMs = Math.floor(clock.nowMs() / 1000) * 1000 + 60_000;
    }
    used++;
    const headers = {
      "x-rate-limit-limit": String(limit),
      "x-rate-limit-remaining": String(Math.max(0, limit - used)),
      "x-rate-limit-reset": String(resetMs / 1000),
    };
    return used > limit ? { ...apiError(429, "E0000047"), headers } : { body: [], headers };
  };
  // One limit for both, as the provider has it for endpoints without one of their own.
  idp.on("GET", "/api/v1/zones", counting);
  idp.on("GET", "/api/v1/brands", counting);
  const startMs = clock.nowMs();
  const paths = Array.from({ length: 110 }, (_, index) => (index % 3 === 0 ? "/api/v1/zones" : "/api/v1/brands"));
  // Both endpoints are known before the rush.
  await transport.send(get("/api/v1/zones"));
  await transport.send(get("/api/v1/brands"));
  const answers = await Promise.all(paths.map((path) => transport.send(get(path))));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(transport.counters().retried).toBe(0);
  const needed = Math.floor(111 / limit) * 60_000;
  expect(clock.nowMs() - startMs).toBeLessThan(needed * 1.1);
  expect(transport.counters().throttledMs).toBeGreaterThan(needed * 0.9);
});

test("an abort ends requests and waits at once", async () => {
  const stop = new AbortController();
  const { idp, transport } = await setUp({ signal: stop.signal });
  idp.on("GET", "/api/v1/hang", () => {
    stop.abort(new Error("interrupted"));
    return { fault: "hang" };
  });
  await expect(transport.send(get("/api/v1/hang"))).rejects.toThrow("interrupted");
  await expect(transport.send(get("/api/v1/hang"))).rejects.toThrow("interrupted");
  expect(idp.requests).toHaveLength(1);
});

test("an abort ends the wait between two attempts", async () => {
  const stop = new AbortController();
  const { idp, wire } = await setUp();
  idp.on("GET", "/api/v1/x", { status: 500 });
  const clock = {
    ...createFakeClock(),
    sleep: (_: number, signal: AbortSignal) => untilAborted(signal, () => stop.abort(new Error("interrupted"))),
  };
  const transport = new RequestSender({ wire, clock, signal: stop.signal, concurrency: 1 });
  await expect(transport.send(get("/api/v1/x"))).rejects.toThrow("interrupted");
});

test("the token endpoint answers while every read waits for it", async () => {
  const { idp, transport } = await setUp({ concurrency: 1 });
  idp.on("GET", "/api/v1/x", fine);
  idp.on("POST", tokenPath, fine);
  const prepare = async () => {
    await transport.send({
      method: "POST",
      path: tokenPath,
      prepare: async () => ({ headers: {}, form: new URLSearchParams() }),
    });
    return { headers: {} };
  };
  const answers = await Promise.all([1, 2].map(() => transport.send({ method: "GET", path: "/api/v1/x", prepare })));
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
});

test("what an endpoint told about its limit can be asked for", async () => {
  const { idp, transport } = await setUp();
  idp.on("GET", "/api/v1/apps", { body: [], headers: rateHeaders(100, 99, 60) });
  await transport.send(get("/api/v1/apps"));
  expect(transport.rateLimits()).toEqual([{ endpoint: "apps", limit: 100, remaining: 99 }]);
});

interface SetUp {
  readonly concurrency?: number;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  readonly providerAheadMs?: number;
}

async function setUp(options: SetUp = {}) {
  const clock = createFakeClock();
  const idp: ScriptedIdp = await createScriptedIdp({ nowMs: () => clock.nowMs() + (options.providerAheadMs ?? 0) });
  owned.push(() => idp.stop());
  const wire = openTestWire(idp.url, options.timeoutMs);
  const { signal = new AbortController().signal, concurrency = 8 } = options;
  return { idp, clock, wire, transport: new RequestSender({ wire, clock, signal, concurrency }) };
}

function transportTo(url: string, clock: FakeClock): RequestSender {
  return new RequestSender({ wire: openTestWire(url), clock, signal: new AbortController().signal, concurrency: 1 });
}

function openTestWire(orgUrl: string, timeoutMs = 5000) {
  const wire = createHttpTransport({
    orgUrl,
    timeoutMs,
    maxBodyBytes: 100_000,
    proxy: { httpsProxy: null, noProxy: "" },
  });
  owned.push(() => wire.close());
  return wire;
}

function get(path: string): RetryableRequest {
  return { method: "GET", path, prepare: () => Promise.resolve({ headers: {} }) };
}

function untilAborted(signal: AbortSignal, abort: () => void): Promise<void> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    abort();
  });
}
