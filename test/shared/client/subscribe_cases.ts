import assert from "node:assert/strict";
import { inspect } from "node:util";
import type { ScanEvents } from "../../../shared/schemas/scan.ts";
import { subscribe, SubscribeError, type SubscribeOptions } from "../../../shared/client/subscribe.ts";
import {
  cutStream,
  endedStream,
  problem,
  startScriptedServer,
  status,
  stream,
  type Answer,
} from "../../support/scripted_server.ts";
import { followCases } from "./follow_cases.ts";
import { pauseCases } from "./pause_cases.ts";
import { snapshotCases } from "./snapshot_cases.ts";
import { subscribeSlowCases, turnOfTheNetwork } from "./subscribe_slow_cases.ts";
import { end, progress, watch, type Watched } from "./watched_stream.ts";

const nothing = () => undefined;

/** Promises of `subscribe` as plain functions, the same on every runtime. */
export const subscribeCases: Readonly<Record<string, () => Promise<void>>> = {
  ...pauseCases,
  ...subscribeSlowCases,
  ...snapshotCases,
  ...followCases,

  "hands over events in order and stops at the terminal event": async () => {
    await using server = await startScriptedServer(stream(progress(1) + progress(2), end + progress(3)));
    const log = watch(server.url);
    const over = await log.finished;
    assert.deepEqual(log.entries, ["connecting", "live", "scan.progress 1", "scan.progress 2", "scan.end", "ended"]);
    assert.equal(over.state === "ended" && over.event?.type, "scan.end");
    await server.closed(0);
    assert.equal(server.requests.length, 1);
  },

  "refetches on open and hands over afterwards what arrived meanwhile": async () => {
    const sent = Promise.withResolvers<void>();
    await using server = await startScriptedServer(async (response, request) => {
      await stream(progress(1), progress(2), end)(response, request);
      sent.resolve();
    });
    const log: Watched<ScanEvents> = watch(server.url, {
      refetch: () => sent.promise.then(() => log.add("refetched")),
    });
    await log.finished;
    const opening = ["connecting", "refetch", "refetched", "live"];
    assert.deepEqual(log.entries, [...opening, "scan.progress 1", "scan.progress 2", "scan.end", "ended"]);
  },

  "reconnects and refetches after a cut connection": async () => {
    await using server = await startScriptedServer(cutStream(progress(1)), stream(progress(2), end));
    const log = watch(server.url, { refetch: nothing });
    await log.finished;
    const first = ["connecting", "refetch", "live", "scan.progress 1"];
    const second = ["refetch", "live", "scan.progress 2", "scan.end", "ended"];
    assert.deepEqual(log.entries, [...first, "reconnecting cut", "reconnecting cut", ...second]);
  },

  "requests one fresh token after 401, and again after the stream was open in between": async () => {
    const refused = problem(401, "The token has expired");
    await using server = await startScriptedServer(refused, cutStream(), refused, stream(end));
    const requests: boolean[] = [];
    const log = watch(server.url, {
      getAccessToken: ({ wasRefused }) => {
        requests.push(wasRefused);
        return wasRefused ? "fresh" : "stale";
      },
    });
    assert.equal((await log.finished).state, "ended");
    assert.deepEqual(requests, [false, true, false, true]);
    assert.deepEqual(
      server.requests.map(({ headers }) => headers.authorization),
      ["Bearer stale", "Bearer fresh", "Bearer stale", "Bearer fresh"],
    );
  },

  "gives up at the first 401 to an API key": async () => {
    await using server = await startScriptedServer(problem(401, "Unknown API key"));
    const over = await watch(server.url, { apiKey: "sk_live_1" }).finished;
    assert.equal(over.state, "failed");
    assert.equal(over.error.code, "not_authenticated");
    assert.equal(over.error.detail, "Unknown API key");
    assert.equal(server.requests.length, 1);
    assert.equal(server.requests[0]?.headers.authorization, "Api-Key sk_live_1");
  },

  "fails when getAccessToken gives no token, without quoting it": async () => {
    await using server = await startScriptedServer(stream(end));
    const over = await watch(server.url, { getAccessToken: () => "secret\nsecret" }).finished;
    assert.equal(over.state === "failed" && over.error.code, "callback_failed");
    assert.doesNotMatch(inspect(over, { depth: 10 }), /secret/);
  },

  "refuses wrong options, without quoting a secret": async () => {
    const wrong: [string | URL, SubscribeOptions<ScanEvents>, RegExp][] = [
      ["ftp://example.test/", {}, /URL "ftp:/],
      ["/api/v1/event-stream", {}, /is relative: expected http: or https:/],
      ["https://example.test/", { apiKey: "se cret" }, /apiKey/],
      ["https://example.test/", { apiKey: "key", getAccessToken: () => "token" }, /both apiKey and getAccessToken/],
      ["https://example.test/", { heartbeatMs: 0 }, /heartbeatMs 0/],
      ["https://example.test/", { connectTimeoutMs: Number.NaN }, /connectTimeoutMs NaN/],
      ["https://example.test/", { backoffMs: [10, 5] }, /backoffMs \[10, 5\]/],
    ];
    for (const [url, options, message] of wrong) {
      const refusing = () => subscribe(url, options);
      assert.throws(refusing, message);
      assert.throws(refusing, (error) => !/se cret/.test(String(error)));
    }
  },

  "reports the server's reason when it closes the stream": async () => {
    await using server = await startScriptedServer(endedStream(": close lifetime\n "), stream(end));
    const log = watch(server.url);
    await log.finished;
    const lost = log.details.find(({ state }) => state === "reconnecting");
    assert.equal(lost?.error?.code, "closed");
    assert.equal(lost.error.detail, "lifetime");
  },

  "never refetches concurrently": async () => {
    const released = Promise.withResolvers<void>();
    const reopened = Promise.withResolvers<void>();
    await using server = await startScriptedServer(cutStream(progress(1)), async (response, request) => {
      await stream(end)(response, request);
      reopened.resolve();
    });
    let calls = 0;
    const log = watch(server.url, {
      refetch: async () => {
        calls += 1;
        // The first one deliberately ignores its signal.
        if (calls === 1) await released.promise;
      },
    });
    await reopened.promise;
    await turnOfTheNetwork();
    assert.equal(calls, 1);
    released.resolve();
    await log.finished;
    assert.equal(calls, 2);
  },

  "fails permanently at a refusal, with the server's detail": async () => {
    for (const [code, errorCode] of [
      [403, "permission_denied"],
      [404, "not_found"],
      [400, "refused"],
    ] as const) {
      await using server = await startScriptedServer(problem(code, "Not for you"));
      const log = watch(server.url, { getAccessToken: () => "token" });
      const over = await log.finished;
      assert.equal(over.state, "failed");
      const { code: given, status: httpStatus, detail } = over.error;
      assert.deepEqual([given, httpStatus, detail], [errorCode, code, "Not for you"]);
      assert.deepEqual(log.entries, ["connecting", `failed ${errorCode}`]);
      assert.equal(server.requests.length, 1);
    }
  },

  "fails when the first answer is no event stream": async () => {
    await using server = await startScriptedServer(status(200, { "content-type": "application/json" }, "{}"));
    const over = await watch(server.url).finished;
    assert.equal(over.state === "failed" && over.error.code, "not_a_stream");
    assert.match(over.state === "failed" ? over.error.message : "", /"application\/json" is not "text\/event-stream"/);
  },

  "reconnects while a proxy answers for a gateway that is away": async () => {
    const page = (code: number) => status(code, { "content-type": "text/html" }, "<h1>No backend</h1>");
    await using server = await startScriptedServer(
      cutStream(progress(1)),
      page(404),
      page(403),
      page(200),
      stream(end),
    );
    const log = watch(server.url);
    assert.equal((await log.finished).state, "ended");
  },

  "reconnects when no heartbeat comes": async () => {
    await using server = await startScriptedServer(stream(progress(1)), stream(end));
    const log = watch(server.url, { heartbeatMs: 20 });
    await log.finished;
    assert.ok(log.entries.includes("reconnecting silent"));
    await server.closed(0);
  },

  "waits as long for a byte as the stream tells": async () => {
    await using server = await startScriptedServer(async (response, request) => {
      await stream(": open\n: heartbeat-seconds 999999999\n")(response, request);
      // The passing of time is what is tested: twice the silence that the option allows.
      setTimeout(() => response.write(end), 2000);
    });
    // Longer than a timer takes.
    const log = watch(server.url, { heartbeatMs: 400, connectTimeoutMs: 1e12, refetchTimeoutMs: 1e12 });
    await log.finished;
    assert.deepEqual(log.entries, ["connecting", "live", "scan.end", "ended"]);
  },

  "aborts a connect without an answer in time": async () => {
    await using server = await startScriptedServer(() => undefined, stream(end));
    const log = watch(server.url, { connectTimeoutMs: 50 });
    await log.finished;
    assert.ok(log.entries.includes("reconnecting timeout"));
    await server.closed(0);
  },

  "reconnects after an event whose data is not an object": async () => {
    for (const data of ["not json", "[1]", "null"]) {
      const garbage = `event: scan.progress\ndata: ${data}\n\n`;
      await using server = await startScriptedServer(stream(garbage, progress(9)), stream(end));
      const log = watch(server.url);
      await log.finished;
      assert.deepEqual(log.events(), ["scan.end"]);
      assert.ok(log.entries.includes("reconnecting garbage"));
    }
  },

  "disconnects from a stream with an endless line": async () => {
    let sentBytes = 0;
    const endless: Answer = async (response, request) => {
      await stream("data: ")(response, request);
      const chunk = "x".repeat(16_384);
      while (!response.destroyed && sentBytes < 1e9) {
        sentBytes += chunk.length;
        await new Promise((resolve) => {
          response.write(chunk, () => setImmediate(resolve));
        });
      }
    };
    await using server = await startScriptedServer(endless, stream(end));
    const log = watch(server.url, { maxEventChars: 100_000 });
    await log.finished;
    assert.ok(log.entries.includes("reconnecting garbage"));
    assert.ok(sentBytes < 50_000_000, `${sentBytes} bytes were taken`);
  },

  "fails when a callback throws": async () => {
    for (const bug of [new Error("a bug of the caller"), new SubscribeError("cut", "an error of another stream")]) {
      const throwBug = () => {
        throw bug;
      };
      const whenLive = (state: string) => (state === "live" ? throwBug() : undefined);
      const broken: SubscribeOptions<ScanEvents>[] = [
        { onEvent: throwBug },
        { onEvent: () => Promise.reject(bug) },
        { onSnapshot: () => Promise.reject(bug) },
        { onStateChange: throwBug },
        { onStateChange: whenLive },
        { onStateChange: async (state) => whenLive(state) },
      ];
      for (const options of broken) {
        await using server = await startScriptedServer(stream(": snapshot complete\n\n", end));
        const over = await subscribe<ScanEvents>(server.url, options).finished;
        assert.equal(over.state, "failed", Object.keys(options)[0]);
        assert.equal(over.error.code, "callback_failed");
        assert.equal(over.error.cause, bug);
      }
    }
  },

  "waits for an event's promise before the next event": async () => {
    await using server = await startScriptedServer(stream(progress(1) + progress(2) + end));
    let running = 0;
    await watch(server.url, {
      heartbeatMs: 400,
      onEvent: async ({ type }) => {
        running += 1;
        assert.equal(running, 1);
        // Twice the silence that is allowed: while nothing is read, silence means nothing.
        await new Promise((resolve) => setTimeout(resolve, type === "scan.end" ? 2000 : 0));
        running -= 1;
      },
    }).finished;
    assert.equal(server.requests.length, 1);
  },

  "is closed by its signal in every state": async () => {
    const never = new Promise<never>(() => undefined);
    const situations: [string, Answer, SubscribeOptions<ScanEvents>][] = [
      ["connecting", () => undefined, {}],
      ["connecting", () => undefined, { getAccessToken: () => never }],
      ["connecting", stream(), { refetch: () => never }],
      ["live", stream(), {}],
      ["scan.progress 1", stream(progress(1)), { onEvent: () => never }],
      ["reconnecting unavailable", problem(503, "Away", { "retry-after": "600" }), {}],
    ];
    for (const [entry, answer, options] of situations) {
      await using server = await startScriptedServer(answer);
      const controller = new AbortController();
      const log = watch(server.url, { ...options, signal: controller.signal });
      await log.until(entry);
      const before = log.entries.length;
      controller.abort();
      assert.deepEqual(await log.finished, { state: "closed" });
      assert.equal(log.subscription.state, "closed");
      assert.equal(log.entries.length, before);
    }
  },
};
