import { problem, status } from "../../test/support/answers.ts";
import {
  frame,
  lostStream,
  opening,
  progress,
  scanEnd,
  wholeStream,
  type ConformanceCase,
  type ScriptedAnswer,
} from "./case.ts";

const end = scanEnd();
const notAuthenticated = problem(401, "The token is not valid");
const unavailable = problem(503, "The gateway is stopping", { "retry-after": "2" });
const notFound = problem(404, "No such scan");

/** Later, never, or with another token. */
export const refusalCases: readonly ConformanceCase[] = [
  {
    name: "503",
    group: "refusals",
    promise: "asks again after 503, after as many seconds as `Retry-After` says",
    answers: [unavailable, wholeStream()],
    events: [end],
    waits: [{ request: 1, leastMs: 2000 }],
  },
  {
    name: "429",
    group: "refusals",
    promise: "asks again after 429, after as many seconds as `Retry-After` says",
    answers: [problem(429, "Too many streams", { "retry-after": "2" }), wholeStream()],
    events: [end],
    waits: [{ request: 1, leastMs: 2000 }],
  },
  {
    name: "503-later",
    group: "refusals",
    promise: "comes back when a stream that was open is refused for a time",
    answers: [closedStream("lost"), unavailable, wholeStream()],
    events: [progress(1), end],
    waits: [{ request: 2, leastMs: 2000 }],
  },
  {
    name: "404",
    group: "refusals",
    promise: "gives up at 404",
    answers: [notFound],
    afterwards: notFound,
    events: [],
    mostRequests: 1,
  },
  {
    name: "redirect",
    group: "refusals",
    promise: "follows a redirect",
    answers: [
      (response, request) => {
        response.writeHead(307, { location: (request.url ?? "").replace("/api/", "/moved/api/") });
        response.end();
      },
      wholeStream(),
    ],
    events: [end],
  },
  {
    name: "token",
    group: "refusals",
    promise: "asks for a new token at 401 and when the stream's time is over, and sends it",
    answers: Array.from({ length: 5 }, () => byToken),
    events: [progress(1), end],
    leastRequests: 3,
    judge: ({ tokensIssued }) => (tokensIssued === 0 ? "it never asked for a token at TOKEN_URL" : null),
  },
  {
    name: "token-refused",
    group: "refusals",
    promise: "gives up when a new token is refused, too",
    answers: [notAuthenticated],
    afterwards: notAuthenticated,
    events: [],
    mostRequests: 2,
  },
];

function closedStream(reason: string): ScriptedAnswer {
  return lostStream([opening, frame(progress(1))], { after: 1, tail: `: close ${reason}\n `, how: "ended" });
}

/** The first token has run out before it is used, the others when the first stream is closed. */
function byToken(...[response, request, run]: Parameters<ScriptedAnswer>): void | Promise<void> {
  if (!run.tokens.isValid(request)) return notAuthenticated(response, request);
  if (run.openedBefore > 1) return status(204)(response, request);
  if (run.openedBefore === 1) return wholeStream()(response, request);
  run.tokens.revokeAll();
  return closedStream("expired")(response, request, run);
}
