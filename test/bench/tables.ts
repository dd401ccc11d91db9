import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * `node test/bench/tables.ts`: prints the tables of `docs/performance.md` from `results/`, and draws their plots into
 * `docs/images/`.
 */
interface Point {
  readonly eventsPerSecond: number;
  readonly cpuMicroseconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

interface Result<Figures> {
  readonly at: string;
  readonly node: string;
  readonly machine: Readonly<Record<string, unknown>>;
  readonly figures: Figures;
}

type FanOut = Readonly<Record<string, Readonly<Record<string, Point>>>>;
type Growth = Readonly<Record<string, readonly (Point & { readonly at: number })[]>>;

const folder = join(import.meta.dirname, "results");
const images = join(import.meta.dirname, "../../docs/images");

const fanOut = await read<FanOut>("fan_out");
const growth = await read<Growth>("growth");
for (const [title, servers] of Object.entries(fanOut.figures)) print(fanOutTable(title, servers));
print(growthTable(growth.figures));
const [first = {}] = Object.values(fanOut.figures);
await writeFile(
  join(images, "performance_fan_out.svg"),
  barPlot("CPU time of one event for one stream, µs (1,000 streams)", first),
);
await writeFile(join(images, "performance_growth.svg"), growthPlot(growth.figures));
print(`${JSON.stringify(fanOut.machine)} Node ${fanOut.node}, ${fanOut.at}`);

async function read<Figures>(name: string): Promise<Result<Figures>> {
  return JSON.parse(await readFile(join(folder, `${name}.json`), "utf8")) as Result<Figures>;
}

function print(text: string): void {
  process.stdout.write(`${text}\n\n`);
}

function fanOutTable(title: string, servers: Readonly<Record<string, Point>>): string {
  const nchan = servers["nchan"];
  const raw = servers["raw C"];
  const ratio = (ours: number, theirs: number | undefined) => (theirs === undefined ? "–" : (ours / theirs).toFixed(2));
  const rows = Object.entries(servers).map(
    ([name, point]) =>
      `| ${name} | ${(point.eventsPerSecond / 1000).toFixed(0)} k/s | ${ratio(point.eventsPerSecond, nchan?.eventsPerSecond)} | ` +
      `${ratio(point.eventsPerSecond, raw?.eventsPerSecond)} | ${point.cpuMicroseconds.toFixed(2)} µs | ` +
      `${ratio(nchan?.cpuMicroseconds ?? Number.NaN, point.cpuMicroseconds)} | ${point.p50Ms.toFixed(1)} ms | ${point.p99Ms.toFixed(1)} ms |`,
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

const frame = (width: number, height: number, body: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="13">` +
  `<rect width="${width}" height="${height}" fill="#fff"/>${body}</svg>\n`;

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
