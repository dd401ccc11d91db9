import { createMemoryBroker } from "../../shared/brokers/memory.ts";
import type { BrokerAdapter } from "../gateway_options.ts";

/** A broker inside this process, for a gateway that is one process. */
export function memory(): BrokerAdapter {
  return { open: createMemoryBroker };
}
