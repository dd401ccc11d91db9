import { parseArgs } from "node:util";
import { gatewayCommands, type GatewayVariant } from "../servers.ts";
import { attacks } from "./attacks.ts";
import { runAttacks } from "./hostile_tenants.ts";
import { runSoak } from "./soak.ts";

const usage = `Usage: node bench/soak/main.ts [--minutes N] [--clients N] [--attack-seconds N] [--attack NAME] [--on node|deno]
Load and faults for N minutes (on Node), then three tenants with one attack after the other, or the one of that name; 0 leaves a part out.
Exit code 1: a promise was broken, something leaks, or an attack was noticed by a fourth tenant.`;

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "5" },
    clients: { type: "string", default: "100" },
    "attack-seconds": { type: "string", default: "10" },
    attack: { type: "string" },
    on: { type: "string", default: "node" },
  },
});
const [minutes = 0, clients = 0, seconds = 0] = [values.minutes, values.clients, values["attack-seconds"]].map(Number);
const chosen = attacks.filter(({ name }) => name === (values.attack ?? name));
const isValid = chosen.length > 0 && minutes >= 0 && seconds >= 0 && Number.isInteger(clients) && clients > 0;
if (!isVariant(values.on) || !isValid) {
  console.error(usage);
  process.exit(2);
}
const problems: string[] = [];
if (minutes > 0) {
  problems.push(...(await runSoak({ durationMs: minutes * 60_000, clients, log: (line) => console.error(line) })));
}
if (seconds > 0) {
  problems.push(...(await runAttacks(chosen, { on: values.on, seconds, log: (line) => console.log(line) })));
}
console.log(problems.length === 0 ? "Every promise was kept." : `Problems:\n${problems.join("\n")}`);
process.exit(problems.length === 0 ? 0 : 1);

function isVariant(name: string): name is GatewayVariant {
  return Object.hasOwn(gatewayCommands, name);
}
