import { parseArgs } from "node:util";
import { runUpgrade } from "./upgrade.ts";

const { values } = parseArgs({ options: { streams: { type: "string", default: "2000" } } });
const streams = Number(values.streams);
if (!Number.isInteger(streams) || streams < 1 || streams > 4000) {
  console.error("Usage: npm run soak:upgrade -- [--streams N]: expected an integer from 1 to 4000");
  process.exit(2);
}
const say = (line: string) => console.error(line);
const report = await runUpgrade({ streams, eventsPerSecond: 10, holdMs: 5000, say });
console.log(JSON.stringify(report, null, 2));
process.exit(report.missed === 0 && report.stale_clients === 0 ? 0 : 1);
