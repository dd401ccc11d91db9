import { endedStream, status } from "../../test/support/answers.ts";
import {
  closing,
  frame,
  lostStream,
  opening,
  progress,
  scanEnd,
  toEvent,
  wholeStream,
  type ConformanceCase,
} from "./case.ts";

const first = progress(1);
const second = progress(2);
const end = scanEnd();

/** Characters of two, three and four bytes, and two that some take for line breaks. */
const text = toEvent("finding.created", { detail: "é 漢 😀 a\u2028b\u0085c" });
/** As large as an event of the gateway may be. */
const large = toEvent("finding.created", { detail: "0123456789abcde\u00e9".repeat(3840) });
const burst = Array.from({ length: 1000 }, (_, index) => progress(index));

const half = `event: ${second.event}\ndata: ${second.data}`;

const lineEnds = [
  `event: ${first.event}\r\ndata: ${first.data}\r\n\r\n`,
  // The two characters of a line end in two chunks.
  `event: ${second.event}\r`,
  `\ndata: ${second.data}\r`,
  "\n\r",
  "\n",
  `event: ${end.event}\rdata: ${end.data}\r\r`,
];

/** The format itself: https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation */
export const readingCases: readonly ConformanceCase[] = [
  {
    name: "plain",
    group: "reading",
    promise: "reports every event with its name and its data, in order",
    answers: [wholeStream(frame(first), frame(second))],
    events: [first, second, end],
  },
  {
    name: "bytes",
    group: "reading",
    promise: "decodes UTF-8 over the bounds of chunks, and takes U+2028 and U+0085 for text",
    answers: [endedStream(...toBytes(opening + frame(text) + frame(end) + closing))],
    events: [text, end],
  },
  {
    name: "line-ends",
    group: "reading",
    promise: "takes CRLF, CR and LF for the end of a line, also when a chunk ends between CR and LF",
    answers: [endedStream(opening, ...lineEnds, closing)],
    events: [first, second, end],
  },
  {
    name: "bom",
    group: "reading",
    promise: "skips a byte order mark at the beginning",
    answers: [endedStream(`\ufeff${frame(first)}`, frame(end), closing)],
    events: [first, end],
  },
  {
    name: "comments",
    group: "reading",
    promise: "ignores comment lines, alone, followed by a blank line and inside an event",
    answers: [
      wholeStream(
        ": heartbeat\n",
        ":\n",
        `: before\nevent: ${first.event}\n: inside\ndata: ${first.data}\n:\n\n`,
        ": alone\n\n",
        ": heartbeat\n",
      ),
    ],
    events: [first, end],
  },
  {
    name: "fields",
    group: "reading",
    promise:
      "takes one space off a value, ignores fields that it does not know, calls an event without a name `message`, and makes nothing of a block without data",
    answers: [
      wholeStream(
        "event:scan.progress\ndata:   {}\n\n",
        "data:{}\n\n",
        "event: scan.progress\n\n",
        "retry: 100\n\n",
        "DATA: {}\nfoo: bar\nfoo\nevent: scan.start\ndata: {}\n\n",
      ),
    ],
    events: [
      { event: "scan.progress", data: "  {}" },
      { event: "message", data: "{}" },
      { event: "scan.start", data: "{}" },
      end,
    ],
  },
  {
    name: "multi-line",
    group: "reading",
    promise: "joins the data lines of an event with line feeds",
    answers: [
      wholeStream('event: finding.created\ndata: {\ndata:   "check": "a",\ndata:\ndata:   "n": 1\ndata: }\n\n'),
    ],
    events: [{ event: "finding.created", data: '{\n  "check": "a",\n\n  "n": 1\n}' }, end],
  },
  {
    name: "large",
    group: "reading",
    promise: "reads an event of 64 KiB",
    answers: [wholeStream(frame(large))],
    events: [large, end],
  },
  {
    name: "burst",
    group: "reading",
    promise: "reports 1,000 events that arrive at once, in order",
    answers: [wholeStream(burst.map(frame).join(""))],
    events: [...burst, end],
  },
  {
    name: "half-event",
    group: "reading",
    promise: "makes nothing of an event that was not finished when the stream ended, and comes back",
    answers: [
      lostStream([opening, frame(first)], { after: 1, tail: half, how: "ended" }),
      lostStream([opening], { after: 1, tail: `${half}\n`, how: "ended" }),
      wholeStream(frame(second)),
    ],
    events: [first, second, end],
  },
  {
    name: "wrong-type",
    group: "reading",
    promise: "makes nothing of a 200 that is no `text/event-stream`: it is a proxy's page",
    answers: [status(200, { "content-type": "text/html" }, frame(first) + frame(end))],
    afterwards: status(200, { "content-type": "text/html" }, frame(first) + frame(end)),
    events: [],
    mostRequests: 3,
  },
];

function toBytes(text: string): readonly Uint8Array[] {
  return Array.from(new TextEncoder().encode(text), (byte) => Uint8Array.of(byte));
}
