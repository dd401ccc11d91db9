import { join } from "node:path";
import { freePort } from "../../test/support/free_port.ts";
import type { BenchServer } from "../bench_server.ts";
import { gateway, nchan, raw, withServers, type BenchRun, type Start } from "../bench_run.ts";
import { measureFanOut, type FanOutFigures } from "../fan_out.ts";
import { startProcess } from "../measured_process.ts";
import { medians, text, type Table } from "../report.ts";
import { findPeer, peersFolder } from "./folder.ts";
import { prepareMercure } from "./mercure.ts";
import { startPeer } from "./peer.ts";

const options = { streams: 1000, channels: 1, steps: 200 };

/** Other servers of event streams, in turn with ours; the ones that are not installed are named and left out. */
export async function benchPeers(run: BenchRun): Promise<readonly Table[]> {
  const starts: readonly Start[] = [
    raw(run),
    nchan(run),
    named(run, "Mercure", () => prepareMercure().then((peer) => peer && startPeer(peer))),
    named(run, "better-sse", () => startNodePeer("better-sse", "better_sse_main.ts")),
    () => startNodePeer("Hono streamSSE", "hono_main.ts"),
    named(run, "django-eventstream", startDjangoServer),
    gateway(run),
  ];
  const rounds = new Map<BenchServer, { readonly figures: FanOutFigures[]; readonly leftOut: string[] }>();
  await withServers(starts, async (servers) => {
    for (const server of servers) {
      await measureFanOut(run.client, server, { streams: 300, channels: 1, steps: 60 });
      rounds.set(server, { figures: [], leftOut: [] });
    }
    for (let round = 0; round < run.rounds; round += 1) {
      for (const [server, { figures, leftOut }] of rounds) {
        try {
          figures.push(await measureFanOut(run.client, server, options));
        } catch (error) {
          // A round counts only when every event arrived once.
          if (server.name.startsWith("gateway") || !(error instanceof Error)) throw error;
          leftOut.push(error.message);
          run.progress(error.message);
        }
      }
    }
  });
  const ours = medians([...rounds].find(([{ name }]) => name.startsWith("gateway"))?.[1].figures ?? []);
  return [
    {
      head: ["one after another", "events", "ours ÷ its", "CPU for each", "its CPU ÷ ours", "p50", "p99"],
      rows: [...rounds].map(([{ name }, { figures, leftOut }]) => {
        if (figures.length === 0) return [name, leftOut.join("; "), "", "", "", "", ""];
        const { eventsPerSecond, cpuMicroseconds, p50Ms, p99Ms } = medians(figures);
        return [
          name,
          text.thousands(eventsPerSecond) + (leftOut.length === 0 ? "" : ` (${leftOut.length} rounds left out)`),
          (ours.eventsPerSecond / eventsPerSecond).toFixed(2),
          text.micros(cpuMicroseconds),
          (cpuMicroseconds / ours.cpuMicroseconds).toFixed(2),
          text.ms(p50Ms),
          text.ms(p99Ms),
        ];
      }),
    },
  ];
}

function named({ progress }: BenchRun, name: string, start: Start): Start {
  return async () => {
    const server = await start();
    if (server === null) progress(`${name}: left out: it is not in ${peersFolder}: node bench/peers/install.ts`);
    return server;
  };
}

const asJson = {
  path: "/publish",
  headers: { "content-type": "application/json" },
  body: (payload: string) => payload,
};

/** A program of this folder on Node: `GET /events` is a stream, `POST /publish` an event for all of them. */
async function startNodePeer(name: string, program: string): Promise<BenchServer | null> {
  if (name === "better-sse" && findPeer("node_modules/better-sse") === null) return null;
  const server = await startProcess({
    command: [process.execPath, join(import.meta.dirname, program)],
    until: /^LISTEN (\d+)$/,
  });
  return startPeer({ name, port: Number(server.match[1]), path: "/events", process: server, publish: asJson });
}

/** django-eventstream on uvicorn with one process, which is what it needs without Redis. */
async function startDjangoServer(): Promise<BenchServer | null> {
  const python = findPeer("django_eventstream/bin/python");
  if (python === null) return null;
  const port = await freePort();
  const uvicorn = ["-m", "uvicorn", "django_app:application", "--port", String(port), "--log-level", "info"];
  const quiet = ["--no-access-log", "--lifespan", "off", "--backlog", "4096", "--app-dir", import.meta.dirname];
  const server = await startProcess({
    command: ["sh", "-c", 'exec "$@" 2>&1', "sh", python, "-B", ...uvicorn, ...quiet],
    until: /Uvicorn running on/,
  });
  const name = "django-eventstream";
  // A stream asks the event store once, each in its turn.
  return startPeer({ name, port, path: "/events/", process: server, publish: asJson, settleMs: 4000 });
}
