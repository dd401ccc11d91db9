import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { makePayload, type PublishOptions } from "../bench_server.ts";

export interface HttpPublisher {
  /** Resolves when the events wait for a free connection; how far they came is what the streams receive. */
  publish(options: PublishOptions): Promise<void>;
  stop(): void;
}

export interface PublishTarget {
  readonly port: number;
  readonly path: string;
  readonly headers?: readonly string[];
  /** The request's body for an event. */
  body(payload: string): string;
}

const connectionCount = 4;
/** Less than any server keeps an idle connection: Node, with 5 s, is the first to close one. */
const keepIdleMs = 2000;

interface Connection {
  readonly socket: Socket;
  usedMs: number;
}

/** Keep-alive connections that each send an event, and wait for its answer before the next: as fast as the server takes them. */
export function createHttpPublisher(target: PublishTarget): HttpPublisher {
  const idle: (Connection | null)[] = Array.from({ length: connectionCount }, () => null);
  const sockets = new Set<Socket>();
  const waiting: PublishOptions[] = [];
  let failure: Error | null = null;
  const pump = () => {
    while (idle.length > 0) {
      const options = waiting.shift();
      if (options === undefined) return;
      send(idle.pop() ?? null, options).then(
        (connection) => {
          idle.push(connection);
          pump();
        },
        (error: Error) => (failure = error),
      );
    }
  };
  const send = async (kept: Connection | null, { payloadBytes }: PublishOptions) => {
    const isFresh = kept !== null && performance.now() - kept.usedMs < keepIdleMs;
    if (!isFresh) kept?.socket.destroy();
    const connection = isFresh ? kept : { socket: await openConnection(target.port, sockets), usedMs: 0 };
    // Stamped when it is sent, not when it began to wait.
    await exchange(connection.socket, toRequest(target, target.body(makePayload(payloadBytes))));
    connection.usedMs = performance.now();
    return connection;
  };
  return {
    async publish(options) {
      if (options.channels !== 1) throw new RangeError("Cannot publish: this publisher knows one channel");
      if (failure !== null) throw failure;
      for (let event = 0; event < options.burst; event += 1) waiting.push(options);
      pump();
    },
    stop() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

async function openConnection(port: number, sockets: Set<Socket>): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  sockets.add(socket);
  socket.once("close", () => sockets.delete(socket)).on("error", () => socket.destroy());
  await once(socket, "connect");
  socket.setNoDelay();
  return socket;
}

function toRequest({ port, path, headers = [] }: PublishTarget, body: string): string {
  const lines = [
    `POST ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    ...headers,
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return `${lines.join("\r\n")}\r\n\r\n${body}`;
}

/** Resolves with the end of the answer; rejects when it is no 2xx, or does not say its length. */
function exchange(connection: Socket, request: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = "";
    const settle = (error?: Error) => {
      connection.off("data", read).off("close", closed);
      if (error === undefined) resolve();
      else reject(error);
    };
    const closed = () => settle(new Error(`The server closed the connection of its publisher: ${text.slice(0, 300)}`));
    const read = (bytes: Buffer) => {
      text += bytes.toString("latin1");
      const end = text.indexOf("\r\n\r\n");
      if (end < 0) return;
      const head = text.slice(0, end);
      if (!head.startsWith("HTTP/1.1 2"))
        return settle(new Error(`The server refused an event: ${text.slice(0, 300)}`));
      const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
      const isWhole =
        length === undefined
          ? text.endsWith("\r\n0\r\n\r\n") || head.startsWith("HTTP/1.1 204")
          : text.length >= end + 4 + Number(length);
      if (isWhole) settle();
    };
    connection.on("data", read).once("close", closed);
    connection.write(request);
  });
}
