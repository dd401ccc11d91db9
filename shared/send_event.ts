import type { Publisher } from "./broker.ts";
import { parseChannelName } from "./channel_name.ts";
import { encodeEvent, toMessage, type EventType, type PayloadValue, type RequiredFields } from "./event.ts";

/**
 * Publishes one event to every stream that is open on the channel; resolves when the broker has taken it.
 *
 * Throws `TypeError` for a malformed channel, an unknown verb, a payload that is not flat or is over 64 KiB, and a
 * terminal event (`*.end`) without its resource's UUID: what the compiler sees, it refuses as well. Rejects with
 * `AppError("unavailable")` when the broker cannot be reached.
 */
export async function sendEvent<
  const Type extends EventType,
  Payload extends { readonly [Key in keyof Payload]: PayloadValue },
>(
  publisher: Publisher,
  channel: string,
  eventType: Type,
  payload: Payload & NoInfer<RequiredFields<Type>>,
): Promise<void> {
  if (parseChannelName(channel) === null) {
    throw new TypeError("Cannot publish an event: the channel is not <prefix>:<tenant_id>:<resource_id>");
  }
  await publisher.publish(channel, toMessage(encodeEvent(eventType, payload)));
}
