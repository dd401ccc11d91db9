import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** An HTTP client that shows every byte, and reads or does not read as it is told. */
export interface RawClient {
  readonly socket: Socket;
  /** Everything received so far, as it came. */
  raw(): string;
  receivedBytes(): number;
  status(): number;
  headers(): ReadonlyMap<string, string>;
  /** The body without its transfer coding. */
  body(): string;
  /** True when the chunked body came to its proper end. */
  isComplete(): boolean;
  /** Resolves once the condition holds; rejects after ten seconds with what was received. */
  until(condition: () => boolean): Promise<void>;
  /** Resolves with the body once it holds the text. */
  untilBody(text: string): Promise<string>;
  /** Resolves when the server has closed the connection. */
  closed(): Promise<void>;
  /** Forgets what was received, for the next answer on the connection. */
  next(): void;
}

export interface RawRequest {
  readonly port: number;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly version?: "1.0" | "1.1";
  readonly method?: string;
  /** Not a byte is taken from the socket until `socket.resume()`. */
  readonly isPaused?: boolean;
}

export async function sendRaw(request: RawRequest): Promise<RawClient> {
  const socket = connect(request.port, "127.0.0.1");
  await once(socket, "connect");
  let received: Buffer[] = [];
  let onChange = () => {};
  let isClosed = false;
  socket.on("data", (bytes) => {
    received.push(bytes);
    onChange();
  });
  socket.on("close", () => {
    isClosed = true;
    onChange();
  });
  // A reset is a way of closing: what it means is the test's to say.
  socket.on("error", () => {});
  if (request.isPaused === true) socket.pause();
  socket.write(requestText(request));

  const client: RawClient = {
    socket,
    raw() {
      received = [Buffer.concat(received)];
      return received[0]?.toString("latin1") ?? "";
    },
    receivedBytes: () => received.reduce((sum, bytes) => sum + bytes.byteLength, 0),
    status: () => Number(/^HTTP\/1\.1 (\d{3})/.exec(client.raw())?.[1] ?? 0),
    headers: () => parseHeaders(client.raw()),
    body() {
      const raw = client.raw();
      const bytes = Buffer.from(raw.slice(raw.indexOf("\r\n\r\n") + 4), "latin1");
      return client.headers().get("transfer-encoding") === "chunked" ? dechunk(bytes).text : bytes.toString();
    },
    isComplete() {
      // Much cheaper than looking through a large answer again and again.
      if (!received.at(-1)?.subarray(-5).equals(lastChunk)) return false;
      const raw = client.raw();
      return dechunk(Buffer.from(raw.slice(raw.indexOf("\r\n\r\n") + 4), "latin1")).isComplete;
    },
    async until(condition) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const timer = setTimeout(
        () => reject(new Error(`Not within a minute; received so far: ${JSON.stringify(client.raw().slice(-2000))}`)),
        60_000,
      );
      // Conditions look at everything received: not with every packet of a large answer.
      let isDue = false;
      const check = () => {
        isDue = false;
        if (condition()) resolve();
      };
      onChange = () => {
        if (!isDue) setTimeout(check, received.length > 1 ? 5 : 0);
        isDue = true;
      };
      check();
      await promise.finally(() => clearTimeout(timer));
    },
    async untilBody(text) {
      await client.until(() => client.body().includes(text));
      return client.body();
    },
    closed: () => client.until(() => isClosed),
    next() {
      received = [];
    },
  };
  return client;
}

export function requestText({ path, headers = {}, version = "1.1", method = "GET" }: RawRequest): string {
  const lines = Object.entries({ host: "127.0.0.1", ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/${version}\r\n${lines.join("")}\r\n`;
}

function parseHeaders(raw: string): ReadonlyMap<string, string> {
  const head = raw.slice(0, Math.max(0, raw.indexOf("\r\n\r\n")));
  const headers = new Map<string, string>();
  for (const line of head.split("\r\n").slice(1)) {
    const colon = line.indexOf(":");
    headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
  }
  return headers;
}

const lastChunk = Buffer.from("0\r\n\r\n");

/** Strict: a size that is wrong by one byte is an error, not a guess. */
function dechunk(bytes: Buffer): { readonly text: string; readonly isComplete: boolean } {
  const parts: Buffer[] = [];
  let at = 0;
  for (;;) {
    const lineEnd = bytes.indexOf("\r\n", at);
    const done = { text: Buffer.concat(parts).toString(), isComplete: false };
    if (lineEnd === -1) return done;
    const line = bytes.toString("latin1", at, lineEnd);
    if (!/^[0-9a-f]+$/i.test(line)) throw new Error(`Not a chunk size: ${JSON.stringify(line)}`);
    const size = Number.parseInt(line, 16);
    const end = lineEnd + 2 + size;
    if (bytes.length < end + 2) return done;
    if (bytes.toString("latin1", end, end + 2) !== "\r\n") throw new Error("A chunk does not end with CRLF");
    if (size === 0) return { ...done, isComplete: true };
    parts.push(bytes.subarray(lineEnd + 2, end));
    at = end + 2;
  }
}
