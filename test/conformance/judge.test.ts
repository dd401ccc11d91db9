import { expect, test } from "vitest";
import { frame, progress, scanEnd, type ConformanceCase, type Observed } from "../../conformance/client/case.ts";
import { conformanceCases } from "../../conformance/client/cases.ts";
import { findMissing, judge } from "../../conformance/client/judge.ts";
import { endedStream, status } from "../support/answers.ts";

const one: ConformanceCase = {
  name: "a",
  group: "reconnecting",
  promise: "comes back",
  answers: [endedStream(frame(progress(1))), endedStream(frame(scanEnd()))],
  events: [progress(1), scanEnd()],
  mostRequests: 3,
  waits: [{ request: 1, leastMs: 1000 }],
};

type Request = Observed["requests"][number];

function request(atMs: number, changes: Partial<Request> = {}): Request {
  return { atMs, closedMs: atMs + 10, url: "/", headers: {}, status: 200, ...changes };
}

function seen(changes: Partial<Observed> = {}): Observed {
  return {
    requests: [request(0), request(1100)],
    events: [progress(1), scanEnd()],
    stateReadsMs: [],
    tokensIssued: 0,
    unreadable: null,
    exit: null,
    ...changes,
  };
}

test("a client that does everything passes", () => {
  expect(judge(one, seen())).toBeNull();
  expect(
    judge(one, seen({ requests: [...seen().requests, request(2000, { status: 204 })], exit: "exit code 1" })),
  ).toBeNull();
});

test("the data may be reported parsed", () => {
  expect(
    judge(one, seen({ events: [{ event: "scan.progress", data: JSON.parse(progress(1).data) }, scanEnd()] })),
  ).toBeNull();
});

const mistakes: readonly (readonly [name: string, observed: Partial<Observed>, mistake: RegExp])[] = [
  ["no request", { requests: [], events: [] }, /^it never asked for STREAM_URL$/],
  ["one request too few", { requests: [request(0)] }, /^it did not ask again after the stream had ended$/],
  [
    "the same at a silent stream",
    { requests: [request(0, { closedMs: null })] },
    /after the stream had fallen silent$/,
  ],
  [
    "one too many",
    { requests: [0, 1100, 2200, 3300].map((at) => request(at, { status: at > 2000 ? 204 : 200 })) },
    /^it asked again after the answer 204$/,
  ],
  [
    "too early a request",
    { requests: [request(0), request(950)] },
    /^it asked again 0\.9 s after the stream had ended: expected 1 s or more$/,
  ],
  ["a missing event", { events: [progress(1)] }, /^it reported 1 of 2 events: scan\.end .* is missing$/],
  [
    "a missing event and a process that is gone",
    { events: [], exit: "exit code 7: oops" },
    /is missing; its process ended \(exit code 7: oops\)$/,
  ],
  [
    "an event twice",
    { events: [progress(1), progress(1), scanEnd()] },
    /^it reported scan\.progress .* as event 2: expected scan\.end/,
  ],
  [
    "an event too many",
    { events: [progress(1), scanEnd(), scanEnd()] },
    /^it reported scan\.end .*, which is no event of this stream$/,
  ],
  ["data that differs by a blank", { events: [{ ...progress(1), data: ` ${progress(1).data}` }] }, /as event 1/],
  ["parsed data that differs", { events: [{ ...progress(1), data: { checks_done: 2 } }] }, /as event 1/],
  ["another name", { events: [{ ...progress(1), event: "message" }] }, /^it reported message /],
  ["a line that is no event", { unreadable: "it wrote x" }, /^it wrote x$/],
];

test.each(mistakes)("%s is a mistake", (_, observed, mistake) => {
  expect(judge(one, seen(observed))).toMatch(mistake);
});

test("a timer that is a little early is none", () => {
  expect(judge(one, seen({ requests: [request(0), request(970)] }))).toBeNull();
});

test("what a case asks for beside its events is judged at the end", () => {
  const sendsNoId = {
    ...one,
    judge: ({ requests }: Observed) => (requests[1]?.headers["last-event-id"] === "" ? "it sent" : null),
  };
  expect(judge(sendsNoId, seen({ requests: [request(0), request(1100, { headers: { "last-event-id": "" } })] }))).toBe(
    "it sent",
  );
});

test("a single answer that is final asks for one request only", () => {
  const ended = { ...one, answers: [status(204)], events: [], mostRequests: 1 };
  expect(findMissing(ended, seen({ requests: [request(0, { status: 204 })], events: [] }))).toBeNull();
});

test("the cases have names of their own", () => {
  expect(new Set(conformanceCases.map(({ name }) => name)).size).toBe(conformanceCases.length);
});
