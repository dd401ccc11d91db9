import type { IncomingMessage, ServerResponse } from "node:http";

/** What is left of a smaller body is read, so that the connection can be used again. */
const maxBytesReadAfterAnswer = 1_048_576;
/** A client that still sends has this long to see the answer. */
const lingerMs = 500;

/**
 * A large body that was refused is not read after the answer, either: a client that sends one again and again would keep the process busy
 * with bytes that nobody wants. Its connection ends with the answer, and says so.
 */
export function leaveUnread(incoming: IncomingMessage, outgoing: ServerResponse): void {
  if (Number(incoming.headers["content-length"] ?? 0) <= maxBytesReadAfterAnswer) return;
  const { socket } = incoming;
  const { shouldKeepAlive } = outgoing;
  const destroySoon = socket.destroySoon.bind(socket);
  outgoing.shouldKeepAlive = false;
  // Node calls it when the answer was written.
  socket.destroySoon = () => {
    socket.pause();
    // Node reads on, to throw away what comes.
    socket.resume = () => socket;
    setTimeout(() => socket.destroy(), lingerMs).unref();
  };
  incoming.once("end", () => {
    socket.destroySoon = destroySoon;
    if (!outgoing.headersSent) outgoing.shouldKeepAlive = shouldKeepAlive;
  });
}
