import { mkdir, writeFile } from "node:fs/promises";
import { cpus, release, totalmem } from "node:os";
import { join } from "node:path";
import { benchBundle } from "./bundle.ts";
import { followBenches } from "./follow.ts";
import {
  benchFanOut,
  benchMemory,
  benchOpening,
  benchProcesses,
  openBenchRun,
  type BenchRun,
} from "./gateway_benches.ts";
import { historyBenches } from "./history.ts";
import { benchHundredThousand } from "./hundred_thousand.ts";
import { benchPeers } from "./peers/peers.ts";
import { prowlerBenches } from "./peers/prowler.ts";
import { benchScans } from "./scan.ts";
import { benchStart } from "./start.ts";
import { storedBenches } from "./stored_growth.ts";
import { benchWorkers } from "./workers.ts";

/**
 * `npm run bench -- [name ...]` measures what `bench/measurements.md` quotes, and never fails a run by a time. `follow`, `prowler` and
 * `stored` are several benches each. Figures are kept as JSON. `BENCH_ROUNDS` says how often each is measured (default 3).
 */
/** These share one database and one Redis. */
const gatewayBenches: Readonly<Record<string, (run: BenchRun) => Promise<unknown>>> = {
  fan_out: benchFanOut,
  processes: benchProcesses,
  memory: benchMemory,
  opening: benchOpening,
  workers: benchWorkers,
  peers: benchPeers,
  hundred_thousand: ({ backends, say }) => benchHundredThousand(backends, say),
};
const otherBenches: Readonly<Record<string, (say: (line: string) => void, rounds: number) => Promise<unknown>>> = {
  bundle: benchBundle,
  start: benchStart,
  scan: benchScans,
  ...followBenches,
  ...prowlerBenches,
  ...storedBenches,
  ...historyBenches,
};
const known = [...Object.keys(gatewayBenches), ...Object.keys(otherBenches)];
const rounds = Number(process.env["BENCH_ROUNDS"] ?? 3);
const groups: Readonly<Record<string, object>> = {
  follow: followBenches,
  prowler: prowlerBenches,
  stored: storedBenches,
};
const requested = process.argv.slice(2).flatMap((name) => Object.keys(groups[name] ?? { [name]: null }));
const unknown = requested.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`Unknown bench: ${unknown.join(", ")}: expected ${known.join(", ")}\n`);
  process.exit(2);
}
const names = requested.length === 0 ? known : requested;

const gatewayNames = names.filter((name) => name in gatewayBenches);
if (gatewayNames.length > 0) await gateway(gatewayNames);
for (const [name, bench] of Object.entries(otherBenches)) {
  if (!names.includes(name)) continue;
  say(`\n${name}`);
  await keep(name, await bench(say, rounds));
}

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

function say(line: string): void {
  process.stdout.write(`${line}\n`);
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
