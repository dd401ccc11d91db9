import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pointsOf } from "./held.ts";
import { memoryPlot } from "./memory_plot.ts";
import { courseAfterWarmUp } from "./plateau.ts";
import type { SoakFigures } from "./soak.ts";

/** A soak and how it was run. */
export interface SoakRecord extends SoakFigures {
  readonly at: string;
  readonly node: string;
  readonly minutes: number;
  readonly clients: number;
}

const docs = join(import.meta.dirname, "../docs");

/** Puts the figures of a long run into `docs/reliability.md`, and draws its memory. Rejects for one that failed. */
export async function recordSoak(soak: SoakRecord): Promise<void> {
  if (soak.problems.length > 0) throw new Error(`Cannot record a soak that failed: ${soak.problems.join("; ")}`);
  await writeFile(join(docs, "images", "soak_memory.svg"), memoryPlot(soak.lives));
  const page = join(docs, "reliability.md");
  const text = await readFile(page, "utf8");
  const between = /(<!-- soak: .*? -->\n)[^]*?(<!-- \/soak -->)/;
  await writeFile(
    page,
    text.replace(between, (_all, start: string, end: string) => `${start}\n${table(soak)}\n\n${end}`),
  );
}

function table(soak: SoakRecord): string {
  const { counts, faults, before, after } = soak;
  const faultCounts = Object.entries(faults).map(([name, count]) => `${name} ${count}`);
  const rows: readonly (readonly [string, string])[] = [
    ["run", `${soak.at.slice(0, 10)}, ${soak.minutes} minutes, \`--clients ${soak.clients}\`, Node ${soak.node}`],
    [
      "streams opened",
      `${number(counts.streams)}; ${number(counts.lost)} of them closed as \`lost\` by a fault, ${number(counts.drained)} as \`drain\` by the restart, ${number(counts.slow)} as too slow`,
    ],
    [
      "refusals",
      `${number(counts.refused)}, each with the status that its cause has; ${number(counts.overLimit)} were 429 to the tenant at its limit, ${number(counts.trespasses)} were streams of another tenant asked for`,
    ],
    [
      "events read",
      `${number(counts.events)}; none missing, out of order or of another channel between \`open\` and close`,
    ],
    [
      "authority that ended",
      `${number(counts.revoked)} streams closed as \`revoked\`, the slowest ${(counts.longestRevocationMs / 1000).toFixed(1)} s after it (rechecked every 3 s, outages of the database included); ${number(counts.expired)} as \`expired\`; ${number(counts.rotations)} keys of the issuer taken into service`,
    ],
    ["scans", `${number(counts.scans)} real ones, each completed and with the exit code of a calm one`],
    ["faults", faultCounts.join(", ")],
    ["descriptors", `${before.descriptors} before, ${after.descriptors} after`],
    ["timers", `${before.timers} before, ${after.timers} after`],
    ["streams, subscriptions at Redis", `0 before, ${after.streams} and ${after.subscriptions} after`],
    ["heap after a collection, MiB", courseOf(soak, "liveMiB")],
    ["memory outside the heap that V8 knows of, MiB", courseOf(soak, "externalMiB")],
    ["resident memory, MiB", courseOf(soak, "rssMiB")],
  ];
  return ["| | |", "|---|---|", ...rows.map(([name, value]) => `| ${name} | ${value} |`)].join("\n");
}

function courseOf({ lives, before }: SoakRecord, name: "liveMiB" | "externalMiB" | "rssMiB"): string {
  const courses = lives.map(({ samples }, index) => {
    const course = courseAfterWarmUp(pointsOf(samples, name));
    if (course === null) return `life ${index + 1} too short`;
    const { from, to, steadyRise } = course;
    return `life ${index + 1} from ${from.toFixed(0)} to ${to.toFixed(0)}, ${steadyRise.toFixed(1)} of it steadily`;
  });
  return [...(name in before ? [`${before[name as "rssMiB"].toFixed(0)} before`] : []), ...courses].join("; ");
}

function number(value: number): string {
  return value.toLocaleString("en-US");
}
