import { compare, gateway, nchan, withServers, type BenchRun } from "./bench_run.ts";
import { measureFanOut, type FanOutOptions } from "./fan_out.ts";
import { medians, text, type Table } from "./report.ts";
import { credentials, measureMemory, measureOpening } from "./streams.ts";

/** These share one database and one Redis. */
export const gatewayBenches: Readonly<Record<string, (run: BenchRun) => Promise<Table>>> = {
  fan_out: (run) =>
    benchFanOut(run, "1 channel, 1,000 streams, saturated", { ...thousand, steps: 400, inFlight: saturated }),
  fan_out_10000: (run) =>
    benchFanOut(run, "1 channel, 10,000 streams, saturated", { streams: 10_000, steps: 30, inFlight: saturated }),
  bursts: (run) => benchFanOut(run, "bursts of 20, 1,000 streams", { ...thousand, steps: 20, burst: 20 }),
  one_by_one: (run) =>
    benchFanOut(run, "one event after another, 1,000 streams", { ...thousand, steps: 200, inFlight: 1 }),
  memory: benchMemory,
  opening: benchOpening,
};

const thousand = { streams: 1000 } as const;
/** The publisher is always ahead: the server is never idle. */
const saturated = 20;

async function benchFanOut(run: BenchRun, title: string, options: FanOutOptions): Promise<Table> {
  const figures = await compare(run, [nchan(run), gateway(run), gateway(run, "deno")], options);
  const theirs = figures.get("nchan");
  const ratio = (one?: number, other?: number) =>
    one === undefined || other === undefined ? "–" : (one / other).toFixed(2);
  return {
    head: [title, "events", "÷ nchan", "CPU for each", "nchan's CPU ÷ its", "p50", "p99"],
    rows: [...figures].map(([name, { eventsPerSecond, cpuMicroseconds, p50Ms, p99Ms }]) => [
      name,
      text.thousands(eventsPerSecond),
      ratio(eventsPerSecond, theirs?.eventsPerSecond),
      text.micros(cpuMicroseconds),
      ratio(theirs?.cpuMicroseconds, cpuMicroseconds),
      text.ms(p50Ms),
      text.ms(p99Ms),
    ]),
  };
}

async function benchMemory(run: BenchRun): Promise<Table> {
  const rows: (readonly string[])[] = [];
  for (const start of [nchan(run), gateway(run), gateway(run, "deno")]) {
    await withServers([start], async ([server]) => {
      if (server === undefined) return;
      // Memory that a process allocates once, for any load, is there before.
      await measureFanOut(run.client, server, { streams: 100, steps: 50 });
      rows.push([server.name, text.kib(await measureMemory(run.client, server, 10_000))]);
    });
  }
  return { head: ["10,000 idle streams", "memory for each"], rows };
}

async function benchOpening(run: BenchRun): Promise<Table> {
  const rows: (readonly string[])[] = [];
  const { client, backends, rounds } = run;
  const streams = 3000;
  await withServers([gateway(run)], async ([server]) => {
    if (server === undefined) return;
    // A process that has just started is slow for a second or two: a cost of deployments, not of storms.
    await measureOpening(client, server, { backends, streams, credential: "one JWT" });
    for (const credential of credentials) {
      const measured = [];
      for (let round = 0; round < rounds; round += 1)
        measured.push(await measureOpening(client, server, { backends, streams, credential }));
      const { opensPerSecond, cpuMicroseconds } = medians(measured);
      rows.push([credential, text.whole(opensPerSecond), `${cpuMicroseconds.toFixed(0)} µs`]);
    }
  });
  return { head: ["opening streams", "a second", "CPU for each"], rows };
}
