import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { wranglerProgram } from "../test/runtimes/programs.ts";
import { compare, gateway, measureInTurn, nchan, raw, withServers, type BenchRun } from "./bench_run.ts";
import { measureFanOut, type FanOutOptions } from "./fan_out.ts";
import { medians, text, type Table } from "./report.ts";
import { credentials, measureManyStreams, measureMemory, measureOpening } from "./streams.ts";
import { startWorkerdServer } from "./worker_bench_server.ts";

/** These share one database and one Redis. */
export const gatewayBenches: Readonly<Record<string, (run: BenchRun) => Promise<readonly Table[]>>> = {
  fan_out: benchFanOut,
  processes: benchProcesses,
  memory: benchMemory,
  opening: benchOpening,
  hundred_thousand: benchHundredThousand,
  workers: benchWorkers,
};

async function benchFanOut(run: BenchRun): Promise<readonly Table[]> {
  const starts = [raw(run), nchan(run), gateway(run), gateway(run, "deno")];
  const thousand = { streams: 1000, channels: 1 } as const;
  const experiments: Readonly<Record<string, FanOutOptions>> = {
    "F1 1 channel, 1,000 streams": { ...thousand, steps: 200 },
    "F1, only one event on its way at a time": { ...thousand, steps: 200, inFlight: 1 },
    "F2 1 channel, 10,000 streams": { streams: 10_000, channels: 1, steps: 15 },
    "F3 bursts of 20, 1,000 streams": { ...thousand, steps: 20, burst: 20 },
    "F4 5,000 channels, 1 stream each": { streams: 5000, channels: 5000, steps: 20 },
    "F6 10 events a second, 1,000 streams": { ...thousand, steps: 80, everyMs: 100 },
  };
  const tables: Table[] = [];
  for (const [title, options] of Object.entries(experiments)) {
    const figures = await compare(run, starts, options);
    const [theirs, least] = [figures.get("nchan"), figures.get("raw C")];
    const ratio = (one?: number, other?: number) =>
      one === undefined || other === undefined ? "–" : (one / other).toFixed(2);
    tables.push({
      head: [title, "events", "÷ nchan", "÷ raw C", "CPU for each", "nchan's CPU ÷ its", "p50", "p99"],
      rows: [...figures].map(([name, { eventsPerSecond, cpuMicroseconds, p50Ms, p99Ms }]) => [
        name,
        text.thousands(eventsPerSecond),
        ratio(eventsPerSecond, theirs?.eventsPerSecond),
        ratio(eventsPerSecond, least?.eventsPerSecond),
        text.micros(cpuMicroseconds),
        ratio(theirs?.cpuMicroseconds, cpuMicroseconds),
        text.ms(p50Ms),
        text.ms(p99Ms),
      ]),
    });
  }
  return tables;
}

async function benchProcesses(run: BenchRun): Promise<readonly Table[]> {
  const options = { streams: 1000, channels: 1, steps: 200, inFlight: 1, watchEvery: 50 };
  const figures = await compare(run, [gateway(run), gateway(run, "node, 2 processes")], options);
  const rows = [...figures].map(([name, figure]) => [name, text.thousands(figure.eventsPerSecond)]);
  return [{ head: ["P2 one and two processes, 1,000 streams", "events"], rows }];
}

async function benchMemory(run: BenchRun): Promise<readonly Table[]> {
  const rows: (readonly string[])[] = [];
  for (const start of [nchan(run), gateway(run), gateway(run, "deno")]) {
    await withServers([start], async ([server]) => {
      if (server === undefined) return;
      // What a process allocates once, for any load, is there before.
      await measureFanOut(run.client, server, { streams: 100, channels: 1, steps: 50 });
      const { bytesPerStream, idleCpuShare } = await measureMemory(run.client, server, 10_000);
      rows.push([server.name, text.kib(bytesPerStream), `${(idleCpuShare * 100).toFixed(1)} %`]);
    });
  }
  return [{ head: ["M1 10,000 idle streams", "memory for each", "of a core"], rows }, await workerBundle()];
}

