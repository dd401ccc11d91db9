import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { startTcpProxy, type TcpProxy } from "./tcp_proxy.ts";

/** An echo server behind the proxy; `received` is what reached it. */
async function start() {
  const received: string[] = [];
  const faults: unknown[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", (error) => void faults.push(error));
    socket.on("data", (chunk) => {
      received.push(String(chunk));
      socket.write(chunk);
    });
    socket.on("end", () => socket.end());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  const proxy = await startTcpProxy({ host: "127.0.0.1", port });
  onTestFinished(async () => {
    await proxy.close();
    server.close();
  });
  return { proxy, received, faults };
}

async function dial(proxy: TcpProxy): Promise<Socket> {
  const socket = connect(proxy.port, proxy.host);
  // Closing the proxy after the test resets what is still open.
  socket.on("error", () => undefined);
  await once(socket, "connect");
  return socket;
}

async function echoed(socket: Socket, text: string): Promise<string> {
  socket.write(text);
  let heard = "";
  while (heard.length < text.length) heard += String((await once(socket, "data"))[0]);
  return heard;
}

/** By when this is over, a proxy has read what was sent to it before. */
async function passThroughAnother(): Promise<void> {
  const { proxy } = await start();
  await echoed(await dial(proxy), "z");
}

test("startTcpProxy passes everything both ways, and a half-close", async () => {
  const { proxy } = await start();
  const socket = await dial(proxy);
  const text = "x".repeat(3_000_000);
  expect((await echoed(socket, text)) === text).toBe(true);
  expect([proxy.openCount, proxy.acceptedCount]).toEqual([1, 1]);
  socket.end();
  await once(socket, "close");
  await proxy.untilOpenCount(0);
});

test("startTcpProxy cuts with a reset on both sides, and takes new connections", async () => {
  const { proxy, faults } = await start();
  const socket = await dial(proxy);
  await echoed(socket, "a");
  const failed = once(socket, "error");
  proxy.cut();
  expect((await failed)[0]).toMatchObject({ code: "ECONNRESET" });
  expect(await echoed(await dial(proxy), "b")).toBe("b");
  expect(faults).toMatchObject([{ code: "ECONNRESET" }]);
});

test("startTcpProxy ends connections with FIN", async () => {
  const { proxy, faults } = await start();
  const socket = await dial(proxy);
  await echoed(socket, "a");
  const errors: unknown[] = [];
  socket.on("error", (error) => void errors.push(error));
  const closed = once(socket, "close");
  proxy.end();
  await closed;
  expect(errors).toEqual([]);
  await proxy.untilOpenCount(0);
  expect(faults).toEqual([]);
});

test("startTcpProxy refuses until it is restored", async () => {
  const { proxy } = await start();
  proxy.refuse();
  const socket = connect(proxy.port, proxy.host);
  expect((await once(socket, "error"))[0]).toMatchObject({ code: "ECONNRESET" });
  proxy.restore();
  expect(await echoed(await dial(proxy), "a")).toBe("a");
});

test("startTcpProxy stalls in silence, also for new connections, and passes what it held", async () => {
  const { proxy, received } = await start();
  const socket = await dial(proxy);
  await echoed(socket, "a");
  proxy.stall();
  const late = await dial(proxy);
  const heard = Promise.all([echoed(socket, "b"), echoed(late, "c")]);
  await passThroughAnother();
  expect(received).toEqual(["a"]);
  proxy.restore();
  expect(await heard).toEqual(["b", "c"]);
});

test("startTcpProxy forgets what it held when its sender resets", async () => {
  const { proxy, received } = await start();
  const socket = await dial(proxy);
  await echoed(socket, "a");
  proxy.stall();
  socket.write("b");
  await passThroughAnother();
  socket.resetAndDestroy();
  await proxy.untilOpenCount(0);
  proxy.restore();
  await echoed(await dial(proxy), "c");
  expect(received).toEqual(["a", "c"]);
});

test("startTcpProxy slows down to a rate", async () => {
  const { proxy } = await start();
  const socket = await dial(proxy);
  proxy.slow(20_000);
  const startMs = Date.now();
  await echoed(socket, "x".repeat(6000));
  expect(Date.now() - startMs).toBeGreaterThan(200);
  proxy.restore();
  await echoed(socket, "x".repeat(1_000_000));
});

test("startTcpProxy truncates to exactly so many bytes", async () => {
  const { proxy } = await start();
  for (const dialFirst of [true, false]) {
    const early = dialFirst ? await dial(proxy) : null;
    proxy.truncate(5);
    const socket = early ?? (await dial(proxy));
    let heard = "";
    socket.on("data", (chunk) => (heard += String(chunk)));
    socket.write("0123456789");
    await once(socket, "end");
    expect(heard).toBe("01234");
    proxy.restore();
  }
  expect(await echoed(await dial(proxy), "0123456789")).toBe("0123456789");
});
