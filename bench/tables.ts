import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { FanOutFigures as Point } from "./fan_out.ts";
import type { FaultFigures, PageFigures, RestFigures } from "./follow.ts";
import type { LatencyFigures } from "./follow_latency.ts";
import type { Profile } from "./profile.ts";
import type { StartFigures } from "./start.ts";
import { frame } from "./svg.ts";

/** `node bench/tables.ts`: writes the tables of `docs/performance.md` from `results/`, and draws its plots. */
interface Result<Figures> {
  readonly at: string;
  readonly node: string;
  readonly machine: Readonly<Record<"cpu" | "cores" | "memoryGiB" | "kernel", string | number>>;
  readonly figures: Figures;
}

type FanOut = Readonly<Record<string, Readonly<Record<string, Point>>>>;
type Named<Figure> = Readonly<Record<string, Readonly<Record<string, Figure>>>>;
type Opening = Readonly<
  Partial<Record<"opensPerSecond" | "cpuMicroseconds" | "roundTrips" | "seconds" | "streams" | "refused", number>>
>;
type Memory = Readonly<Record<"bytesPerStream" | "idleCpuShare", number>>;
type Growth = Readonly<Record<string, readonly (Point & { readonly at: number })[]>>;

const folder = join(import.meta.dirname, "results");
const images = join(import.meta.dirname, "../docs/images");

const fanOut = await read<FanOut>("fan_out");
const growth = await read<Growth>("growth");
const [first = {}] = Object.values(fanOut.figures);
await writeFile(
  join(images, "performance_fan_out.svg"),
  barPlot("CPU time of one event for one stream, µs (1,000 streams)", first),
);
await writeFile(join(images, "performance_growth.svg"), growthPlot(growth.figures));
const { cpu, cores, memoryGiB, kernel } = fanOut.machine;
const machine = `${cores} cores (${cpu}), ${memoryGiB} GiB, Linux ${kernel}, Node ${fanOut.node}, ${fanOut.at.slice(0, 10)}.`;
const tables = Object.entries(fanOut.figures).map(([title, servers]) => fanOutTable(title, servers));
const sections: Readonly<Record<string, string>> = {
  tables: [machine, ...tables].join("\n\n"),
  figures: figureTable(await otherFigures()),
  growth: growthTable(growth.figures),
  profiles: profileTable((await read<Readonly<Record<string, Profile>>>("profile")).figures),
  start: startTables(await read<StartFigures>("start")),
  follow: followTables(
    await read<PageFigures>("follow_pages"),
    await read<FaultFigures>("follow_faults"),
    await read<RestFigures>("follow_rest"),
  ),
};
const page = join(import.meta.dirname, "../docs/performance.md");
let text = await readFile(page, "utf8");
for (const [name, content] of Object.entries(sections)) {
  const between = new RegExp(`(<!-- ${name}: .*? -->\\n)[^]*?(<!-- /${name} -->)`);
  text = text.replace(between, (_all, start: string, end: string) => `${start}\n${content}\n\n${end}`);
}
await writeFile(page, text);

/** What is one figure each, in words. */
async function otherFigures(): Promise<readonly (readonly [string, string])[]> {
  const opening = (await read<Named<Opening>>("opening")).figures["C1 opening streams"] ?? {};
  const memory = (await read<Named<Memory>>("memory")).figures["M1 10,000 idle streams"] ?? {};
  const processes = (await read<FanOut>("processes")).figures["P2 one and two processes"] ?? {};
  const { gzipKiB } = (await read<{ readonly gzipKiB: number }>("bundle")).figures;
  const rows: (readonly [string, string])[] = [];
  for (const [who, { opensPerSecond, cpuMicroseconds, roundTrips, seconds, streams, refused }] of Object.entries(
    opening,
  )) {
    if (opensPerSecond === undefined) {
      rows.push([
        `C1, ${streams?.toLocaleString("en-US")} streams cut at once and back`,
        `${seconds?.toFixed(1)} s, ${refused} refused`,
      ]);
    } else {
      const each = `${cpuMicroseconds?.toFixed(0)} µs of CPU and ${roundTrips?.toFixed(2)} round trips each`;
      rows.push([`C1, ${who}`, `${opensPerSecond.toFixed(0)} streams/s, ${each}`]);
    }
  }
  for (const [name, { bytesPerStream, idleCpuShare }] of Object.entries(memory)) {
    const idle = `idle ${(idleCpuShare * 100).toFixed(1)} % of a core`;
    rows.push([`M1, ${name}`, `${(bytesPerStream / 1024).toFixed(1)} KiB a stream, ${idle}`]);
  }
  for (const [name, point] of Object.entries(processes)) {
    const cpu = `${point.cpuMicroseconds.toFixed(2)} µs of CPU each, the client's ${point.clientCpuMicroseconds.toFixed(2)} µs`;
    const busy = `the machine ${(point.machineBusyShare * 100).toFixed(0)} % busy`;
    rows.push([`P2, ${name}`, `${(point.eventsPerSecond / 1000).toFixed(0)} k events/s, ${cpu}, ${busy}`]);
  }
  return [...rows, ["W1, Worker bundle", `${gzipKiB.toFixed(1)} KiB gzip`]];
}

