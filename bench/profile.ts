import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BenchServer } from "./bench_server.ts";

/** Shares of the CPU time of the gateway's main thread while it worked, largest first; `idle` is beside them. */
export interface Profile {
  readonly shares: Readonly<Record<string, number>>;
  /** Of the time between the first and the last of it. */
  readonly idleShare: number;
}

interface CallFrame {
  readonly functionName: string;
  readonly url: string;
}

/** https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#type-Profile; times in µs of the monotonic clock. */
interface CpuProfile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: CallFrame }[];
  readonly startTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

type StartProfiled = (nodeArgs: readonly string[]) => Promise<BenchServer>;

/** Starts a gateway under Node's profiler, warms it up, and resolves with where the time of `work` went. */
export async function profile(
  start: StartProfiled,
  prepare: (server: BenchServer) => Promise<unknown>,
  work: (server: BenchServer, startMeasuring: () => void) => Promise<unknown>,
): Promise<Profile> {
  const folder = await mkdtemp(join(tmpdir(), "scanstream-profile-"));
  try {
    const server = await start(["--cpu-prof", `--cpu-prof-dir=${folder}`, "--cpu-prof-interval", "500"]);
    let fromMicroseconds = 0;
    let toMicroseconds = 0;
    try {
      await prepare(server);
      await work(server, () => {
        if (fromMicroseconds === 0) fromMicroseconds = nowMicroseconds();
      });
      toMicroseconds = nowMicroseconds();
    } finally {
      await server.stop();
    }
    return summarize(await readLargest(folder), fromMicroseconds, toMicroseconds);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function nowMicroseconds(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

/** Worker threads, such as a logger's, write profiles of their own. */
async function readLargest(folder: string): Promise<CpuProfile> {
  const names = await readdir(folder);
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
  const [largest] = texts.toSorted((one, other) => other.length - one.length);
  if (largest === undefined) throw new Error("Cannot read the profile: the gateway wrote none");
  return JSON.parse(largest) as CpuProfile;
}

function summarize({ nodes, startTime, samples, timeDeltas }: CpuProfile, from: number, to: number): Profile {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const times = new Map<string, number>();
  let now = startTime;
  for (const [index, id] of samples.entries()) {
    const elapsed = timeDeltas[index] ?? 0;
    now += elapsed;
    const frame = frames.get(id);
    if (frame === undefined || now < from || now > to) continue;
    const part = partOf(frame);
    times.set(part, (times.get(part) ?? 0) + elapsed);
  }
  const idle = times.get(idlePart) ?? 0;
  times.delete(idlePart);
  const busy = Array.from(times.values()).reduce((sum, time) => sum + time, 0);
  const shares = Array.from(times, ([part, time]) => [part, time / busy] as const);
  return {
    shares: Object.fromEntries(shares.toSorted(([, one], [, other]) => other - one)),
    idleShare: idle / (idle + busy),
  };
}

const idlePart = "idle";

/** The first that fits; a frame without an address is the engine's or the runtime's own. */
const parts: readonly (readonly [part: string, fits: (frame: CallFrame) => boolean])[] = [
  [idlePart, ({ functionName }) => functionName === "(idle)"],
  ["garbage collection", ({ functionName }) => functionName === "(garbage collector)"],
  ["writing to sockets: the system call", ({ functionName, url }) => url === "" && functionName.startsWith("write")],
  ["Node's sockets and streams", ({ url }) => /^node:(net|internal\/(streams|stream_base|timers|async))/.test(url)],
  ["Node's HTTP", ({ url }) => url.startsWith("node:_http")],
  ["Redis client", ({ url }) => url.includes("/ioredis/")],
  ["PostgreSQL client", ({ url }) => /\/node_modules\/pg(-\w+)?\//.test(url)],
  ["SQL builder", ({ url }) => url.includes("/drizzle-orm/")],
  ["web framework", ({ url }) => /\/node_modules\/(@hono|hono)\//.test(url)],
  ["tokens", ({ url }) => url.includes("/jose/") || url.startsWith("node:internal/crypto")],
  ["log and metrics", ({ url }) => /\/(node_modules\/prom-client|gateway\/observability)\//.test(url)],
  ["broker adapter", ({ url }) => url.includes("/shared/brokers/")],
  ["checking and encoding events", ({ url }) => /\/shared\/|\/encoded_chunk\.ts$|^node:internal\/encoding/.test(url)],
  ["hub, streams and sinks", ({ url }) => url.includes("/gateway/streaming/")],
  ["routes and authority", ({ url }) => /\/(gateway|drizzle)\//.test(url)],
];

function partOf(frame: CallFrame): string {
  return parts.find(([, fits]) => fits(frame))?.[0] ?? "the rest of Node and V8";
}
