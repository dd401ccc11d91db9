import assert from "node:assert/strict";
import type { ScanEvents } from "../../../shared/scan_events.ts";
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
import { snapshotCases } from "./snapshot_cases.ts";
import { subscribeSlowCases } from "./subscribe_slow_cases.ts";
import { end, progress, watch, type Watched } from "./watched_stream.ts";

const nothing = () => undefined;

/** Promises of `subscribe` as plain functions, the same on every runtime. */
export const subscribeCases: Readonly<Record<string, () => Promise<void>>> = {
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
      onOpen: () => log.add("open"),
      refetch: () => sent.promise.then(() => log.add("refetched")),
    });
    await log.finished;
    const opening = ["connecting", "open", "refetch", "refetched", "live"];
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
    await using server = await startScriptedServer(cutStream(progress(1)), stream(end));
    let opens = 0;
    let calls = 0;
    const log = watch(server.url, {
      onOpen: () => {
        opens += 1;
        if (opens === 2) reopened.resolve();
      },
      refetch: async () => {
        calls += 1;
        // The first one deliberately ignores its signal.
        if (calls === 1) await released.promise;
      },
    });
    await reopened.promise;
    await new Promise((resolve) => setTimeout(resolve, 0));
    assert.equal(calls, 1);
    released.resolve();
    await log.finished;
    assert.equal(calls, 2);
  },

  "retries when the refetch rejects": async () => {
    await using server = await startScriptedServer(stream(end));
    let calls = 0;
    const log = watch(server.url, {
      refetch: () => {
        calls += 1;
        if (calls === 1) throw new Error("the database is unavailable");
      },
    });
    await log.finished;
    assert.ok(log.entries.includes("reconnecting refetch_failed"));
    assert.deepEqual(log.entries.slice(-4), ["refetch", "live", "scan.end", "ended"]);
  },

  "requests one fresh token after 401": async () => {
    await using server = await startScriptedServer(problem(401, "The token has expired"), stream(end));
    const requests: boolean[] = [];
    const log = watch(server.url, {
      getAccessToken: ({ wasRefused }) => {
        requests.push(wasRefused);
        return wasRefused ? "fresh" : "stale";
      },
    });
    assert.equal((await log.finished).state, "ended");
    assert.deepEqual(requests, [false, true]);
    assert.deepEqual(
      server.requests.map(({ headers }) => headers.authorization),
      ["Bearer stale", "Bearer fresh"],
    );
  },

  "requests a fresh token again after the stream was open in between": async () => {
    const refused = problem(401, "Expired");
    await using server = await startScriptedServer(refused, cutStream(), refused, stream(end));
    const log = watch(server.url, { getAccessToken: () => "token" });
    assert.equal((await log.finished).state, "ended");
    assert.equal(server.requests.length, 4);
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
    assert.doesNotMatch(wholeText(over), /secret/);
  },

  "sends the token in the query by option": async () => {
    await using server = await startScriptedServer(stream(end));
    await watch(`${server.url}?a=1#top`, { getAccessToken: () => "a+b/c=&", tokenIn: "query" }).finished;
    assert.equal(server.requests[0]?.url, "/api/v1/scans/1/event-stream?a=1&access_token=a%2Bb%2Fc%3D%26");
    assert.equal(server.requests[0].headers.authorization, undefined);
  },

  "never shows a query token in an error": async () => {
    const server = await startScriptedServer(stream(end));
    await server[Symbol.asyncDispose]();
    const log = watch(server.url, { getAccessToken: () => "topsecret", tokenIn: "query" });
    await log.until("reconnecting unreachable");
    log.close();
    assert.doesNotMatch(wholeText(log.details), /topsecret/);
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

  "retries after a proxy's 502": async () => {
    const html = status(502, { "content-type": "text/html" }, "<h1>Bad gateway</h1>".repeat(1000));
    await using server = await startScriptedServer(html, html, stream(end));
    const log = watch(server.url);
    assert.equal((await log.finished).state, "ended");
    const lost = log.details.find(({ state }) => state === "reconnecting");
    assert.equal(lost?.error?.code, "unavailable");
    assert.equal(lost.error.detail, null);
  },

  "waits as long as the server asks, and a random part": async () => {
    const date = "Sat, 21 Nov 2026 10:00:00 GMT";
    for (const [answer, floorMs] of [
      [problem(429, "Too many streams", { "retry-after": "7" }), 7000],
      [problem(503, "Draining", { date, "retry-after": "Sat, 21 Nov 2026 10:00:09 GMT" }), 9000],
      [problem(503, "Draining", { "retry-after": "Sat, 21 Nov 2020 10:00:09 GMT" }), 0],
      // More than a timer can hold.
      [problem(503, "Draining", { "retry-after": "99999999999" }), 3.6e6],
      [problem(503, "Draining"), 0],
      [endedStream("retry: 1234\n\n"), 1234],
    ] as const) {
      for (const random of [0, 0.999]) {
        await using server = await startScriptedServer(answer);
        const paused = Promise.withResolvers<number>();
        const log = watch(server.url, {
          backoffMs: [1000, 30_000],
          random: () => random,
          onStateChange: (state, { retryInMs }) => {
            if (state === "reconnecting") paused.resolve(retryInMs);
          },
        });
        assert.equal(await paused.promise, floorMs + random * 1000);
        log.close();
        await log.finished;
      }
    }
  },

  "backs off with full jitter up to the bound": async () => {
    const busy = status(503);
    await using server = await startScriptedServer(busy, busy, busy, busy, stream(end));
    assert.deepEqual(await pauseBounds(server.url), [2, 4, 8, 10]);
  },

  "backs off from a server that drops every stream, and starts small again after a good one": async () => {
    const good: Answer = async (response, request) => {
      await stream()(response, request);
      // Four times what makes a stream a good one.
      setTimeout(() => response.end(), 1200);
    };
    await using server = await startScriptedServer(endedStream(), endedStream(), good, stream(end));
    assert.deepEqual(await pauseBounds(server.url, { heartbeatMs: 900 }), [2, 4, 2]);
  },

  "cuts a pause short on retryNow": async () => {
    await using server = await startScriptedServer(problem(503, "Away", { "retry-after": "600" }), stream(end));
    const log = watch(server.url);
    await log.until("reconnecting unavailable");
    log.subscription.retryNow();
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
      await stream(": open\n: heartbeat-seconds 60\n")(response, request);
      // The passing of time is what is tested: twice the silence that the option allows.
      setTimeout(() => response.write(end), 2000);
    });
    const log = watch(server.url, { heartbeatMs: 400 });
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
        { onOpen: throwBug },
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

  "calls nothing after it was closed": async () => {
    await using server = await startScriptedServer(stream(progress(1) + progress(2)));
    const log: Watched<ScanEvents> = watch(server.url, { onEvent: () => log.close() });
    assert.deepEqual(await log.finished, { state: "closed" });
    assert.deepEqual(log.entries, ["connecting", "live", "scan.progress 1"]);
    await server.closed(0);
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

  "refuses wrong options, without quoting a secret": async () => {
    const wrong: [string | URL, SubscribeOptions<ScanEvents>, RegExp][] = [
      ["", {}, /URL ""/],
      ["ftp://example.test/", {}, /URL "ftp:/],
      ["/stream", { apiKey: "" }, /apiKey/],
      ["/stream", { apiKey: "se cret" }, /apiKey/],
      ["/stream", { apiKey: "key", getAccessToken: () => "token" }, /both apiKey and getAccessToken/],
      ["/stream", { heartbeatMs: 0 }, /heartbeatMs 0/],
      ["/stream", { connectTimeoutMs: Number.NaN }, /connectTimeoutMs NaN/],
      ["/stream", { backoffMs: [10, 5] }, /backoffMs \[10, 5\]/],
    ];
    for (const [url, options, message] of wrong) {
      const refusing = () => subscribe(url, options);
      assert.throws(refusing, message);
      assert.throws(refusing, (error) => !/se cret/.test(String(error)));
    }
  },
};

/** The bounds of the pauses of a subscription that ends, in milliseconds. */
async function pauseBounds(url: string, options: SubscribeOptions<ScanEvents> = {}): Promise<readonly number[]> {
  // Half of each bound, so that the bound can be read from the pause.
  const log = watch(url, { ...options, backoffMs: [2, 10], random: () => 0.5 });
  await log.finished;
  const pauses = log.details.filter(({ state, retryInMs }) => state === "reconnecting" && retryInMs > 0);
  return pauses.map(({ retryInMs }) => retryInMs * 2);
}

/** Everything that a log line could show of a value, causes included. */
function wholeText(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    inner instanceof Error ? { text: String(inner), stack: inner.stack, cause: inner.cause } : inner,
  );
}
