import { setImmediate as turn } from "node:timers/promises";
import type { HttpBindings } from "@hono/node-server";

/**
 * True for a request whose client has already gone. In a storm requests for streams wait until their clients give up and come
 * again: answering it would cost as much as a live stream. The end of a connection is read in
 * the turn of the event loop after its request.
 */
export async function isClientGone({ incoming, outgoing }: HttpBindings): Promise<boolean> {
  await turn();
  await turn();
  return outgoing.destroyed || incoming.socket.readableEnded;
}
