import type { Surroundings } from "./surroundings.ts";
import { pause, type Work } from "./work.ts";

interface Fault {
  readonly name: string;
  readonly breakIt: (surroundings: Surroundings) => void;
  /** Until everything is restored. */
  readonly forMs: number;
}

/** Those of the broker, which end every stream, come together: between them a reader has time to be too slow. */
const faults: readonly Fault[] = [
  { name: "database cut", breakIt: ({ databaseNetwork }) => databaseNetwork.cut(), forMs: 0 },
  { name: "database unavailable", breakIt: ({ databaseNetwork }) => databaseNetwork.refuse(), forMs: 1000 },
  { name: "issuer unavailable", breakIt: ({ issuerNetwork }) => issuerNetwork.refuse(), forMs: 1000 },
  { name: "broker cut", breakIt: ({ brokerNetwork }) => brokerNetwork.cut(), forMs: 0 },
  { name: "broker unavailable", breakIt: ({ brokerNetwork }) => brokerNetwork.refuse(), forMs: 1000 },
  { name: "broker slow", breakIt: ({ brokerNetwork }) => brokerNetwork.slow(50_000), forMs: 1000 },
  { name: "broker silent", breakIt: ({ brokerNetwork }) => brokerNetwork.stall(), forMs: 1500 },
  { name: "broker clean end", breakIt: ({ brokerNetwork }) => brokerNetwork.end(), forMs: 0 },
  { name: "database silent", breakIt: ({ databaseNetwork }) => databaseNetwork.stall(), forMs: 1500 },
  { name: "issuer silent", breakIt: ({ issuerNetwork }) => issuerNetwork.stall(), forMs: 1000 },
];

const calmMs = 1000;

/** One fault after another, with a pause between them, until stopped; then everything is whole. */
export async function sprinkleFaults(work: Work, signal: AbortSignal): Promise<void> {
  const turnOf = () => Object.values(work.faults).reduce((sum, count) => sum + count, 0);
  while (!signal.aborted) {
    const { name, breakIt, forMs } = faults[turnOf() % faults.length] ?? neverFault();
    breakIt(work.surroundings);
    work.faults[name] = (work.faults[name] ?? 0) + 1;
    await pause(forMs);
    restore(work.surroundings);
    await pause(calmMs);
  }
}

export function restore({ brokerNetwork, databaseNetwork, issuerNetwork }: Surroundings): void {
  for (const network of [brokerNetwork, databaseNetwork, issuerNetwork]) network.restore();
}

function neverFault(): never {
  throw new Error("There are no faults");
}
