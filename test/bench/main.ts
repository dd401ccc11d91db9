import { mkdir, writeFile } from "node:fs/promises";
import { cpus, release, totalmem } from "node:os";
import { join } from "node:path";
import { benchScan } from "./scan.ts";

/** `npm run bench -- [scan]`: measures and prints; it never fails a run by a time. Figures are kept as JSON. */
const names = process.argv.slice(2);

if (names.length === 0 || names.includes("scan")) await scan();

async function scan(): Promise<void> {
  const figures = [];
  for (const profile of ["typical", "large:10000"]) {
    const figure = await benchScan(profile);
    figures.push(figure);
    const { requests, fewest, wallMs, boundMs } = figure;
    process.stdout.write(
      `${profile}: requests ÷ fewest ${requests} ÷ ${fewest} = ${(requests / fewest).toFixed(2)} · ` +
        `wall ${wallMs} ms, at best ${boundMs} ms (${(wallMs / boundMs).toFixed(2)}) · ` +
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
