import { send, stream } from "../../test/support/answers.ts";
import { frame, heartbeat, opening, progress, scanEnd, wholeStream, type ConformanceCase } from "./case.ts";

const end = scanEnd();
const slowHeadMs = 5000;

/** Slow is not dead, and silent is. */
export const livenessCases: readonly ConformanceCase[] = [
  {
    name: "slow-head",
    group: "liveness",
    promise: "waits 5 s for the answer: a gateway answers when the broker has confirmed",
    answers: [
      async (response, request) => {
        await send(response, { waitMs: slowHeadMs });
        await wholeStream()(response, request);
      },
    ],
    events: [end],
  },
  {
    name: "heartbeats",
    group: "liveness",
    promise: "stays on a stream in which for some time only heartbeats come, and makes nothing of them",
    answers: [
      (response, request, { heartbeatMs }) => {
        const idle = [{ waitMs: heartbeatMs }, heartbeat];
        return wholeStream(frame(progress(1)), ...idle, ...idle, ...idle, { waitMs: heartbeatMs })(response, request);
      },
    ],
    events: [progress(1), end],
  },
  {
    name: "silence",
    group: "liveness",
    promise: "comes back when not even a heartbeat came for some time (HEARTBEAT_SECONDS): the connection is dead",
    answers: [stream(opening, frame(progress(1))), wholeStream()],
    events: [progress(1), end],
  },
];
