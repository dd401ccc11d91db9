import { subscribe, type StreamEvent, type SubscribeOptions } from "./subscribe.ts";

/**
 * Resolves with the terminal event, or with `null` when the resource had ended before the stream could open. Rejects
 * with `SubscribeError` when it cannot be followed, and with the signal's reason when that aborts first.
 */
export async function waitForEnd<Events extends object>(
  url: string | URL,
  options: SubscribeOptions<Events> = {},
): Promise<StreamEvent<Events> | null> {
  const end = await subscribe(url, options).finished;
  if (end.state === "failed") throw end.error;
  if (end.state === "ended") return end.event;
  throw options.signal?.reason ?? new DOMException("The subscription was closed", "AbortError");
}
