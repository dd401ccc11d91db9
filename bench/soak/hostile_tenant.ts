import { setPriority } from "node:os";
import { attacks, reached } from "./attacks.ts";

/** One hostile tenant in a process of its own, until SIGTERM. Arguments: the attack, the gateway's URL, a key, an address. */
const [name = "", url = "", key = "", address = ""] = process.argv.slice(2);
const attack = attacks.find((each) => each.name === name);
if (attack === undefined) throw new Error(`There is no attack ${name}`);
// It stands for another machine: its own work is not to slow down the gateway.
setPriority(15);
const stopping = new AbortController();
// A socket that reads nothing does not keep a process alive.
setInterval(() => {}, 60_000);
void attack.run({ url, key, address }, stopping.signal).catch((error: unknown) => console.error(error));
process.once("SIGTERM", () => {
  stopping.abort();
  process.send?.(reached.times, () => process.exit(0));
});
process.send?.(0);
