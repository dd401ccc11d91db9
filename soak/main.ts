import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { runSoak } from "./soak.ts";
import { runUpgrade } from "./upgrade.ts";

const usage = `Usage: npm run soak -- [--minutes N] [--clients N] [--calm] [--figures FILE]
       npm run soak -- --upgrade [--clients N]
Expected numbers above 0. --figures keeps every sample.`;

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "5" },
    clients: { type: "string", default: "100" },
    calm: { type: "boolean", default: false },
    upgrade: { type: "boolean", default: false },
    figures: { type: "string" },
  },
});
const minutes = Number(values.minutes);
const clients = Number(values.clients);
if (!(minutes > 0) || !Number.isInteger(clients) || clients < 1) {
  console.error(usage);
  process.exit(2);
}
const log = (line: string) => console.error(line);
if (values.upgrade) {
  const report = await runUpgrade({ streams: clients, holdMs: 5000, log });
  console.log(JSON.stringify(report, null, 2));
  process.exit(report.lost === 0 && report.open_at_end === clients ? 0 : 1);
}
const figures = await runSoak({ durationMs: minutes * 60_000, clients, hasFaults: !values.calm, log });
if (values.figures !== undefined) await writeFile(values.figures, JSON.stringify(figures));
const { lives: _samples, ...rest } = figures;
console.log(JSON.stringify(rest, null, 2));
process.exit(figures.problems.length === 0 ? 0 : 1);
