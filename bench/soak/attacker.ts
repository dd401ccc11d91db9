import { setPriority } from "node:os";
import { attacks, timesReached } from "./attacks.ts";
import type { GatewayUse } from "./victim.ts";

/** A separate process for one attack of one tenant, so that what the attacker does slows the gateway alone, and not the victim's clock. */
export interface Attacking {
  readonly name: string;
  readonly use: GatewayUse;
}

/** Elsewhere the attacker has a separate machine: here it takes the processor from nobody. */
setPriority(19);
const stopping = new AbortController();
process.once("disconnect", () => process.exit(1));
// The measurement begins when all attackers are there: to start them takes the processor, too.
process.send?.({ reached: 0 });
process.once("message", ({ name, use }: Attacking) => {
  process.once("message", () => stopping.abort());
  void attack(name, use);
});

async function attack(name: string, use: GatewayUse): Promise<void> {
  await attacks.find((attack) => attack.name === name)?.run(use, stopping.signal);
  process.send?.({ reached: timesReached() });
}
