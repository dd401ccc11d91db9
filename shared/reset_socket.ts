/** A TCP socket of `node:net`. */
export interface ResettableSocket {
  readonly writableEnded: boolean;
  readonly writableFinished: boolean;
  readonly writableLength: number;
  destroy(): unknown;
  resetAndDestroy(): unknown;
}

/**
 * Closes a connection with a reset, so that what the kernel still holds is not sent any more.
 *
 * Not while its own end is on the way out: Node (24.21) marks such a socket as closed and does not close it, and a process that
 * has one never exits. What had to be sent is with the kernel by then, and it is closed without a reset.
 */
export function resetSocket(socket: ResettableSocket): void {
  const isEnding = socket.writableEnded && !socket.writableFinished && socket.writableLength === 0;
  if (isEnding) socket.destroy();
  else socket.resetAndDestroy();
}
