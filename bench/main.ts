import { mkdir, writeFile } from "node:fs/promises";
import { cpus, release, totalmem } from "node:os";
import { join } from "node:path";
import { benchBroker } from "./broker.ts";
import { benchBundle } from "./bundle.ts";
import { followBenches } from "./follow.ts";
import {
  benchFanOut,
  benchGrowth,
  benchMemory,
  benchOpening,
  benchProcesses,
  benchProfile,
  openBenchRun,
  type BenchRun,
} from "./gateway_benches.ts";
import { benchScan } from "./scan.ts";
import { benchStart } from "./start.ts";

/**
 * `npm run bench -- [scan fan_out processes memory opening growth profile bundle start broker follow pages]`: measures and prints; it never fails a
 * run by a time; `follow` is `follow_pages`, `follow_faults` and `follow_rest`. Figures are kept as JSON. `BENCH_ROUNDS`: how often each is measured, default 3.
 */
const gatewayBenches: Readonly<Record<string, (run: BenchRun) => Promise<unknown>>> = {
  fan_out: benchFanOut,
  processes: benchProcesses,
  memory: benchMemory,
  opening: benchOpening,
  growth: benchGrowth,
  profile: benchProfile,
};
const rounds = Number(process.env["BENCH_ROUNDS"] ?? 3);
const known = [
  "scan",
  ...Object.keys(gatewayBenches),
  "bundle",
  "start",
  "broker",
  "pages",
  ...Object.keys(followBenches),
];
const requested = process.argv.slice(2).flatMap((name) => (name === "follow" ? Object.keys(followBenches) : [name]));
const unknown = requested.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`Unknown bench: ${unknown.join(", ")}: expected ${known.join(", ")}\n`);
  process.exit(2);
}
const names = requested.length === 0 ? known : requested;

const gatewayNames = names.filter((name) => name in gatewayBenches);
if (gatewayNames.length > 0) await gateway(gatewayNames);
if (names.includes("bundle")) await bundle();
if (names.includes("start")) await keep("start", await benchStart(say, rounds));
if (names.includes("broker")) await keep("broker", await benchBroker(say, rounds));
if (names.includes("scan")) await scan();
for (const [name, bench] of Object.entries(followBenches)) {
  if (!names.includes(name)) continue;
  say(`\n${name}`);
  await keep(name, await bench(say));
}
if (names.includes("pages")) await pages();

async function gateway(benches: readonly string[]): Promise<void> {
  const run = await openBenchRun(say, rounds);
  try {
    for (const name of benches) {
      say(`\n${name}`);
      await keep(name, await gatewayBenches[name]?.(run));
    }
  } finally {
    await run.backends.stop();
  }
}

/** In a process of its own where it is the only one: it stands in for a browser. */
async function pages(): Promise<void> {
  const { measurePageStorm } = await import("./page_storm.ts");
  const figures = await measurePageStorm(1000);
  const { toOpen, perMinute, toRecover, secondsToRecover, inMinuteOfRestart } = figures;
  say(
    `pages: ${figures.pages} · requests of one page: to open ${toOpen.toFixed(1)}, a minute ${perMinute.toFixed(1)}, ` +
      `after a restart ${toRecover.toFixed(1)} until all were live (${secondsToRecover.toFixed(0)} s), ${inMinuteOfRestart.toFixed(1)} in its minute`,
  );
  await keep("pages", figures);
}

async function bundle(): Promise<void> {
  const figures = await benchBundle();
  say(`W1 Worker bundle: ${figures.gzipKiB.toFixed(1)} KiB gzip`);
  await keep("bundle", figures);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function scan(): Promise<void> {
  const figures = [];
  for (const profile of ["typical", "large:10000"]) {
    const figure = await benchScan(profile);
    figures.push(figure);
    const { requests, fewest, scanMs, chainMs } = figure;
    process.stdout.write(
      `${profile}: requests ÷ fewest ${requests} ÷ ${fewest} = ${(requests / fewest).toFixed(2)} · ` +
        `scan ${scanMs} ms, the page chain alone ${chainMs} ms (${(scanMs / chainMs).toFixed(2)}), whole command ${figure.wallMs} ms · ` +
        `429s provoked ${figure.refused429} · peak memory ${figure.maxRssMiB} MiB\n`,
    );
  }
  await keep("scan", figures);
}

async function keep(name: string, figures: unknown): Promise<void> {
  const folder = join(import.meta.dirname, "results");
  await mkdir(folder, { recursive: true });
  const machine = {
    cpu: cpus()[0]?.model,
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
  };
  const result = { name, at: new Date().toISOString(), node: process.version, machine, figures };
  await writeFile(join(folder, `${name}.json`), `${JSON.stringify(result, null, 2)}\n`);
}
