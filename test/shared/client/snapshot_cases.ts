import assert from "node:assert/strict";
import { subscribe, type SubscribeOptions } from "../../../shared/client/subscribe.ts";
import { cutStream, endedStream, frame, startScriptedServer, status, stream } from "../../support/scripted_server.ts";
import { end, progress, scanId, watch } from "./watched_stream.ts";

interface Events {
  readonly "scan.snapshot": { readonly scan_id: string; readonly status: string };
  readonly "scan.progress": { readonly scan_id: string; readonly checks_done: number };
  readonly "scan.end": { readonly scan_id: string };
}

const otherId = "9d6f3f7e-0f0f-4c4c-9a9a-1b1b1b1b1b1b";
const opening = "retry: 0\n: open\n\n";
const complete = ": snapshot complete\n\n";
const snapshotOf = (...ids: readonly string[]) =>
  ids.map((id) => frame("scan.snapshot", { scan_id: id, status: "running" })).join("");
const endOf = (id: string) => frame("scan.end", { scan_id: id });
const nothing = () => undefined;
const record = (url: string, options: SubscribeOptions<Events> = {}) =>
  watch<Events>(url, { onSnapshot: nothing, refetch: nothing, ...options });

/** The present state that a stream begins with, and streams of several resources. */
export const snapshotCases: Readonly<Record<string, () => Promise<void>>> = {
  "asks for a snapshot and hands all of it over once, before the events": async () => {
    await using server = await startScriptedServer(
      // In pieces, and an event in the same chunk as the end of the snapshot.
      stream(`${opening}${snapshotOf(scanId)}`, `${snapshotOf(otherId)}${complete}${progress(1)}`, end),
    );
    const log = record(`${server.url}?a=1#top`);
    assert.equal((await log.finished).state, "ended");
    const expected = ["connecting", `snapshot ${scanId},${otherId}`, "refetch", "live", "scan.progress 1", "scan.end"];
    assert.deepEqual(log.entries, [...expected, "ended"]);
    assert.equal(server.requests[0]?.url, "/api/v1/scans/1/event-stream?a=1&snapshot=1");
  },

  "does not ask for a snapshot without onSnapshot, nor twice": async () => {
    for (const [query, options] of [
      ["", {}],
      ["?snapshot=1", {}],
      ["?snapshot=1", { onSnapshot: nothing }],
    ] as const) {
      await using server = await startScriptedServer(stream(opening, complete, end));
      await subscribe<Events>(`${server.url}${query}`, options).finished;
      assert.equal(server.requests[0]?.url, `/api/v1/scans/1/event-stream${query}`);
    }
  },

  "asks for a new snapshot on every open, and never hands over half of one": async () => {
    await using server = await startScriptedServer(
      cutStream(opening, snapshotOf(scanId)),
      cutStream(opening, snapshotOf(scanId), complete, progress(1)),
      stream(opening, snapshotOf(otherId), complete, end),
    );
    const log = record(server.url);
    await log.finished;
    const snapshots = log.entries.filter((entry) => entry.startsWith("snapshot"));
    assert.deepEqual(snapshots, [`snapshot ${scanId}`, `snapshot ${otherId}`]);
    assert.equal(server.requests.length, 3);
  },

  "fails where the first stream has no snapshot: at its first event, or after a while": async () => {
    for (const [answer, message] of [
      [stream(opening, progress(1)), /began with "scan.progress" instead of a snapshot/],
      [stream(opening, ": heartbeat\n\n"), /no snapshot within 30 ms/],
    ] as const) {
      await using server = await startScriptedServer(answer);
      const over = await record(server.url, { refetchTimeoutMs: message.source.includes("30 ms") ? 30 : 60_000 })
        .finished;
      assert.equal(over.state === "failed" && over.error.code, "no_snapshot");
      assert.match(over.state === "failed" ? over.error.message : "", message);
      await server.closed(0);
    }
  },

  "bounds a snapshot": async () => {
    await using server = await startScriptedServer(stream(opening, snapshotOf(scanId).repeat(20)));
    const log = record(server.url, { maxWaitingChars: 500 });
    await log.until("reconnecting refetch_failed");
    log.close();
  },

  "ends with as many terminal events as the stream says, and with no others, over reconnects": async () => {
    await using server = await startScriptedServer(
      cutStream(opening, ": terminal scan.end 2\n", progress(1), endOf(scanId)),
      stream(`${opening}: terminal scan.end 1\n`, frame("part.end", { part_id: otherId }), endOf(otherId), progress(9)),
    );
    const log = watch<Events>(server.url);
    const over = await log.finished;
    assert.equal(over.state === "ended" && over.event?.data.scan_id, otherId);
    assert.deepEqual(log.events(), ["scan.progress 1", "scan.end", "part.end", "scan.end"]);
    await server.closed(1);
    assert.equal(server.requests.length, 2);
  },

  "ends at 204, after a last refetch and without a snapshot, also where no event was said to be the last": async () => {
    await using server = await startScriptedServer(
      endedStream(opening, snapshotOf(scanId), complete, endOf(scanId), "retry: 0\n: close ended\n "),
      status(204),
    );
    const log = record(server.url);
    assert.deepEqual(await log.finished, { state: "ended", event: null });
    assert.deepEqual(log.entries.slice(-2), ["refetch", "ended"]);
    assert.equal(log.entries.filter((entry) => entry.startsWith("snapshot")).length, 1);
  },
};
