import { Worker } from "node:worker_threads";
import { afterEach, expect, test } from "vitest";
import { listenForMany, type Listening } from "../../../gateway/runtime/listen.ts";

const clients = 64;
let listening: Listening | null = null;

afterEach(() => {
  for (const server of listening?.servers ?? []) {
    server.close();
    server.closeAllConnections();
  }
});

/** Connects them all and sends a request on each, while this thread waits. */
const connectAll = `
  const { connect } = require("node:net");
  const { workerData: { port, clients, connected } } = require("node:worker_threads");
  for (let client = 0; client < clients; client += 1) {
    const socket = connect(port, "127.0.0.1", () => {
      socket.write("GET / HTTP/1.1\\r\\nhost: x\\r\\n\\r\\n", () => {
        Atomics.add(connected, 0, 1);
        Atomics.notify(connected, 0);
      });
    });
    socket.on("error", () => {});
  }
`;

test("of clients that come together several are let in each turn of the event loop", async () => {
  const answered: unknown[] = [];
  listening = await listenForMany(
    (request, response) => {
      answered.push(request);
      response.end();
    },
    { host: "127.0.0.1", port: 0, variable: "PORT" },
  );
  const connected = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(connectAll, { eval: true, workerData: { port: listening.port, clients, connected } });
  try {
    while (Atomics.load(connected, 0) < clients) Atomics.wait(connected, 0, Atomics.load(connected, 0), 1000);
    let turns = 0;
    for (; answered.length < clients; turns += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(turns).toBeLessThan(clients * 0.75);
  } finally {
    await worker.terminate();
  }
});

test("in a storm only this many connections wait as are answered before their clients give up", async () => {
  listening = await listenForMany(() => {}, { host: "127.0.0.1", port: 0, variable: "PORT" });
  const connected = new Int32Array(new SharedArrayBuffer(4));
  const workerData = { port: listening.port, clients: 3000, connected };
  const worker = new Worker(connectAll, { eval: true, workerData });
  try {
    // Nothing is accepted meanwhile, and so nobody is let in instead.
    for (let before = -1; before !== Atomics.load(connected, 0) || before === 0;) {
      before = Atomics.load(connected, 0);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
    }
    // Node's own would be 511.
    expect(Atomics.load(connected, 0)).toBeGreaterThan(600);
    expect(Atomics.load(connected, 0)).toBeLessThan(2200);
  } finally {
    await worker.terminate();
  }
});

test("a port is shared with no other program, not even with another gateway", async () => {
  const address = { host: "127.0.0.1", port: 0, variable: "PORT" } as const;
  listening = await listenForMany(() => {}, address);
  await expect(listenForMany(() => {}, { ...address, port: listening.port })).rejects.toThrow(
    "PORT: expected a free port",
  );
});
