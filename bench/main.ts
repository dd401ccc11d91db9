import { cpus, loadavg, release, totalmem } from "node:os";
import { gatewayBenches, openBenchRun } from "./gateway_benches.ts";
import { toMarkdown, type Table } from "./report.ts";
import { scanBenches } from "./scan.ts";

/**
 * `npm run bench -- [name ...]` measures what `docs/compare.md` quotes and prints its tables as Markdown; progress goes to stderr.
 * It never fails a run by a time. `BENCH_ROUNDS` says how often each is measured (default 3); medians count.
 */
const known = [...Object.keys(gatewayBenches), ...Object.keys(scanBenches)];
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

const gatewayNames = names.filter((name) => name in gatewayBenches);
if (gatewayNames.length > 0) {
  const run = await openBenchRun(progress, rounds);
  try {
    for (const name of gatewayNames) await measure(name, () => gatewayBenches[name]?.(run));
  } finally {
    await run.backends.stop();
  }
}
for (const name of names) await measure(name, () => scanBenches[name]?.(progress));

/** Nothing for a name of other benches. */
async function measure(name: string, start: () => Promise<Table> | undefined): Promise<void> {
  const bench = start();
  if (bench === undefined) return;
  progress(`${name}, load ${loadavg()[0]?.toFixed(1)}`);
  process.stdout.write(`\n${toMarkdown(await bench)}\n`);
}

function progress(line: string): void {
  process.stderr.write(`${line}\n`);
}
