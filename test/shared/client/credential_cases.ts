import assert from "node:assert/strict";
import type { ScanEvents } from "../../../shared/schemas/scan.ts";
import { subscribe, type SubscribeOptions } from "../../../shared/client/subscribe.ts";
import { cutStream, problem, startScriptedServer, stream } from "../../support/scripted_server.ts";
import { end, watch } from "./watched_stream.ts";

/** Tokens and API keys, which no error shows. */
export const credentialCases: Readonly<Record<string, () => Promise<void>>> = {
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
    assert.doesNotMatch(wholeText(over), /secret/);
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
};

/** Everything that a log line could show of a value, causes included. */
function wholeText(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    inner instanceof Error ? { text: String(inner), stack: inner.stack, cause: inner.cause } : inner,
  );
}
