import { createServer } from "node:http";
import { createServer as createTcpServer } from "node:net";
import process from "node:process";

// The least servers of event streams on Deno: `deno run -A bench/deno_servers.ts NAME` opens what is asked for, and leaves it idle.
interface Deno {
  serve(
    options: { readonly port: number; readonly hostname: string; onListen(address: { readonly port: number }): void },
    handler: () => Response | Promise<Response>,
  ): unknown;
  listen(options: {
    readonly path: string;
    readonly transport: "unix";
  }): AsyncIterable<{ write(bytes: Uint8Array): Promise<number> }>;
  connect(options: {
    readonly path: string;
    readonly transport: "unix";
  }): Promise<{ readonly readable: ReadableStream<Uint8Array<ArrayBuffer>> }>;
}

const { Deno: deno } = globalThis as unknown as { readonly Deno: Deno };
const headers = { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store, no-transform" };
const first = "retry: 2000\n\n: open\n\n";
const encode = () => new TextEncoder().encode(first);
/** What a server holds of an open stream, so that nothing is collected. */
const held: unknown[] = [];
const socketPath = `/tmp/scanstream-bench-${process.pid}.sock`;

const bodies: Readonly<Record<string, () => BodyInit | Promise<BodyInit>>> = {
  "Deno.serve, ReadableStream": () => readable({}),
  "Deno.serve, byte stream": () => readable({ type: "bytes" }),
  "Deno.serve, TransformStream": () => {
    const { readable, writable } = new TransformStream<Uint8Array<ArrayBuffer>>();
    const writer = writable.getWriter();
    void writer.write(encode());
    held.push(writer);
    return readable;
  },
  // A generator is a body on Deno, https://docs.deno.com/api/web/~/BodyInit
  "Deno.serve, async iterable": () => endless() as unknown as BodyInit,
  "Deno.serve, readable of a Unix socket": async () => {
    const { readable } = await deno.connect({ path: socketPath, transport: "unix" });
    return readable;
  },
};
const servers: Readonly<Record<string, () => void>> = {
  "node:http": () => {
    const server = createServer((_incoming, outgoing) => {
      outgoing.writeHead(200, headers).write(first);
      held.push(outgoing);
    });
    server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, () => say(server.address()));
  },
  "node:net": () => {
    const server = createTcpServer((socket) => {
      socket.on("error", () => undefined);
      socket.once("data", () => socket.write(`HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n${first}`));
      held.push(socket);
    });
    server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, () => say(server.address()));
  },
};

const name = process.argv[2] ?? "";
const body = bodies[name];
if (body === undefined) {
  servers[name]?.();
} else {
  if (name.includes("Unix")) void acceptUnix();
  const onListen = say;
  deno.serve({ port: 0, hostname: "127.0.0.1", onListen }, async () => new Response(await body(), { headers }));
}

function say(address: unknown): void {
  process.stdout.write(`PORT ${(address as { readonly port: number }).port}\n`);
}

function readable(source: { readonly type?: "bytes" }): BodyInit {
  const start = (controller: ReadableStreamController<Uint8Array<ArrayBuffer>>) => {
    held.push(controller);
    controller.enqueue(encode());
  };
  // The two kinds of source are two overloads of the constructor.
  return source.type === undefined ? new ReadableStream({ start }) : new ReadableStream({ type: source.type, start });
}

async function* endless(): AsyncGenerator<Uint8Array> {
  yield encode();
  await new Promise((resolve) => held.push(resolve));
}

async function acceptUnix(): Promise<void> {
  for await (const connection of deno.listen({ path: socketPath, transport: "unix" })) {
    held.push(connection);
    void connection.write(encode());
  }
}
