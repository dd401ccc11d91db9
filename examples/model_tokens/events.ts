import type { Publisher } from "../../shared/send_event.ts";

type Delta = { readonly completion_id: string; readonly index: number; readonly text: string };
type CompletionEnd = { readonly completion_id: string; readonly tokens: number };

export const completionEvents = ({ sendEvent }: Publisher) => ({
  publishCompletionDelta: (channel: string, payload: Delta) => sendEvent(channel, "completion.delta", payload),
  publishCompletionEnd: (channel: string, payload: CompletionEnd) => sendEvent(channel, "completion.end", payload),
});