async function benchOpening(run: BenchRun): Promise<readonly Table[]> {
  const rows: (readonly string[])[] = [];
  const { client, backends, rounds } = run;
  const streams = 3000;
  await withServers([gateway(run)], async ([server]) => {
    if (server === undefined) return;
    // A process that has just started is slow for a second or two: a cost of deployments, not of storms.
    await measureOpening(client, server, { backends, streams, credential: "one JWT" });
    for (const credential of credentials) {
      const before = await backends.transactions();
      const measured = [];
      for (let round = 0; round < rounds; round += 1)
        measured.push(await measureOpening(client, server, { backends, streams, credential }));
      const roundTrips = ((await backends.transactions()) - before) / (streams * rounds);
      const { opensPerSecond, cpuMicroseconds } = medians(measured);
      rows.push([credential, text.whole(opensPerSecond), `${cpuMicroseconds.toFixed(0)} µs`, roundTrips.toFixed(2)]);
    }
  });
  return [{ head: ["C1 opening streams", "a second", "CPU for each", "round trips each"], rows }];
}

/** `HUNDRED_STREAMS` tries it with fewer. */
async function benchHundredThousand(run: BenchRun): Promise<readonly Table[]> {
  const rows: (readonly string[])[] = [];
  await withServers(
    Array.from({ length: 6 }, () => gateway(run)),
    async (servers) => {
      for (const server of servers) await measureFanOut(run.client, server, { streams: 100, channels: 1, steps: 50 });
      const wanted = Number(process.env["HUNDRED_STREAMS"] ?? 100_000);
      const { streams, bytesPerStream, openSeconds } = await measureManyStreams(run.client, servers, wanted);
      rows.push([text.whole(streams), text.kib(bytesPerStream), text.seconds(openSeconds)]);
    },
  );
  return [{ head: ["streams at six processes", "memory for each", "all open after"], rows }];
}

/** The Worker with its Durable Object in workerd itself. All streams are one tenant's, and so one object's. */
async function benchWorkers(run: BenchRun): Promise<readonly Table[]> {
  const rows: (readonly string[])[] = [];
  await withServers([() => startWorkerdServer(run.backends)], async ([server]) => {
    if (server === undefined) return;
    // The isolate compiles, and the database's connections open.
    await measureFanOut(run.client, server, { streams: 100, channels: 1, steps: 50 });
    const { bytesPerStream } = await measureMemory(run.client, server, 2000);
    rows.push(["2,000 idle streams", `${text.kib(bytesPerStream)} each`]);
    for (const streams of [100, 1000, 2000]) {
      const figures = await measureInTurn(run, [server], { streams, channels: 1, steps: 60 });
      const { eventsPerSecond = 0, p99Ms = 0 } = figures.get(server.name) ?? {};
      rows.push([`${text.whole(streams)} streams`, `${text.thousands(eventsPerSecond)}, p99 ${text.ms(p99Ms)}`]);
    }
  });
  return [{ head: ["one Durable Object on workerd", "measured"], rows }];
}

/** W1: the Worker as it is deployed, without deploying it. */
async function workerBundle(): Promise<Table> {
  const folder = await mkdtemp(join(tmpdir(), "scanstream-bench-"));
  try {
    const args = [wranglerProgram(), "deploy", "--dry-run", "--minify", "--outdir", folder];
    const cwd = join(import.meta.dirname, "..");
    await promisify(execFile)(process.execPath, args, { cwd, env: { ...process.env, WRANGLER_SEND_METRICS: "false" } });
    const files = (await readdir(folder)).filter((name) => /\.(js|mjs|wasm)$/.test(name));
    const contents = await Promise.all(files.map((name) => readFile(join(folder, name))));
    const bytes = contents.reduce((sum, content) => sum + gzipSync(content).byteLength, 0);
    return { head: ["W1 Worker bundle", "gzip"], rows: [[files.join(", "), text.kib(bytes)]] };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
