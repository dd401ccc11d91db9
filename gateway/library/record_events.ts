import { parseMessage } from "../../shared/event.ts";
import { createPublisher, type Publisher } from "../../shared/send_event.ts";

export interface RecordedEvent {
  readonly channel: string;
  readonly type: string | undefined;
  readonly data: unknown;
}

/** A publisher that keeps what is published, as its readers get it. */
export function recordEvents(): Publisher & { readonly events: readonly RecordedEvent[] } {
  const events: RecordedEvent[] = [];
  const { sendEvent } = createPublisher({
    async publish(channel, message) {
      for (const { type, data } of parseMessage(message) ?? []) events.push({ channel, type, data: JSON.parse(data) });
    },
  });
  return { sendEvent, events };
}
