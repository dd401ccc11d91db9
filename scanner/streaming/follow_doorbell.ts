import { pause } from "../../shared/abortable.ts";
import { subscribe } from "../../shared/client/subscribe.ts";
import type { MonitorEvents } from "../../shared/schemas/monitor.ts";

/** After the stream was refused. */
const refusedPauseMs = 60_000;

export interface FollowDoorbellOptions {
  /** For the gateway, without a path. */
  readonly url: string;
  readonly apiKey: string;
  readonly monitorId: string;
  readonly signal: AbortSignal;
  readonly onDoorbell: () => void;
  /** Called once with one line for a person. */
  readonly warn: (message: string) => void;
}

/** Hears a monitor's doorbell until the signal aborts. It may have been rung while the stream was away, so that its return is a ring. */
export async function followDoorbell(options: FollowDoorbellOptions): Promise<void> {
  const { url, apiKey, monitorId, signal, onDoorbell, warn } = options;
  let hasWarned = false;
  let wasOpen = false;
  while (!signal.aborted) {
    const { finished } = subscribe<MonitorEvents>(new URL(`/api/v1/monitors/${monitorId}/event-stream`, url), {
      apiKey,
      signal,
      onOpen() {
        if (wasOpen) onDoorbell();
        wasOpen = true;
      },
      onEvent: ({ type, data }) => {
        if (type === "monitor.progress" && data.doorbell) onDoorbell();
      },
    });
    const outcome = await finished;
    if (outcome.state !== "failed") return;
    if (!hasWarned) warn(`Cannot receive the event hook's calls from the gateway: ${outcome.error.message}`);
    hasWarned = true;
    await pause(refusedPauseMs, [signal]);
  }
}
