import { createHash } from "node:crypto";
import type { Server } from "node:http";
import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";

export interface WebSocketTunnel {
  readonly path: string;
  readonly target: { readonly host: string; readonly port: number };
  readonly onOpen: () => void;
}

/** Each WebSocket of the path is a TCP connection to the target: what binary frames hold is what TCP carries. */
export function acceptWebSockets(server: Server, { path, target, onOpen }: WebSocketTunnel): void {
  server.on("upgrade", (request, client: Duplex, head: Buffer) => {
    const key = request.headers["sec-websocket-key"];
    if (new URL(request.url ?? "", "http://proxy").pathname !== path || key === undefined) {
      client.end("HTTP/1.1 404 Not Found\r\n\r\n");
      return;
    }
    // https://www.rfc-editor.org/rfc/rfc6455#section-1.3
    const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
    client.write(
      `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: ${accept}\r\n\r\n`,
    );
    onOpen();
    tunnel(client, connect(target), head);
  });
}

function tunnel(client: Duplex, upstream: Socket, head: Buffer): void {
  let received = head;
  const read = (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    for (let frame = parseFrame(received); frame !== null; frame = parseFrame(received)) {
      received = received.subarray(frame.bytes);
      if (frame.opcode === opcodes.close) client.end(frameOf(opcodes.close, frame.payload));
      else if (frame.opcode === opcodes.ping) client.write(frameOf(opcodes.pong, frame.payload));
      else if (frame.opcode !== opcodes.pong) upstream.write(frame.payload);
    }
  };
  client.on("data", read);
  upstream.on("data", (chunk) => client.write(frameOf(opcodes.binary, chunk)));
  upstream.on("end", () => client.end(frameOf(opcodes.close, Buffer.alloc(0))));
  for (const [one, other] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    one.on("error", () => other.destroy());
    one.on("close", () => other.destroy());
  }
  read(Buffer.alloc(0));
}

const opcodes = { binary: 2, close: 8, ping: 9, pong: 10 };

interface Frame {
  readonly opcode: number;
  readonly payload: Buffer;
  /** How many bytes of the input it takes. */
  readonly bytes: number;
}

/** The first frame of a client, whose payload is masked; null until it is there as a whole. */
function parseFrame(input: Buffer): Frame | null {
  if (input.length < 6) return null;
  const short = input.readUInt8(1) & 0x7f;
  const sizeBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
  const start = 2 + sizeBytes + 4;
  if (input.length < start) return null;
  const length = sizeBytes === 0 ? short : sizeBytes === 2 ? input.readUInt16BE(2) : Number(input.readBigUInt64BE(2));
  if (input.length < start + length) return null;
  const mask = input.subarray(start - 4, start);
  const payload = Buffer.from(
    input.subarray(start, start + length).map((byte, index) => byte ^ (mask[index % 4] ?? 0)),
  );
  return { opcode: input.readUInt8(0) & 0x0f, payload, bytes: start + length };
}

function frameOf(opcode: number, payload: Buffer): Buffer {
  const { length } = payload;
  const head = length < 126 ? Buffer.alloc(2) : length < 65_536 ? Buffer.alloc(4) : Buffer.alloc(10);
  head.writeUInt8(0x80 | opcode, 0);
  head.writeUInt8(length < 126 ? length : length < 65_536 ? 126 : 127, 1);
  if (head.length === 4) head.writeUInt16BE(length, 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, payload]);
}
