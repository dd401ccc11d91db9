import { open, readFile } from "node:fs/promises";
import { SocketAddress, type Socket } from "node:net";
import { endianness } from "node:os";
import { resetSocket } from "../../../shared/reset_socket.ts";
import { createSteadyClock } from "../../../shared/steady_clock.ts";

/**
 * Finds clients whose packets vanish: no FIN, no RST, and nothing acknowledges the heartbeats. TCP itself times out only
 * after a quarter of an hour, keep-alive probes are not sent while data is unacknowledged, and Node cannot set
 * TCP_USER_TIMEOUT. But Linux lists how often each socket's oldest bytes were retransmitted.
 */
export interface SilentPeers {
  watch(socket: Socket): void;
  unwatch(socket: Socket): void;
}

export interface SilentPeersOptions {
  /** How long a peer may acknowledge no retransmission. Default 45,000. */
  readonly silentMs?: number;
  /** Default 15,000. */
  readonly everyMs?: number;
  /** The kernel's tables of TCP sockets, `/proc/net/tcp` and `/proc/net/tcp6`, in parts; none where there are none. */
  readonly readTables?: () => AsyncIterable<string>;
  /** Changes with every timeout and probe of the machine's connections: while it does not, the tables need not be read. */
  readonly readCounters?: () => Promise<string>;
  readonly now?: () => number;
}

/** Destroys watched sockets whose peer is silent. Its timer runs only while sockets are watched. */
export function createSilentPeers(options: SilentPeersOptions = {}): SilentPeers {
  const { silentMs = 45_000, everyMs = 15_000, now = createSteadyClock() } = options;
  const { readTables = readLinuxTables, readCounters = readLinuxCounters } = options;
  const sockets = new Set<Socket>();
  let suspects = new Map<Socket, Suspicion>();
  let timer: ReturnType<typeof setInterval> | null = null;
  let counters = "";
  /** Infinity during a check. After one that took long, for the number of connections or the lack of CPU, comes a pause ten times as long. */
  let restUntilMs = 0;

  return {
    watch(socket) {
      sockets.add(socket);
      timer ??= setInterval(() => {
        if (now() >= restUntilMs) void check();
      }, everyMs);
    },

    unwatch(socket) {
      sockets.delete(socket);
      suspects.delete(socket);
      if (sockets.size > 0 || timer === null) return;
      clearInterval(timer);
      timer = null;
    },
  };

  /** Never rejects: tables that cannot be read are empty. */
  async function check(): Promise<void> {
    const startedMs = now();
    restUntilMs = Infinity;
    await checkTables();
    restUntilMs = now() + 10 * (now() - startedMs);
  }

  async function checkTables(): Promise<void> {
    const countersBefore = counters;
    counters = await readCounters();
    if (suspects.size === 0 && counters !== "" && counters === countersBefore) return;
    const attempts = new Map<string, number>();
    let rest = "";
    for await (const part of readTables()) {
      const text = rest + part;
      const end = text.lastIndexOf("\n") + 1;
      rest = text.slice(end);
      readAttempts(text.slice(0, end), attempts);
    }
    const nowMs = now();
    const seen = new Map<Socket, Suspicion>();
    // Nearly always everything is acknowledged, and then no socket's address is read.
    for (const socket of attempts.size === 0 ? [] : sockets) {
      const count = attempts.get(peerKey(socket.remoteAddress ?? "", socket.remotePort ?? 0, socket.localPort ?? 0));
      if (count === undefined) continue;
      const before = suspects.get(socket);
      // A smaller count: bytes were acknowledged in between.
      const sinceMs = before === undefined || count < before.count ? nowMs : before.sinceMs;
      // With a reset, or the kernel would retransmit for minutes.
      if (nowMs - sinceMs >= silentMs) resetSocket(socket);
      else seen.set(socket, { sinceMs, count });
    }
    suspects = seen;
  }
}

interface Suspicion {
  readonly sinceMs: number;
  /** Retransmissions and probes without an acknowledgement. */
  readonly count: number;
}

/**
 * Lines of established connections with unacknowledged bytes, with their retransmissions and unanswered probes:
 * `sl: local:port remote:port 01 tx_queue:rx_queue timer:when retransmits uid probes …`,
 * https://www.kernel.org/doc/html/latest/networking/proc_net_tcp.html. Both counts are reset by each acknowledgement;
 * a client that merely does not read answers the probes of its closed window.
 */
const unacknowledgedLine =
  /^ *\d+: [0-9A-F]+:([0-9A-F]{4}) ([0-9A-F]+):([0-9A-F]{4}) 01 (?!0{8})[0-9A-F]{8}:[0-9A-F]{8} [0-9A-F]{2}:[0-9A-F]{8} ([0-9A-F]{8}) +\d+ +(\d+) /gm;

function readAttempts(table: string, into: Map<string, number>): void {
  for (const [, localPort = "", address = "", port = "", retransmissions = "", probes = ""] of table.matchAll(
    unacknowledgedLine,
  )) {
    const attempts = Number.parseInt(retransmissions, 16) + Number(probes);
    if (attempts === 0) continue;
    into.set(peerKey(toAddress(address), Number.parseInt(port, 16), Number.parseInt(localPort, 16)), attempts);
  }
}

function peerKey(address: string, port: number, localPort: number): string {
  return `${address} ${port} ${localPort}`;
}

/** The kernel prints each 32-bit word of the address in the machine's own order of bytes. */
function toAddress(hex: string): string {
  const bytes = Buffer.from(hex, "hex");
  if (endianness() === "LE") bytes.swap32();
  if (bytes.length === 4) return bytes.join(".");
  const groups = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(2 * index).toString(16));
  // The spelling that `socket.remoteAddress` has.
  return new SocketAddress({ address: groups.join(":"), family: "ipv6" }).address;
}

/** In parts, through one buffer: of a machine with a hundred thousand connections they are 15 MB, which the kernel gives by 4 KiB. */
async function* readLinuxTables(): AsyncGenerator<string> {
  const buffer = Buffer.alloc(16_384);
  for (const path of ["/proc/net/tcp", "/proc/net/tcp6"]) {
    // Not on Linux, or without IPv6.
    const file = await open(path).catch(() => null);
    try {
      for (;;) {
        const { bytesRead = 0 } = (await file?.read(buffer).catch(() => null)) ?? {};
        if (bytesRead === 0) break;
        yield buffer.toString("latin1", 0, bytesRead);
      }
    } finally {
      await file?.close();
    }
  }
}

/** https://www.kernel.org/doc/html/latest/networking/snmp_counter.html; empty where the kernel does not count. */
async function readLinuxCounters(): Promise<string> {
  const table = await readFile("/proc/net/netstat", "latin1").catch(() => "");
  // A line of names above a line of numbers.
  const [names = [], numbers = []] = table
    .split("\n")
    .filter((line) => line.startsWith("TcpExt: "))
    .map((line) => line.split(" "));
  const values = ["TCPTimeouts", "TCPWinProbe"].map((name) => numbers[names.indexOf(name)]);
  return values.every((value) => value !== undefined) ? values.join(" ") : "";
}
