import { cpus, loadavg, release, totalmem } from "node:os";
import { openBenchRun } from "./bench_run.ts";
import { gatewayBenches } from "./gateway_benches.ts";
import { toMarkdown, type Table } from "./report.ts";
import { scanBenches } from "./scan.ts";
import { benchStart } from "./start.ts";

/**
 * `npm run bench -- [name ...]` measures what `docs/compare.md` quotes and prints its tables as Markdown; progress goes to stderr.
 * It never fails a run by a time. `BENCH_ROUNDS` says how often each is measured (default 3); medians count.
 */
const otherBenches: Readonly<Record<string, (progress: (line: string) => void, rounds: number) => Promise<Table>>> = {
  start: benchStart,
  ...scanBenches,
};
const known = [...Object.keys(gatewayBenches), ...Object.keys(otherBenches)];
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
for (const name of names.filter((each) => each in otherBenches)) {
  await measure(name, () => otherBenches[name]?.(progress, rounds));
}

async function measure(name: string, bench: () => Promise<Table> | undefined): Promise<void> {
  progress(`${name}, load ${loadavg()[0]?.toFixed(1)}`);
  const table = await bench();
  if (table !== undefined) process.stdout.write(`\n${toMarkdown(table)}\n`);
}

function progress(line: string): void {
  process.stderr.write(`${line}\n`);
}
