import type { MessagePublisher } from "./broker.ts";
import { channelNameProblem, parseChannelName } from "./channel_name.ts";
import { encodeChannelEvent, toMessage, type EventType, type PayloadValue, type RequiredFields } from "./event.ts";

/**
 * Publishes one event to every stream that is open on the channel; resolves when the broker has taken it.
 *
 * Rejects with `TypeError` for a malformed channel, an unknown verb, a payload that is not flat or is over 64 KiB, and a
 * terminal event (`*.end`) without its resource's UUID: what the compiler sees, it refuses as well. The terminal event
 * of the channel (`scan.end` on `scan:…`) names the channel's resource. Rejects with `AppError("unavailable")` when the
 * broker cannot be reached.
 */
export type SendEvent = <
  const Type extends EventType,
  Payload extends { readonly [Key in keyof Payload]: PayloadValue },
>(
  channel: string,
  type: Type,
  payload: Payload & NoInfer<RequiredFields<Type>>,
) => Promise<void>;

/** The object that a feature's publish functions are made from. */
export interface Publisher {
  readonly sendEvent: SendEvent;
}

export function createPublisher(broker: MessagePublisher): Publisher {
  return {
    async sendEvent(channel, type, payload) {
      const name = parseChannelName(channel);
      if (name === null) {
        throw new TypeError(`Cannot publish an event: not the name of a channel: ${channelNameProblem(channel)}`);
      }
      await broker.publish(channel, toMessage(encodeChannelEvent(name, type, payload)));
    },
  };
}
