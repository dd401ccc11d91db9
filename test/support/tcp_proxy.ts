import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { resetSocket } from "../../shared/reset_socket.ts";
import { createLane, type Flow, type Network } from "./tcp_lane.ts";

/**
 * A loopback proxy in front of any TCP server, that can break the connection in every way in which networks do.
 *
 * What is stalled or slow is held in the proxy, and is gone when its sender resets the connection: as in a network that
 * lost the packets and would only get them by a retransmission.
 */
export interface TcpProxy {
  readonly host: string;
  readonly port: number;
  /** Connections that are open now. */
  readonly openCount: number;
  /** Connections that were ever accepted, those refused by `refuse` excepted. */
  readonly acceptedCount: number;
  /** Resets every open connection on both sides; new ones go through. */
  cut(): void;
  /** Ends every open connection with FIN, on both sides. */
  end(): void;
  /** Cuts, and resets every new connection at once, until `restore`. */
  refuse(): void;
  /** Nothing passes any more, on open and on new connections, and neither side is told, until `restore`. */
  stall(): void;
  /** At most so many bytes a second in each direction of each connection, until `restore`. */
  slow(bytesPerSecond: number): void;
  /** Holds each chunk for so long, in each direction, until `restore`. */
  delay(ms: number): void;
  /** The next answer is lost: its request arrives and is carried out, and the connection breaks in the place of the answer. */
  loseNextAnswer(): void;
  /** Of each open and each new connection, passes so many more bytes from the server, then ends it with FIN; until `restore`. */
  truncate(bytes: number): void;
  /** Passes everything again, what was held first. */
  restore(): void;
  /** Resolves when as many connections are open. */
  untilOpenCount(count: number): Promise<void>;
  close(): Promise<void>;
}

export async function startTcpProxy(target: { readonly host: string; readonly port: number }): Promise<TcpProxy> {
  const pairs = new Set<Pair>();
  const waiting = new Set<() => void>();
  let flow: Flow = "open";
  let isRefusing = false;
  let truncation = Infinity;
  let acceptedCount = 0;
  const network: Network = { delayMs: 0, answersToLose: 0 };

  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => {
    client.on("error", () => undefined);
    if (isRefusing) {
      client.resetAndDestroy();
      return;
    }
    acceptedCount += 1;
    const upstream = connect({ ...target, allowHalfOpen: true });
    upstream.on("error", () => undefined);
    const pair = createPair(client, upstream, { flow, network }, () => {
      pairs.delete(pair);
      changed();
    });
    pair.truncate(truncation);
    pairs.add(pair);
    changed();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("Cannot start the proxy: it has no port");

  return {
    host: "127.0.0.1",
    port: address.port,
    get openCount() {
      return pairs.size;
    },
    get acceptedCount() {
      return acceptedCount;
    },
    cut: resetAll,
    end() {
      for (const pair of Array.from(pairs)) pair.end();
    },
    refuse() {
      isRefusing = true;
      resetAll();
    },
    stall: () => setFlow("stalled"),
    slow: (bytesPerSecond) => setFlow({ bytesPerSecond }),
    truncate: setTruncation,
    delay(ms) {
      network.delayMs = ms;
    },
    loseNextAnswer() {
      network.answersToLose += 1;
    },
    restore() {
      isRefusing = false;
      network.delayMs = 0;
      network.answersToLose = 0;
      setTruncation(Infinity);
      setFlow("open");
    },
    async untilOpenCount(count) {
      while (pairs.size !== count) await new Promise<void>((resolve) => void waiting.add(resolve));
    },
    async close() {
      isRefusing = true;
      server.close();
      resetAll();
      await once(server, "close");
    },
  };

  function setFlow(next: Flow): void {
    flow = next;
    for (const pair of Array.from(pairs)) pair.setFlow(next);
  }

  function setTruncation(bytes: number): void {
    truncation = bytes;
    for (const pair of Array.from(pairs)) pair.truncate(bytes);
  }

  function resetAll(): void {
    for (const pair of Array.from(pairs)) pair.reset();
  }

  function changed(): void {
    for (const resolve of waiting) resolve();
    waiting.clear();
  }
}

interface Pair {
  setFlow(flow: Flow): void;
  truncate(bytes: number): void;
  end(): void;
  reset(): void;
}

/** Both directions of one connection. It is over when both sockets are closed, or one was reset. */
function createPair(
  client: Socket,
  upstream: Socket,
  { flow, network }: { readonly flow: Flow; readonly network: Network },
  onOver: () => void,
): Pair {
  let isOver = false;
  let isAnswerDue = false;
  const up = createLane(client, upstream, {
    flow,
    network,
    breakConnection: reset,
    isLost() {
      isAnswerDue = true;
      return false;
    },
  });
  const down = createLane(upstream, client, {
    flow,
    network,
    breakConnection: reset,
    isLost() {
      const isAnswer = isAnswerDue;
      isAnswerDue = false;
      if (!isAnswer || network.answersToLose === 0) return false;
      network.answersToLose -= 1;
      return true;
    },
  });
  for (const socket of [client, upstream]) {
    socket.setNoDelay(true);
    socket.once("error", reset);
    socket.once("close", () => {
      if (client.destroyed && upstream.destroyed) over();
    });
  }
  return {
    setFlow(next) {
      up.setFlow(next);
      down.setFlow(next);
    },
    truncate: (bytes) => down.truncate(bytes),
    end() {
      client.end();
      upstream.end();
      client.destroySoon();
      upstream.destroySoon();
    },
    reset,
  };

  function reset(): void {
    over();
    for (const socket of [client, upstream]) {
      if (socket.connecting) socket.destroy();
      else if (!socket.destroyed) resetSocket(socket);
    }
  }

  function over(): void {
    if (isOver) return;
    isOver = true;
    up.drop();
    down.drop();
    onOver();
  }
}
