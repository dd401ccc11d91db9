import { encodeComment } from "./event_stream_encoding.ts";

/** How often a gateway writes to an idle stream unless it is configured otherwise: `EVENTSTREAM_HEARTBEAT_SECONDS`. */
export const defaultHeartbeatSeconds = 15;

/** Comment that a gateway with a longer interval writes after `: open`, so that clients wait longer for its heartbeats; otherwise nothing. */
export function encodeHeartbeatInterval(heartbeatSeconds: number): string {
  return heartbeatSeconds > defaultHeartbeatSeconds
    ? encodeComment(`heartbeat-seconds ${Math.ceil(heartbeatSeconds)}`)
    : "";
}
