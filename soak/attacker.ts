import { setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import { attacks, timesReached } from "./attacks.ts";
import type { GatewayUse } from "./victim.ts";

/** A separate thread for one attack, so that what the attacker does slows the gateway alone, and not the victim's clock. */
const { name, use } = workerData as { readonly name: string; readonly use: GatewayUse };
// Elsewhere the attacker has a machine of its own: here it is not to take the processor from the gateway. On Linux this is the thread alone.
setPriority(10);
const stopping = new AbortController();
parentPort?.once("message", () => stopping.abort());
await attacks.find((attack) => attack.name === name)?.run(use, stopping.signal);
parentPort?.close();
if (timesReached() < 3) throw new Error(`it came through to the gateway ${timesReached()} times only`);
