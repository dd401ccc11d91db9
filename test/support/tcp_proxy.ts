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

const slowTickMs = 20;

/**
 * A loopback proxy in front of any TCP server, that can break the connection in every way in which networks do.
 *
 * Bytes that are stalled or slow are held in the proxy, and are gone when their sender resets the connection: as in a network
 * that lost the packets and would only get them by a retransmission.
 */
export async function startTcpProxy(target: { readonly host: string; readonly port: number }) {
  const links = new Set<Link>();
  const pace = { bytesPerSecond: Infinity };
  let delayMs = 0;
  let answersToLose = 0;
  let isRefusing = false;
  let truncation = Infinity;
  let acceptedCount = 0;
  /** Resolves at the next change of the pace. */
  let changed = Promise.withResolvers<void>();

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
    const later = (work: () => void | Promise<void>) => {
      const dueMs = performance.now() + delayMs;
      order = order.then(async () => {
        const waitMs = dueMs - performance.now();
        if (waitMs > 0) await sleep(waitMs);
        while (pace.bytesPerSecond === 0 && !link.isOver) await changed.promise;
        if (!link.isOver) await work();
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

    async function pass(chunk: Buffer): Promise<void> {
      for (let rest = chunk; rest.length > 0 && !link.isOver && !to.destroyed;) {
        const allowed = Math.ceil((pace.bytesPerSecond * slowTickMs) / 1000);
        const size = Math.min(rest.length, allowed, isAnswer ? link.bytesLeft : Infinity);
        if (size > 0 && !to.write(rest.subarray(0, size))) from.pause();
        rest = rest.subarray(size);
        if (isAnswer) link.bytesLeft -= size;
        if (isAnswer && link.bytesLeft <= 0) {
          to.end();
          from.destroy();
          return;
        }
        if (pace.bytesPerSecond === 0) await changed.promise;
        else if (rest.length > 0) await sleep(slowTickMs);
      }
    }
  }

  function setPace(next: number): void {
    pace.bytesPerSecond = next;
    changed.resolve();
    changed = Promise.withResolvers();
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
    stall: () => setPace(0),
    /** Bounds the bytes a second in each direction of each connection, until `restore`. */
    slow: setPace,
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
      setPace(Infinity);
    },
    async close() {
      isRefusing = true;
      const closed = close();
      cut();
      await closed;
    },
  };
}
