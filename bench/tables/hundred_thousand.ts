import type { HundredThousandFigures } from "../hundred_thousand.ts";
import type { Spread } from "../many_streams/holders.ts";
import { figureTable, machineText, readResult } from "./results.ts";

/** What many streams on one machine take, and how they come back. */
export async function hundredThousandSection(): Promise<string> {
  const { figures, ...run } = await readResult<HundredThousandFigures>("hundred_thousand");
  const { levels, load, storm, rollingRestart, processes, scans, streams, opensPerSecondOfOneServe } = figures;
  const row = (name: string, cell: (level: (typeof levels)[number]) => string) =>
    `| ${name} | ${levels.map(cell).join(" | ")} |`;
  return [
    `${machineText(run)}; ${processes} processes of Node, ${whole(scans)} scans and one that every stream follows.`,
    [
      `| streams | ${levels.map((level) => whole(level.streams)).join(" | ")} |`,
      `|---|${levels.map(() => "---|").join("")}`,
      row("resident memory of the gateways, each", ({ bytesPerStream }) => kib(bytesPerStream)),
      row("the kernel's, both ends of each", ({ kernelBytesPerStream }) => kib(kernelBytesPerStream)),
      row("opened a second", ({ opensPerSecond }) => whole(opensPerSecond)),
      row("CPU for opening one", ({ openCpuMicroseconds }) => `${whole(openCpuMicroseconds)} µs`),
      row("idle, of a core", ({ idleCpuShare }) => `${(idleCpuShare * 100).toFixed(1)} %`),
      row("idle CPU for each heartbeat", ({ heartbeatCpuMicroseconds }) => `${heartbeatCpuMicroseconds.toFixed(1)} µs`),
      row("longest time without a byte", ({ maxSilenceMs }) => `${(maxSilenceMs / 1000).toFixed(1)} s`),
      row("an event to all: until the last has it", ({ untilLastMs }) => `${whole(untilLastMs)} ms`),
      row("p50, p99, most", ({ delivery }) => spread(delivery)),
      row("CPU for each", ({ deliveryCpuMicroseconds }) => `${deliveryCpuMicroseconds.toFixed(1)} µs`),
    ].join("\n"),
    figureTable([
      [
        `0.5 events a second for each scan: ${whole(load.deliveriesPerSecond)} deliveries a second`,
        `${load.cpuShare.toFixed(2)} cores; p50 ${load.delivery.p50Ms.toFixed(1)} ms, p99 ${load.delivery.p99Ms.toFixed(1)} ms`,
      ],
      ...Object.entries({ "all cut at once": storm, "rolling restart": rollingRestart }).flatMap(
        ([name, { streams: open, seconds, back, away, counts, listenDrops, received, gaps, residentBytes }]) =>
          [
            [
              `${whole(open)} streams, ${name}: back`,
              `${back === open ? "all" : whole(back)} after ${seconds.toFixed(1)} s`,
            ],
            [
              "… without a stream",
              `p50 ${(away.p50Ms / 1000).toFixed(1)} s, p99 ${(away.p99Ms / 1000).toFixed(1)} s, at most ${(away.maxMs / 1000).toFixed(1)} s`,
            ],
            [
              "… closed with `drain`; openings; refused with 503; without an answer in 30 s; not let in by the kernel",
              [counts.drained, counts.opens, counts.refused503, counts.timedOut, listenDrops].map(whole).join("; "),
            ],
            [
              "… events received; published while a stream was closed; missed while it was open",
              `${whole(received)}; ${whole(gaps)}; 0`,
            ],
            ["… resident memory afterwards", `${whole(residentBytes / 2 ** 20)} MiB`],
          ] as const,
      ),
      [
        "`serve --processes 6` behind one port, opened a second",
        `${whole(opensPerSecondOfOneServe)} until ${whole(streams / 10)} are open`,
      ],
    ]),
  ].join("\n\n");
}

function spread({ p50Ms, p99Ms, maxMs }: Spread): string {
  return [p50Ms, p99Ms, maxMs].map((ms) => `${ms < 10 ? ms.toFixed(1) : whole(ms)} ms`).join(", ");
}

function kib(bytes: number): string {
  return `${(bytes / 1024).toFixed(1)} KiB`;
}

function whole(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}
