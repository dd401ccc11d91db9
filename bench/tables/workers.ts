import type { WorkerFigures, WorkersFigures } from "../workers.ts";
import { figureTable, machineText, readResult } from "./results.ts";

export async function workersSection(): Promise<string> {
  const { figures, ...run } = await readResult<WorkersFigures>("workers");
  const { servers } = figures;
  return [
    `${machineText(run)}.`,
    [
      "| one object | streams | | events | CPU for each | p50 | p99 |",
      "|---|---|---|---|---|---|---|",
      ...Object.entries(servers).flatMap(([name, server]) => fanOutRows(name, server)),
    ].join("\n"),
    figureTable(Object.entries(servers).flatMap(([name, server]) => figureRows(name, server))),
  ].join("\n\n");
}

function fanOutRows(name: string, { fanOut }: WorkerFigures): readonly string[] {
  return Object.entries(fanOut).flatMap(([streams, ways]) =>
    Object.entries(ways).map(
      ([way, { eventsPerSecond, cpuMicroseconds, p50Ms, p99Ms }]) =>
        `| ${name} | ${Number(streams).toLocaleString("en-US")} | ${way} | ${rateText(eventsPerSecond)} | ` +
        `${cpuMicroseconds.toFixed(1)} µs | ${p50Ms.toFixed(1)} ms | ${p99Ms.toFixed(1)} ms |`,
    ),
  );
}

function figureRows(name: string, { opening, memory }: WorkerFigures): readonly (readonly [string, string])[] {
  return [
    ...Object.entries(opening).map(
      ([way, { opensPerSecond, cpuMicroseconds, refused }]) =>
        [
          `${name}, opening, ${way}`,
          `${opensPerSecond.toFixed(0)} streams/s, ${(cpuMicroseconds / 1000).toFixed(2)} ms of CPU each, ${refused} refused`,
        ] as const,
    ),
    [
      `${name}, resident memory`,
      `${kib(memory.bytesPerStream)} a stream with ${memory.streams.toLocaleString("en-US")} open, idle ${(memory.idleCpuShare * 100).toFixed(1)} % of a core`,
    ],
  ];
}

/** Where a proxy cuts an event in its time stamp, the load client takes a wrong one for the first, and there is no rate. */
function rateText(eventsPerSecond: number): string {
  return eventsPerSecond < 1 ? "–" : `${(eventsPerSecond / 1000).toFixed(1)} k/s`;
}

function kib(bytes: number): string {
  return `${(bytes / 1024).toFixed(1)} KiB`;
}
