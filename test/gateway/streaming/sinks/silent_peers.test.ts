import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createSilentPeers } from "../../../../gateway/streaming/sinks/silent_peers.ts";

const cleanups: (() => void)[] = [];

beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date"] }));
afterEach(() => {
  vi.useRealTimers();
  for (const cleanup of cleanups.splice(0)) cleanup();
});

/** The server's side of a real connection, on the address family of `host`. */
async function accept(host: string): Promise<Socket> {
  const server = createServer();
  server.listen(0, host);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const client = connect(port, host === "::" ? "127.0.0.1" : host);
  // Here the reset of a silent peer arrives.
  client.on("error", () => {});
  const [socket] = (await once(server, "connection")) as [Socket];
  cleanups.push(() => {
    client.destroy();
    socket.destroy();
    server.close();
  });
  return socket;
}

const hex = (number: number, digits: number) => number.toString(16).toUpperCase().padStart(digits, "0");

/** A line as Linux prints it, here of a loopback address as a little-endian machine does. */
function line(
  socket: Socket,
  values: {
    readonly state?: string;
    readonly waiting?: number;
    readonly retransmits?: number;
    readonly probes?: number;
  },
) {
  const address =
    socket.remoteAddress === "127.0.0.1"
      ? "0100007F"
      : socket.remoteAddress === "::1"
        ? "00000000000000000000000001000000"
        : "0000000000000000FFFF00000100007F";
  const { state = "01", waiting = 0x1a, retransmits = 0, probes = 0 } = values;
  return `  193: ${address}:${hex(socket.localPort ?? 0, 4)} ${address}:${hex(socket.remotePort ?? 0, 4)} ${state} ${hex(waiting, 8)}:00000000 01:0000006C ${hex(retransmits, 8)}     0 ${String(probes).padStart(8)} 270350 3 0000000016e`;
}

function setUp() {
  let table = "";
  let reads = 0;
  let counters = "";
  /** A part may end within a line. */
  async function* readTables() {
    reads += 1;
    yield table.slice(0, 100);
    yield table.slice(100);
  }
  const readCounters = async () => counters;
  const peers = createSilentPeers({ everyMs: 15_000, silentMs: 45_000, readTables, readCounters });
  /** Advances the clock while the table stays the same. */
  const pass = async (lines: readonly string[], checks: number) => {
    table = ["  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt", ...lines, ""].join("\n");
    await vi.advanceTimersByTimeAsync(checks * 15_000);
  };
  return { peers, pass, reads: () => reads, setCounters: (text: string) => void (counters = text) };
}

test.each(["127.0.0.1", "::1", "::"])(
  "SilentPeers destroys a socket on %s whose peer acknowledges no retransmission",
  async (host) => {
    const socket = await accept(host);
    const bystander = await accept(host);
    const { peers, pass } = setUp();
    peers.watch(socket);
    peers.watch(bystander);
    await pass([line(socket, { retransmits: 3 })], 1);
    await pass([line(socket, { retransmits: 6 })], 2);
    expect(socket.destroyed).toBe(false);
    await pass([line(socket, { retransmits: 8 })], 1);
    expect(socket.destroyed).toBe(true);
    expect(bystander.destroyed).toBe(false);
  },
);

test("SilentPeers destroys a socket whose probes are not acknowledged", async () => {
  const socket = await accept("127.0.0.1");
  const { peers, pass } = setUp();
  peers.watch(socket);
  await pass([line(socket, { probes: 3 })], 3);
  expect(socket.destroyed).toBe(false);
  await pass([line(socket, { probes: 6 })], 1);
  expect(socket.destroyed).toBe(true);
});

test("SilentPeers keeps peers that acknowledge", async () => {
  const socket = await accept("127.0.0.1");
  const { peers, pass } = setUp();
  peers.watch(socket);
  for (let round = 0; round < 4; round += 1) {
    await pass([line(socket, { retransmits: 4 })], 2);
    // A check at which nothing is unacknowledged, and one at which the count was reset.
    if (round % 2 === 0) await pass([line(socket, { waiting: 0, retransmits: 0 })], 1);
    else await pass([line(socket, { retransmits: 1 })], 1);
  }
  expect(socket.destroyed).toBe(false);
});

test.each([
  ["nothing is unacknowledged", { waiting: 0, retransmits: 9 }],
  ["nothing was retransmitted", { retransmits: 0, probes: 0 }],
  ["the connection is being closed", { state: "04", retransmits: 9 }],
])("SilentPeers keeps a socket when %s", async (_why, values) => {
  const socket = await accept("127.0.0.1");
  const { peers, pass } = setUp();
  peers.watch(socket);
  await pass([line(socket, values)], 10);
  expect(socket.destroyed).toBe(false);
});

test("SilentPeers forgets an unwatched socket, and reads no tables while none is watched", async () => {
  const socket = await accept("127.0.0.1");
  const { peers, pass, reads } = setUp();
  peers.watch(socket);
  await pass([line(socket, { retransmits: 3 })], 3);
  peers.unwatch(socket);
  peers.unwatch(socket);
  await pass([], 3);
  expect(reads()).toBe(3);
  peers.watch(socket);
  await pass([line(socket, { retransmits: 9 })], 3);
  expect(socket.destroyed).toBe(false);
});

test("SilentPeers reads the tables only after retransmissions, or while a peer is suspected", async () => {
  const socket = await accept("127.0.0.1");
  const { peers, pass, reads, setCounters } = setUp();
  peers.watch(socket);
  setCounters("7 0");
  await pass([], 4);
  expect(reads()).toBe(1);
  setCounters("8 0");
  await pass([line(socket, { retransmits: 3 })], 1);
  expect(reads()).toBe(2);
  await pass([line(socket, { retransmits: 3 })], 2);
  expect(reads()).toBe(4);
  expect(socket.destroyed).toBe(false);
  await pass([line(socket, { retransmits: 3 })], 1);
  expect(socket.destroyed).toBe(true);
});

test("SilentPeers reads this machine's own tables, or none", async () => {
  const socket = await accept("127.0.0.1");
  const peers = createSilentPeers({ everyMs: 10, silentMs: 0 });
  peers.watch(socket);
  await vi.advanceTimersByTimeAsync(100);
  expect(socket.destroyed).toBe(false);
  peers.unwatch(socket);
});