function figureTable(rows: readonly (readonly [string, string])[]): string {
  return ["| | |", "|---|---|", ...rows.map(([name, value]) => `| ${name} | ${value} |`)].join("\n");
}

async function read<Figures>(name: string): Promise<Result<Figures>> {
  return JSON.parse(await readFile(join(folder, `${name}.json`), "utf8")) as Result<Figures>;
}

function fanOutTable(title: string, servers: Readonly<Record<string, Point>>): string {
  const nchan = servers["nchan"];
  const raw = servers["raw C"];
  const ratio = (ours: number, theirs: number | undefined) => (theirs === undefined ? "–" : (ours / theirs).toFixed(2));
  const rows = Object.entries(servers).map(
    ([name, point]) =>
      `| ${name} | ${(point.eventsPerSecond / 1000).toFixed(0)} k/s | ${ratio(point.eventsPerSecond, nchan?.eventsPerSecond)} | ` +
      `${ratio(point.eventsPerSecond, raw?.eventsPerSecond)} | ${point.cpuMicroseconds.toFixed(2)} µs | ` +
      `${nchan === undefined ? "–" : ratio(nchan.cpuMicroseconds, point.cpuMicroseconds)} | ${point.p50Ms.toFixed(1)} ms | ${point.p99Ms.toFixed(1)} ms |`,
  );
  return [
    `| ${title} | events | ÷ nchan | ÷ raw C | CPU for each | nchan's CPU ÷ its | p50 | p99 |`,
    "|---|---|---|---|---|---|---|---|",
    ...rows,
  ].join("\n");
}

function growthTable(series: Growth): string {
  const rows = Object.entries(series).map(
    ([name, points]) =>
      `| ${name} | ${points.map(({ at, cpuMicroseconds }) => `${at}: ${cpuMicroseconds.toFixed(2)}`).join(" · ")} |`,
  );
  return ["| grows | CPU for an event of a stream, µs |", "|---|---|", ...rows].join("\n");
}

/** Parts that are a hundredth anywhere, in the order of their largest share. */
function profileTable(profiles: Readonly<Record<string, Profile>>): string {
  const columns = Object.values(profiles);
  const largest = (part: string) => Math.max(...columns.map(({ shares }) => shares[part] ?? 0));
  const parts = Array.from(new Set(columns.flatMap(({ shares }) => Object.keys(shares))))
    .filter((part) => largest(part) >= 0.01)
    .toSorted((one, other) => largest(other) - largest(one));
  const percent = (share: number) => (share < 0.005 ? "–" : `${(share * 100).toFixed(0)} %`);
  return [
    `| | ${Object.keys(profiles).join(" | ")} |`,
    `|---|${columns.map(() => "---|").join("")}`,
    ...parts.map((part) => `| ${part} | ${columns.map(({ shares }) => percent(shares[part] ?? 0)).join(" | ")} |`),
    `| beside that, of the time: idle | ${columns.map(({ idleShare }) => percent(idleShare)).join(" | ")} |`,
  ].join("\n");
}

function followTables(pages: Result<PageFigures>, faulty: Result<FaultFigures>, rest: Result<RestFigures>): string {
  const { polled, rung } = pages.figures;
  const { figures: faults } = faulty;
  const { idle, large } = rest.figures;
  const row = (name: string, { changes, missing, medianSeconds, p99Seconds, maxSeconds }: LatencyFigures) =>
    `| ${name} | ${changes} | ${[medianSeconds, p99Seconds, maxSeconds].map((value) => `${value.toFixed(2)} s`).join(" | ")} | ${missing} |`;
  const requests = polled.requests + rung.requests;
  const fewest = polled.fewestRequests + rung.fewestRequests;
  return [
    `${machineText(pages)}; ${loadText(pages.figures.loads)}, with the faults ${loadText(faults.loads)}.`,
    [
      "| change → page | changes | median | p99 | most | missing |",
      "|---|---|---|---|---|---|",
      row("10 s poll", polled),
      row("with the doorbell", rung),
    ].join("\n"),
    figureTable([
      [
        "requests for those changes ÷ the fewest possible",
        `${requests} ÷ ${fewest} = ${(requests / fewest).toFixed(2)}`,
      ],
      [
        `at rest for ${idle.seconds / idle.intervalSeconds} intervals, here of ${idle.intervalSeconds} s`,
        `${idle.logPolls} polls, ${idle.otherRequests} other requests, ${idle.tokenRequests} for a token`,
      ],
      [
        `${faults.changes.toLocaleString("en-US")} random changes in ${faults.orgs} orgs`,
        `${faults.mishaps} faults of the provider, ${faults.outages} outages of the gateway, ${faults.kills} × \`kill -9\`, ${faults.restarts} restarts`,
      ],
      [
        "… findings that differ from a fresh scan's, holes on the way, lines that the gateway lacks",
        `${faults.problems.length}, ${faults.notAtGateway}`,
      ],
      ["… verdicts that moved", `${faults.lines}, of them marked as not explained ${faults.unexplained}`],
      [
        `a follower of ${large.apps.toLocaleString("en-US")} apps, ${large.changes} changes, ${large.fullScans} full scans`,
        `${large.peakMiB.toFixed(0)} MiB at its peak`,
      ],
    ]),
  ].join("\n\n");
}

