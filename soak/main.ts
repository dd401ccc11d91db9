import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { runSoak } from "./soak.ts";

// `--figures FILE` keeps what was measured.
const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "5" },
    clients: { type: "string", default: "100" },
    calm: { type: "boolean", default: false },
    figures: { type: "string" },
  },
});
const minutes = Number(values.minutes);
const clients = Number(values.clients);
if (!(minutes > 0) || !Number.isInteger(clients) || clients < 1) {
  console.error("Usage: npm run soak -- --minutes N [--clients N] [--calm] [--figures FILE]: expected numbers above 0");
  process.exit(2);
}
const figures = await runSoak({
  durationMs: minutes * 60_000,
  clients,
  hasFaults: !values.calm,
  say: (line) => console.error(line),
});
const soak = { at: new Date().toISOString(), node: process.versions.node, minutes, clients, ...figures };
if (values.figures !== undefined) await writeFile(values.figures, JSON.stringify(soak));
// The samples are many; the file has them.
const { lives: _lives, ...rest } = soak;
console.log(JSON.stringify(rest, null, 2));
process.exit(figures.problems.length === 0 ? 0 : 1);
