import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** No browser and no proxy sends the next request of a connection before it has the answer to the one before. */
const maxWaiting = 16;

interface Turn {
  isTaken: boolean;
  readonly waiting: (() => void)[];
}

/**
 * A request of a connection begins when the one before it was answered. Node would begin all of them at once, so that a client of one
 * connection could have thousands under way; the answers are sent in this order anyway.
 */
export function inTurn(listener: RequestListener): RequestListener {
  const turns = new WeakMap<Socket, Turn>();
  return (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const { socket } = incoming;
    const turn = turns.get(socket) ?? { isTaken: false, waiting: [] };
    turns.set(socket, turn);
    const begin = () => {
      turn.isTaken = true;
      outgoing.once("close", () => {
        turn.isTaken = false;
        if (!socket.destroyed) turn.waiting.shift()?.();
      });
      listener(incoming, outgoing);
    };
    if (!turn.isTaken) begin();
    else if (turn.waiting.length < maxWaiting) turn.waiting.push(begin);
    else cutOff(socket);
  };
}

/**
 * Closes the connection of a client that floods it. Node would parse hundreds of requests more that have come with these, and make and
 * destroy as many answers; its parser stops when it hears that the connection now speaks another protocol.
 */
function cutOff(socket: Socket): void {
  const { parser } = socket as { readonly parser?: { onIncoming: () => number } | null };
  if (parser !== undefined && parser !== null) parser.onIncoming = () => anotherProtocol;
  socket.destroy();
}

/** As `parserOnIncomingServer` of Node answers an upgrade. */
const anotherProtocol = 2;
