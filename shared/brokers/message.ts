/** The longest message, in bytes of UTF-8, that any adapter takes or hands over: well above the largest event. */
export const maxMessageBytes = 1_048_576;

/**
 * Published on a subscribed channel to learn whether its subscription still lives. Every adapter swallows it: another
 * process's ping travels on the same channel.
 */
export const pingMessage = "scanstream:ping";

const encoder = new TextEncoder();

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
  if (isTooLong(message)) throw new RangeError(`Cannot publish: the message is longer than ${maxMessageBytes} bytes`);
}

export function isTooLong(message: string): boolean {
  // A UTF-16 unit is at most three bytes, so most messages need no encoding to be measured.
  return message.length * 3 > maxMessageBytes && encoder.encode(message).byteLength > maxMessageBytes;
}
