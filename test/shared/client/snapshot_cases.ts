import assert from "node:assert/strict";
import { subscribe, type SubscribeOptions } from "../../../shared/client/subscribe.ts";
import { cutStream, endedStream, frame, startScriptedServer, status, stream } from "../../support/scripted_server.ts";
import { end, progress, scanId } from "./subscribe_slow_cases.ts";

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

/** What `subscribe` does with the present state that a stream begins with, and with streams of several resources. */
export const snapshotCases: Readonly<Record<string, () => Promise<void>>> = {
  "asks for a snapshot and hands all of it over once, before the events": async () => {
    await using server = await startScriptedServer(
      // In pieces, and an event in the same chunk as the end of the snapshot.
      stream(`${opening}${snapshotOf(scanId)}`, `${snapshotOf(otherId)}${complete}${progress(1)}`, end),
    );
    const log = record(`${server.url}?a=1#top`);
    assert.deepEqual(await log.finished, {
      state: "ended",
      event: { type: "scan.end", data: JSON.parse(dataOf(end)) },
    });
    assert.deepEqual(log.entries, [`snapshot ${scanId},${otherId}`, "refetch", "live", "scan.progress", "scan.end"]);
    assert.equal(server.requests[0]?.url, "/api/v1/scans/1/event-stream?a=1&snapshot=1");
  },

  "does not ask for a snapshot without onSnapshot, nor twice": async () => {
    for (const [query, options] of [
      ["", {}],
      ["?snapshot=1", {}],
      ["?snapshot=1", { onSnapshot: () => undefined }],
    ] as const) {
      await using server = await startScriptedServer(stream(opening, complete, end));
      await subscribe<Events>(`${server.url}${query}`, options).finished;
      assert.equal(server.requests[0]?.url, `/api/v1/scans/1/event-stream${query}`);
    }
  },

  "hands over what arrives while onSnapshot is pending after it": async () => {
    const sent = Promise.withResolvers<void>();
    await using server = await startScriptedServer(async (response, request) => {
      await stream(opening, snapshotOf(scanId), complete, progress(1), end)(response, request);
      sent.resolve();
    });
    const entries: string[] = [];
    const subscription = subscribe<Events>(server.url, {
      onSnapshot: async () => {
        await sent.promise;
        entries.push("snapshot");
      },
      onEvent: ({ type }) => void entries.push(type),
    });
    await subscription.finished;
    assert.deepEqual(entries, ["snapshot", "scan.progress", "scan.end"]);
  },

  "asks for a new snapshot on every open, and never hands over half of one": async () => {
    await using server = await startScriptedServer(
      cutStream(opening, snapshotOf(scanId)),
      cutStream(opening, snapshotOf(scanId), complete, progress(1)),
      stream(opening, snapshotOf(otherId), complete, end),
    );
    const log = record(server.url);
    await log.finished;
    assert.deepEqual(
      log.entries.filter((entry) => entry.startsWith("snapshot")),
      [`snapshot ${scanId}`, `snapshot ${otherId}`],
    );
    assert.equal(server.requests.length, 3);
  },

  "fails where the first stream begins with an event instead of the snapshot": async () => {
    await using server = await startScriptedServer(stream(opening, progress(1)));
    const over = await record(server.url).finished;
    assert.equal(over.state, "failed");
    assert.equal(over.error.code, "no_snapshot");
    assert.match(over.error.message, /began with "scan.progress" instead of a snapshot/);
    await server.closed(0);
    assert.equal(server.requests.length, 1);
  },

  "fails where no snapshot comes in time": async () => {
    await using server = await startScriptedServer(stream(opening, ": heartbeat\n\n"));
    const over = await record(server.url, { refetchTimeoutMs: 30 }).finished;
    assert.equal(over.state, "failed");
    assert.match(over.error.message, /no snapshot within 30 ms/);
  },

  "bounds a snapshot": async () => {
    await using server = await startScriptedServer(stream(opening, snapshotOf(scanId).repeat(20)));
    const log = record(server.url, { maxWaitingChars: 500 });
    await log.until("reconnecting refetch_failed");
    log.close();
  },

  "fails when onSnapshot throws": async () => {
    await using server = await startScriptedServer(stream(opening, complete));
    const bug = new Error("a bug of the caller");
    const over = await subscribe<Events>(server.url, { onSnapshot: () => Promise.reject(bug) }).finished;
    assert.equal(over.state, "failed");
    assert.equal(over.error.code, "callback_failed");
    assert.equal(over.error.cause, bug);
    await server.closed(0);
  },

  "has no snapshot, and one last refetch, where the resource had ended": async () => {
    await using server = await startScriptedServer(status(204));
    const log = record(server.url);
    assert.deepEqual(await log.finished, { state: "ended", event: null });
    assert.deepEqual(log.entries, ["refetch"]);
  },

  "ends with as many terminal events as the stream says, and with no others, over reconnects": async () => {
    await using server = await startScriptedServer(
      cutStream(opening, ": terminal scan.end 2\n", progress(1), endOf(scanId)),
      stream(`${opening}: terminal scan.end 1\n`, frame("part.end", { part_id: otherId }), endOf(otherId), progress(9)),
    );
    const log = record(server.url, { onSnapshot: undefined });
    const over = await log.finished;
    assert.equal(over.state === "ended" && over.event?.data.scan_id, otherId);
    assert.deepEqual(
      log.entries.filter((entry) => entry.endsWith(".end")),
      ["scan.end", "part.end", "scan.end"],
    );
    await server.closed(1);
    assert.equal(server.requests.length, 2);
  },

  "ends at 204 where no event was said to be the last one": async () => {
    await using server = await startScriptedServer(
      endedStream(opening, endOf(scanId), "retry: 0\n: close ended\n "),
      status(204),
    );
    const log = record(server.url, { onSnapshot: undefined });
    assert.deepEqual(await log.finished, { state: "ended", event: null });
    assert.equal(log.entries.at(-1), "refetch");
  },
};

function dataOf(text: string): string {
  return /^data: (.*)$/m.exec(text)?.[1] ?? "";
}

type Changes = Omit<Partial<SubscribeOptions<Events>>, "onSnapshot"> & { readonly onSnapshot?: undefined };

/** Subscribes with a snapshot and writes down what happens after "connecting". */
function record(url: string, changes: Changes = {}) {
  const entries: string[] = [];
  const { promise: isSeen, resolve } = Promise.withResolvers<void>();
  let wanted: string | null = null;
  const add = (entry: string) => {
    entries.push(entry);
    if (entry === wanted) resolve();
  };
  const { onSnapshot: _without, ...others } = changes;
  const subscription = subscribe<Events>(url, {
    backoffMs: [1, 2],
    random: () => 0,
    ...("onSnapshot" in changes
      ? {}
      : { onSnapshot: (snapshot) => add(`snapshot ${snapshot.map(({ data }) => data.scan_id).join(",")}`) }),
    refetch: () => add("refetch"),
    onEvent: ({ type }) => add(type),
    onStateChange: (state, { error }) => {
      if (error !== null) add(`${state} ${error.code}`);
      else if (state === "live") add(state);
    },
    ...others,
  });
  return {
    entries,
    finished: subscription.finished,
    close: () => subscription.close(),
    until(entry: string): Promise<void> {
      wanted = entry;
      if (entries.includes(entry)) resolve();
      return isSeen;
    },
  };
}
