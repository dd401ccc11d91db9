import { parseArgs } from "node:util";
import { runSoak } from "./soak.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "5" },
    clients: { type: "string", default: "100" },
    calm: { type: "boolean", default: false },
  },
});
const minutes = Number(values.minutes);
const clients = Number(values.clients);
if (!(minutes > 0) || !Number.isInteger(clients) || clients < 1) {
  console.error("Usage: npm run soak -- --minutes N [--clients N] [--calm]: expected numbers above 0");
  process.exit(2);
}
const figures = await runSoak({
  durationMs: minutes * 60_000,
  clients,
  hasFaults: !values.calm,
  say: (line) => console.error(line),
});
console.log(JSON.stringify(figures, null, 2));
process.exit(figures.problems.length === 0 ? 0 : 1);
