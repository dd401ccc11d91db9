import { readFile } from "node:fs/promises";

/** For the whole machine, in bytes. */
export interface MachineMemory {
  readonly available: number;
  /** The kernel's objects, those of sockets and open files among them. */
  readonly slab: number;
  /** What waits in the buffers of TCP sockets. */
  readonly tcpBuffers: number;
}

const pageBytes = 4096;

/** https://www.kernel.org/doc/html/latest/filesystems/proc.html, /proc/meminfo and /proc/net/sockstat. */
export async function readMachineMemory(): Promise<MachineMemory> {
  const memory = await readFile("/proc/meminfo", "utf8");
  const sockets = await readFile("/proc/net/sockstat", "utf8");
  const kib = (name: string) => Number(new RegExp(`^${name}: +(\\d+) kB`, "m").exec(memory)?.[1] ?? 0) * 1024;
  return {
    available: kib("MemAvailable"),
    slab: kib("Slab"),
    tcpBuffers: Number(/^TCP:.* mem (\d+)/m.exec(sockets)?.[1] ?? 0) * pageBytes,
  };
}

/** How often since the machine's start a connection was not taken because too many waited to be accepted. */
export async function readListenDrops(): Promise<number> {
  const lines = (await readFile("/proc/net/netstat", "utf8")).split("\n").filter((line) => line.startsWith("TcpExt:"));
  const [names = [], values = []] = lines.map((line) => line.split(" "));
  return Number(values[names.indexOf("ListenDrops")] ?? 0);
}
