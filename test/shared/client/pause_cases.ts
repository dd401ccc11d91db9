import assert from "node:assert/strict";
import type { ScanEvents } from "../../../shared/schemas/scan.ts";
import type { SubscribeOptions } from "../../../shared/client/subscribe.ts";
import {
  endedStream,
  problem,
  startScriptedServer,
  status,
  stream,
  type Answer,
} from "../../support/scripted_server.ts";
import { end, watch } from "./watched_stream.ts";

/** Pauses between two attempts. */
export const pauseCases: Readonly<Record<string, () => Promise<void>>> = {
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

  "does not wait in a page that is online again, unless the server asked for it, nor after retryNow": async () => {
    const page = new EventTarget();
    const { addEventListener } = globalThis;
    Object.assign(globalThis, { document: page, addEventListener: page.addEventListener.bind(page) });
    try {
      const asked = problem(503, "Away", { "retry-after": "600" });
      await using server = await startScriptedServer(status(503), asked, stream(end));
      const woken = Promise.withResolvers<void>();
      const log = watch(server.url, {
        backoffMs: [600_000, 600_000],
        random: () => 0.5,
        onStateChange(_, { retryInMs }) {
          if (retryInMs === 0) return;
          setTimeout(() => {
            page.dispatchEvent(new Event("online"));
            if (server.requests.length === 2) woken.resolve();
          });
        },
      });
      await woken.promise;
      assert.equal(log.details.at(-1)?.retryInMs, 900_000);
      log.subscription.retryNow();
      assert.equal((await log.finished).state, "ended");
    } finally {
      Object.assign(globalThis, { addEventListener });
      Reflect.deleteProperty(globalThis, "document");
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
