import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** With the streams of a process these are fewer than the open files that a unit of systemd or a container gives it. */
const defaultMaxIdle = 8192;

/**
 * Bounds the connections on which nothing is being answered: those that have sent no whole head yet, and those that are kept for another
 * request. The one that has been idle longest makes room, so that a flood of connections costs its sender's, and no new client is refused.
 */
export function boundIdleConnections(servers: readonly Server[], maxIdle = defaultMaxIdle): void {
  /** A set gives its members in the order in which they were added. */
  const idle = new Set<Socket>();
  const rest = (socket: Socket) => {
    idle.add(socket);
    if (idle.size <= maxIdle) return;
    const [longest] = idle;
    if (longest === undefined) return;
    idle.delete(longest);
    longest.destroy();
  };
  for (const server of servers) {
    server.on("connection", (socket: Socket) => {
      rest(socket);
      socket.once("close", () => idle.delete(socket));
    });
    server.on("request", ({ socket }: IncomingMessage, outgoing: ServerResponse) => {
      idle.delete(socket);
      outgoing.once("close", () => {
        if (!socket.destroyed) rest(socket);
      });
    });
  }
}
