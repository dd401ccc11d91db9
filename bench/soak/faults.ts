import { pause } from "../../shared/abortable.ts";
import type { SoakEnvironment } from "./environment.ts";

interface Fault {
  readonly name: string;
  readonly start: (environment: SoakEnvironment) => void;
  /** How long it lasts, in milliseconds. */
  readonly forMs: number;
}

/** The faults of the broker, which end every stream, come together: between them a reader has time to be too slow. */
const faults: readonly Fault[] = [
  { name: "database cut", start: ({ databaseNetwork }) => databaseNetwork.cut(), forMs: 0 },
  { name: "database unavailable", start: ({ databaseNetwork }) => databaseNetwork.refuse(), forMs: 1000 },
  { name: "issuer unavailable", start: ({ issuerNetwork }) => issuerNetwork.refuse(), forMs: 1000 },
  { name: "broker cut", start: ({ brokerNetwork }) => brokerNetwork.cut(), forMs: 0 },
  { name: "broker unavailable", start: ({ brokerNetwork }) => brokerNetwork.refuse(), forMs: 1000 },
  { name: "broker slow", start: ({ brokerNetwork }) => brokerNetwork.slow(50_000), forMs: 1000 },
  { name: "broker silent", start: ({ brokerNetwork }) => brokerNetwork.stall(), forMs: 1500 },
  { name: "broker clean end", start: ({ brokerNetwork }) => brokerNetwork.end(), forMs: 0 },
  { name: "database silent", start: ({ databaseNetwork }) => databaseNetwork.stall(), forMs: 1500 },
  { name: "issuer silent", start: ({ issuerNetwork }) => issuerNetwork.stall(), forMs: 1000 },
];

const calmMs = 1000;

/** Injects one fault after another into the networks, with a pause between them, until stopped. Counts each by its name. */
export async function injectFaults(
  environment: SoakEnvironment,
  counts: Record<string, number>,
  stopped: AbortSignal,
): Promise<void> {
  const { brokerNetwork, databaseNetwork, issuerNetwork } = environment;
  while (!stopped.aborted) {
    for (const { name, start, forMs } of faults) {
      if (stopped.aborted) return;
      start(environment);
      counts[name] = (counts[name] ?? 0) + 1;
      await pause(forMs, []);
      for (const network of [brokerNetwork, databaseNetwork, issuerNetwork]) network.restore();
      await pause(calmMs, []);
    }
  }
}
