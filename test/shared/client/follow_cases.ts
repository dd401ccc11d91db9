import assert from "node:assert/strict";
import type { ScanEvents } from "../../../shared/schemas/scan.ts";
import { follow, SubscribeError } from "../../../shared/client/subscribe.ts";
import { cutStream, problem, startScriptedServer, stream } from "../../support/scripted_server.ts";
import { end, progress, quick } from "./watched_stream.ts";

/** `follow` is a subscription as an iterable. */
export const followCases: Readonly<Record<string, () => Promise<void>>> = {
  "opens the stream when the first event is asked for": async () => {
    await using server = await startScriptedServer(stream(end));
    const events = follow<ScanEvents>(server.url);
    await new Promise((resolve) => setTimeout(resolve, 0));
    assert.equal(server.requests.length, 0);
    assert.equal((await events.next()).value?.type, "scan.end");
    assert.deepEqual(await events.next(), { done: true, value: undefined });
    assert.deepEqual(await events.next(), { done: true, value: undefined });
  },

  "closes the stream at return() while an event is waited for": async () => {
    await using server = await startScriptedServer(stream(progress(1)));
    const events = follow<ScanEvents>(server.url);
    await events.next();
    const waiting = events.next();
    assert.deepEqual(await events.return?.(), { done: true, value: undefined });
    assert.deepEqual(await waiting, { done: true, value: undefined });
    await server.closed(0);
  },

  "throws what the subscription fails with, after the events before it": async () => {
    await using server = await startScriptedServer(cutStream(progress(1)), problem(403, "No longer"));
    const types: string[] = [];
    await assert.rejects(
      async () => {
        for await (const { type } of follow<ScanEvents>(server.url, quick)) types.push(type);
      },
      (error) => error instanceof SubscribeError && error.code === "permission_denied",
    );
    assert.deepEqual(types, ["scan.progress"]);
  },

  "reads no further while the events are not asked for": async () => {
    let readCount = 0;
    const source: UnderlyingDefaultSource<Uint8Array> = {
      pull(controller) {
        readCount += 1;
        controller.enqueue(new TextEncoder().encode(readCount < 1000 ? progress(readCount) : end));
      },
    };
    const body = new ReadableStream(source, { highWaterMark: 0 });
    const events = follow<ScanEvents>("http://example.test/", {
      fetch: async () => new Response(body, { headers: { "content-type": "text/event-stream" } }),
    });
    for (const asked of [1, 2, 3]) {
      await events.next();
      await new Promise((resolve) => setTimeout(resolve, 0));
      // The next event waits, and the queues between hold a few.
      assert.ok(readCount <= asked + 6, `${readCount} were read when ${asked} were asked for`);
    }
    await events.return?.();
  },
};
