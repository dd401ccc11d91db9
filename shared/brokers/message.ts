import type { MessagePublisher } from "../broker.ts";
import { isLongerThan } from "../text.ts";
import { unavailable } from "./unavailable.ts";

/** The longest message, in bytes of UTF-8, that any adapter takes or hands over: well above the largest event. */
export const maxMessageBytes = 1_048_576;

/** Published but not yet taken by the broker: over this, a publisher that does not await is refused. */
const maxWaitingChars = 16_000_000;

/**
 * Published on a subscribed channel to learn whether its subscription still lives. Every adapter swallows it: another
 * process's ping travels on the same channel.
 */
export const pingMessage = "scanstream:ping";

/** Throws `TypeError` or `RangeError` for a message that some adapter could not carry unchanged. */
export function requireMessage(message: string): void {
  if (/[\r\n]/.test(message)) {
    throw new TypeError("Cannot publish: the message has a line break: expected one line of text");
  }
  if (!message.isWellFormed()) {
    throw new TypeError("Cannot publish: the message has a lone surrogate: expected text that UTF-8 can carry");
  }
  if (message === pingMessage) {
    throw new TypeError(`Cannot publish: the message ${JSON.stringify(pingMessage)} is reserved`);
  }
  if (isLongerThan(message, maxMessageBytes)) {
    throw new RangeError(`Cannot publish: the message is longer than ${maxMessageBytes} bytes`);
  }
}

/** As `publish`, but rejects at once while too much waits for the broker. */
export function boundWaiting(publish: MessagePublisher["publish"]): MessagePublisher["publish"] {
  let waitingChars = 0;
  return async (channel, message) => {
    if (waitingChars > 0 && waitingChars + message.length > maxWaitingChars) {
      throw unavailable("Cannot publish: too many messages wait for the broker", { retryAfterSeconds: 1 });
    }
    waitingChars += message.length;
    try {
      await publish(channel, message);
    } finally {
      waitingChars -= message.length;
    }
  };
}
