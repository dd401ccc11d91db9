import { connect, createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { resetSocket } from "../../shared/reset_socket.ts";
import { listen } from "./listen.ts";

export type TcpProxy = Awaited<ReturnType<typeof startTcpProxy>>;

/** One client's connection, with the one to the server. */
interface Link {
  readonly client: Socket;
  readonly upstream: Socket;
  /** How many bytes from the server may still pass. */
  bytesLeft: number;
  isAnswerDue: boolean;
  isOver: boolean;
}

/**
 * A loopback proxy in front of any TCP server, that can break the connection in every way in which networks do.
 *
 * Bytes that are stalled are held in the proxy, and are gone when their sender resets the connection: as in a network
 * that lost the packets and would only get them by a retransmission.
 */
export async function startTcpProxy(target: { readonly host: string; readonly port: number }) {
  const links = new Set<Link>();
  let delayMs = 0;
  let answersToLose = 0;
  let isRefusing = false;
  let truncation = Infinity;
  let acceptedCount = 0;
  /** Resolves when nothing is stalled any more; null: nothing is. */
  let passing: PromiseWithResolvers<void> | null = null;

  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => {
    client.on("error", () => undefined);
    if (isRefusing) {
      client.resetAndDestroy();
      return;
    }
    acceptedCount += 1;
    const upstream = connect({ ...target, allowHalfOpen: true });
    const link: Link = { client, upstream, bytesLeft: truncation, isAnswerDue: false, isOver: false };
    links.add(link);
    for (const socket of [client, upstream]) {
      socket.setNoDelay(true);
      socket.on("error", () => reset(link));
      socket.once("close", () => {
        if (client.destroyed && upstream.destroyed) finish(link);
      });
    }
    carry(link, client, upstream);
    carry(link, upstream, client);
  });
  const { host, port, close } = await listen(server);

  /** One direction: what it holds goes out in order, the end of the stream last. */
  function carry(link: Link, from: Socket, to: Socket): void {
    const isAnswer = from === link.upstream;
    let order = Promise.resolve();
    const later = (work: () => void) => {
      const dueMs = performance.now() + delayMs;
      order = order.then(async () => {
        const waitMs = dueMs - performance.now();
        if (waitMs > 0) await sleep(waitMs);
        await passing?.promise;
        if (!link.isOver) work();
      });
    };
    from.on("data", (chunk: Buffer) => {
      if (!isAnswer) link.isAnswerDue = true;
      else if (link.isAnswerDue) {
        link.isAnswerDue = false;
        if (answersToLose > 0) {
          answersToLose -= 1;
          // In the next turn: a reset would take with it what was written just now.
          later(() => void setImmediate(() => reset(link)));
          return;
        }
      }
      later(() => pass(chunk));
    });
    from.once("end", () => later(() => void to.end()));
    to.on("drain", () => from.resume());
    from.resume();

    function pass(chunk: Buffer): void {
      const size = isAnswer ? Math.min(chunk.length, link.bytesLeft) : chunk.length;
      if (size > 0 && !to.destroyed && !to.write(chunk.subarray(0, size))) from.pause();
      if (!isAnswer) return;
      link.bytesLeft -= size;
      if (link.bytesLeft > 0) return;
      to.end();
      from.destroy();
    }
  }

  function truncate(bytes: number): void {
    truncation = bytes;
    for (const link of links) link.bytesLeft = bytes;
  }

  function finish(link: Link): void {
    link.isOver = true;
    links.delete(link);
  }

  function reset(link: Link): void {
    finish(link);
    for (const socket of [link.client, link.upstream]) {
      if (socket.connecting) socket.destroy();
      else if (!socket.destroyed) resetSocket(socket);
    }
  }

  function cut(): void {
    for (const link of links) reset(link);
  }

  return {
    host,
    port,
    /** Connections that are open now. */
    openCount: () => links.size,
    /** Connections that were ever accepted, those refused by `refuse` excepted. */
    acceptedCount: () => acceptedCount,
    /** Resets every open connection on both sides; new ones go through. */
    cut,
    /** Ends every open connection with FIN, on both sides. */
    end() {
      for (const { client, upstream } of links) {
        client.end();
        upstream.end();
        client.destroySoon();
        upstream.destroySoon();
      }
    },
    /** Cuts, and resets every new connection at once, until `restore`. */
    refuse() {
      isRefusing = true;
      cut();
    },
    /** Nothing passes any more, on open and on new connections, and neither side is told, until `restore`. */
    stall: () => void (passing ??= Promise.withResolvers()),
    /** Holds each chunk for so long, in each direction, until `restore`. */
    delay: (ms: number) => void (delayMs = ms),
    /** The next answer is lost: its request arrives and is carried out, and the connection breaks in the place of the answer. */
    loseNextAnswer: () => void (answersToLose += 1),
    /** Passes this number of bytes more from the server on each open and each new connection, then ends it with FIN; until `restore`. */
    truncate,
    /** Passes everything again, what was held first. */
    restore() {
      isRefusing = false;
      delayMs = 0;
      answersToLose = 0;
      truncate(Infinity);
      passing?.resolve();
      passing = null;
    },
    async close() {
      isRefusing = true;
      const closed = close();
      cut();
      await closed;
    },
  };
}
