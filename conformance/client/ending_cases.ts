import { endedStream, send, status, stream } from "../../test/support/answers.ts";
import {
  closing,
  frame,
  heartbeat,
  lostStream,
  opening,
  otherScanId,
  progress,
  scanEnd,
  scanId,
  tenantPath,
  toEvent,
  type ConformanceCase,
} from "./case.ts";

const end = scanEnd();
const otherProgress = progress(7, otherScanId);
const otherEnd = scanEnd(otherScanId);
const created = toEvent("scan.created", { scan_id: scanId, status: "pending" });
const updated = toEvent("scan.updated", { scan_id: otherScanId, status: "running" });

/** When it is over, and when it is not. */
export const endingCases: readonly ConformanceCase[] = [
  {
    name: "end",
    group: "ending",
    promise: "stops at the terminal event, or asks once more and stops at 204",
    answers: [endedStream(opening, frame(progress(1)), frame(end), closing)],
    events: [progress(1), end],
    mostRequests: 2,
  },
  {
    name: "duplicate-end",
    group: "ending",
    promise: "reports nothing that follows the terminal event",
    answers: [endedStream(opening, frame(progress(1)), frame(end) + frame(end) + frame(progress(2)), closing)],
    events: [progress(1), end],
    mostRequests: 2,
  },
  {
    name: "ended",
    group: "ending",
    promise: "stops at 204: the resource had ended",
    answers: [status(204)],
    events: [],
    mostRequests: 1,
  },
  {
    name: "several-scans",
    group: "ending",
    promise: "follows a stream of several scans until the last of them has ended",
    path: `${tenantPath}?scan_id=${scanId}&scan_id=${otherScanId}`,
    ends: 2,
    answers: [
      endedStream(
        opening,
        frame(progress(1)) + frame(otherProgress),
        frame(end),
        { waitMs: 300 },
        frame(otherProgress),
        frame(otherEnd),
        closing,
      ),
    ],
    events: [progress(1), otherProgress, end, otherProgress, otherEnd],
    mostRequests: 2,
  },
  {
    name: "tenant",
    group: "ending",
    promise: "goes on following a tenant's stream when one of its scans ends",
    path: tenantPath,
    ends: 0,
    answers: [
      lostStream([opening, frame(created), frame(end), { waitMs: 300 }, frame(created)], {
        after: 3,
        tail: ": close lifetime\n ",
        how: "ended",
      }),
      async (response, request, { heartbeatMs }) => {
        await stream(opening, frame(updated))(response, request);
        while (!response.closed) await send(response, { waitMs: heartbeatMs }, heartbeat);
      },
    ],
    events: [created, end, created, updated],
    judge: ({ exit }) => (exit === null ? null : `its process ended (${exit}) while the stream was open`),
  },
];
