import { endedStream } from "../../test/support/answers.ts";
import {
  closing,
  frame,
  lostStream,
  opening,
  progress,
  scanEnd,
  scanId,
  scanPath,
  toEvent,
  wholeStream,
  type ConformanceCase,
  type Observed,
  type ScriptedAnswer,
} from "./case.ts";

const end = scanEnd();
const snapshot = (checksDone: number) =>
  toEvent("scan.snapshot", { checks_done: checksDone, status: "running", id: scanId, scan_id: scanId });
const snapshotComplete = ": snapshot complete\n";

/** How it comes back after a stream that was lost. */
export const reconnectingCases: readonly ConformanceCase[] = [
  {
    name: "cut",
    group: "reconnecting",
    promise: "comes back when the connection breaks in the middle of an event, and reports no half of it",
    answers: [
      lostStream([opening, frame(progress(1))], {
        after: 1,
        tail: `event: ${progress(2).event}\ndata: {"checks_d`,
        how: "cut",
      }),
      wholeStream(frame(progress(2))),
    ],
    events: [progress(1), progress(2), end],
  },
  {
    name: "lost",
    group: "reconnecting",
    promise: "comes back after `: close lost`, after as long as `retry:` said",
    answers: [closedStream("lost", 1500), wholeStream(frame(progress(2)))],
    events: [progress(1), progress(2), end],
    waits: [{ request: 1, leastMs: 1500 }],
  },
  {
    name: "drain",
    group: "reconnecting",
    promise: "comes back after `: close drain`, after as long as `retry:` said, also when no event followed that line",
    answers: [closedStream("drain", 2500), wholeStream()],
    events: [progress(1), end],
    waits: [{ request: 1, leastMs: 2500 }],
  },
  {
    name: "retry",
    group: "reconnecting",
    promise: "goes on waiting as long as the last `retry:` said, in later streams, too",
    answers: [
      lostStream(["retry: 1500\n", ": open\n", frame(progress(1))], { after: 1, how: "cut" }),
      lostStream([": open\n", frame(progress(2))], { after: 2, how: "cut" }),
      endedStream(frame(end), closing),
    ],
    events: [progress(1), progress(2), end],
    waits: [
      { request: 1, leastMs: 1500 },
      { request: 2, leastMs: 1500 },
    ],
  },
  {
    name: "no-id",
    group: "reconnecting",
    promise: "sends no `Last-Event-ID` when no event had an id",
    answers: [lostStream([opening, frame(progress(1))], { after: 1, how: "cut" }), wholeStream()],
    events: [progress(1), end],
    judge({ requests }) {
      const sent = requests.find(({ headers }) => headers["last-event-id"] !== undefined);
      return sent === undefined ? null : `it sent Last-Event-ID ${JSON.stringify(sent.headers["last-event-id"])}`;
    },
  },
  {
    name: "state",
    group: "reconnecting",
    promise: "reads the state (STATE_URL) after every open, because nothing is replayed",
    answers: [
      (response, request, run) => {
        const opened = [opening, { until: run.nextStateRead() }, frame(progress(1))];
        return lostStream(opened, { after: 1, how: "cut" })(response, request, run);
      },
      (response, request, run) => wholeStream({ until: run.nextStateRead() })(response, request),
    ],
    events: [progress(1), end],
    judge: missingStateRead,
  },
  {
    name: "snapshot",
    group: "reconnecting",
    promise: "reports the snapshot before what happened since, on every open, and keeps the query of the URL",
    path: `${scanPath(scanId)}?snapshot=1`,
    answers: [
      lostStream([opening, frame(snapshot(1)), snapshotComplete, frame(progress(2))], { after: 2, how: "cut" }),
      endedStream(opening, frame(snapshot(5)), snapshotComplete, frame(end), closing),
    ],
    events: [snapshot(1), progress(2), snapshot(5), end],
    judge({ requests }) {
      const other = requests.find(({ url }) => !url.endsWith("?snapshot=1"));
      return other === undefined ? null : `it asked for ${other.url}, without the query`;
    },
  },
];

function closedStream(reason: string, retryMs: number): ScriptedAnswer {
  const tail = `retry: ${retryMs}\n: close ${reason}\n `;
  return lostStream([opening, frame(progress(1))], { after: 1, tail, how: "ended" });
}

function missingStateRead({ requests, stateReadsMs }: Observed): string | null {
  const missing = requests.slice(0, 2).findIndex(({ atMs }, index) => {
    const untilMs = requests[index + 1]?.atMs ?? Infinity;
    return !stateReadsMs.some((readMs) => readMs >= atMs && readMs < untilMs);
  });
  return missing < 0
    ? null
    : `it did not read STATE_URL after it had opened the stream${missing === 0 ? "" : " again"}`;
}
