import { cpus, loadavg, release, totalmem } from "node:os";
import { benchFollow, benchFollowMemory } from "./follow.ts";
import { openBenchRun, type BenchRun } from "./bench_run.ts";
import { gatewayBenches } from "./gateway_benches.ts";
import { benchPeers } from "./peers/peers.ts";
import { prowlerBenches } from "./peers/prowler.ts";
import { toMarkdown, type Table } from "./report.ts";
import { benchStart } from "./start.ts";

/**
 * `npm run bench -- [name ...]` measures what `docs/performance.md` quotes and prints its tables as Markdown; progress goes to stderr.
 * It never fails a run by a time. `BENCH_ROUNDS` says how often each is measured (default 3); medians count.
 */
const onBackends: Readonly<Record<string, (run: BenchRun) => Promise<readonly Table[]>>> = {
  ...gatewayBenches,
  peers: benchPeers,
};
const otherBenches: Readonly<Record<string, (progress: (line: string) => void, rounds: number) => Promise<Table>>> = {
  start: benchStart,
  follow: benchFollow,
  follow_memory: benchFollowMemory,
  ...prowlerBenches,
};
const known = [...Object.keys(onBackends), ...Object.keys(otherBenches)];
const rounds = Number(process.env["BENCH_ROUNDS"] ?? 3);
const requested = process.argv.slice(2);
const unknown = requested.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`Unknown bench: ${unknown.join(", ")}: expected ${known.join(", ")}\n`);
  process.exit(2);
}
const names = requested.length === 0 ? known : requested;
const machine = `${cpus().length} cores (${cpus()[0]?.model}), ${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release()}`;
process.stdout.write(`${machine}, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}\n`);

const gatewayNames = names.filter((name) => name in onBackends);
if (gatewayNames.length > 0) {
  const run = await openBenchRun(progress, rounds);
  try {
    for (const name of gatewayNames) await measure(name, async () => (await onBackends[name]?.(run)) ?? []);
  } finally {
    await run.backends.stop();
  }
}
for (const [name, bench] of Object.entries(otherBenches)) {
  if (names.includes(name)) await measure(name, async () => [await bench(progress, rounds)]);
}

async function measure(name: string, bench: () => Promise<readonly Table[]>): Promise<void> {
  progress(`${name}, load ${loadavg()[0]?.toFixed(1)}`);
  for (const table of await bench()) process.stdout.write(`\n${toMarkdown(table)}\n`);
}

function progress(line: string): void {
  process.stderr.write(`${line}\n`);
}