function machineText({ machine, node, at }: Omit<Result<unknown>, "figures">): string {
  return `${machine.cores} cores (${machine.cpu}), Node ${node}, ${at.slice(0, 10)}`;
}

function loadText(loads: readonly [number, number]): string {
  return `load ${loads.map((value) => value.toFixed(1)).join(" before, ")} at the end`;
}

function startTables({ figures, machine, node, at }: Result<StartFigures>): string {
  const { servers, commands, package: published, loads } = figures;
  return [
    `${machineText({ machine, node, at })}; ${loadText(loads)}.`,
    [
      "| | ready after | resident |",
      "|---|---|---|",
      ...Object.entries(servers).map(
        ([name, { readyMs, residentMiB }]) => `| ${name} | ${readyMs.toFixed(0)} ms | ${residentMiB.toFixed(0)} MiB |`,
      ),
    ].join("\n"),
    figureTable([
      ...Object.entries(commands).map(([name, ms]) => [name, `${ms.toFixed(0)} ms`] as const),
      ["install of the tarball", `${published.installSeconds.toFixed(1)} s, one package`],
      ["tarball", `${published.tarballMB.toFixed(1)} MB, installed ${published.installedMB.toFixed(1)} MB`],
      ["build and pack", `${published.packSeconds.toFixed(1)} s`],
    ]),
  ].join("\n\n");
}

function barPlot(title: string, servers: Readonly<Record<string, Point>>): string {
  const entries = Object.entries(servers);
  const most = Math.max(...entries.map(([, { cpuMicroseconds }]) => cpuMicroseconds));
  const bars = entries.map(([name, { cpuMicroseconds }], index) => {
    const y = 44 + index * 30;
    const width = (cpuMicroseconds / most) * 380;
    const color = name.startsWith("gateway") ? "#2463eb" : "#9aa3b2";
    return (
      `<text x="196" y="${y + 15}" text-anchor="end">${name}</text>` +
      `<rect x="206" y="${y}" width="${width.toFixed(0)}" height="20" fill="${color}"/>` +
      `<text x="${(214 + width).toFixed(0)}" y="${y + 15}">${cpuMicroseconds.toFixed(2)}</text>`
    );
  });
  return frame(660, 60 + entries.length * 30, `<text x="16" y="24" font-weight="600">${title}</text>${bars.join("")}`);
}

/** Four small plots, each with a logarithmic scale to the right: what is linear in the work is level here. */
function growthPlot(series: Growth): string {
  const plots = Object.entries(series).map(([name, points], index) => {
    const left = 50 + (index % 2) * 330;
    const top = 50 + Math.floor(index / 2) * 190;
    const most = Math.max(...points.map(({ cpuMicroseconds }) => cpuMicroseconds));
    const [low, high] = [points[0]?.at ?? 1, points.at(-1)?.at ?? 1].map(Math.log10);
    const place = ({ at, cpuMicroseconds }: Point & { readonly at: number }) => ({
      x: left + ((Math.log10(at) - (low ?? 0)) / ((high ?? 1) - (low ?? 0))) * 240,
      y: top + 120 - (cpuMicroseconds / most) * 110,
    });
    const line = points.map((point) => `${place(point).x.toFixed(0)},${place(point).y.toFixed(0)}`).join(" ");
    const marks = points.map((point) => {
      const { x, y } = place(point);
      return (
        `<circle cx="${x.toFixed(0)}" cy="${y.toFixed(0)}" r="3.5" fill="#2463eb"/>` +
        `<text x="${x.toFixed(0)}" y="${(y - 8).toFixed(0)}" text-anchor="middle" font-size="10">${point.cpuMicroseconds.toFixed(2)}</text>` +
        `<text x="${x.toFixed(0)}" y="${top + 136}" text-anchor="middle" font-size="10">${point.at.toLocaleString("en-US")}</text>`
      );
    });
    return (
      `<text x="${left}" y="${top - 14}" font-weight="600">${name}</text>` +
      `<line x1="${left - 12}" y1="${top + 120}" x2="${left + 256}" y2="${top + 120}" stroke="#9aa3b2"/>` +
      `<polyline points="${line}" fill="none" stroke="#2463eb" stroke-width="2"/>${marks.join("")}`
    );
  });
  return frame(
    680,
    430,
    `<text x="16" y="22" font-weight="600">CPU time of an event for a stream, µs, as one thing grows</text>${plots.join("")}`,
  );
}
