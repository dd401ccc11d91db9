import type { Publisher } from "../../shared/broker.ts";
import { sendEvent } from "../../shared/send_event.ts";

type Delta = { readonly completion_id: string; readonly index: number; readonly text: string };
type CompletionEnd = { readonly completion_id: string; readonly tokens: number };

export function publishCompletionDelta(publisher: Publisher, channel: string, payload: Delta): Promise<void> {
  return sendEvent(publisher, channel, "completion.delta", payload);
}

export function publishCompletionEnd(publisher: Publisher, channel: string, payload: CompletionEnd): Promise<void> {
  return sendEvent(publisher, channel, "completion.end", payload);
}
