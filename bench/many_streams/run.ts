import { pause } from "../../shared/abortable.ts";
import { nowNs, type BenchServer } from "../bench_server.ts";
import type { StreamHolders } from "./holders.ts";
import type { NumberedEvents } from "./numbered_events.ts";

/** What the phases share. */
export interface ManyStreams {
  readonly holders: StreamHolders;
  readonly events: NumberedEvents;
  gateways: readonly BenchServer[];
  readonly say: (line: string) => void;
}

/** Opened at a time while the number of streams grows. */
const openedAtOnce = 200;

/** Opens streams until there are this many; resolves with the seconds that it took, and throws when it takes too long. */
export async function openAll({ holders }: Pick<ManyStreams, "holders">, streams: number): Promise<number> {
  const from = nowNs();
  holders.open(streams, openedAtOnce);
  const ns = await holders.untilAllOpen(300_000);
  if (ns !== null) return (ns - from) / 1e9;
  const { open, connects, refused503, unreachable, timedOut } = await holders.report();
  throw new Error(
    `Only ${open} of ${streams} streams are open: ${JSON.stringify({ connects, refused503, unreachable, timedOut })}`,
  );
}

/** Throws when a stream lacks an event that was published while it was open. */
export async function requireNothingMissed({ holders, events }: ManyStreams): Promise<void> {
  const last = events.publishLast();
  await pause(2000, []);
  for (let wait = 0; wait < 10 && (await holders.lacking(last)) > 0; wait += 1) await pause(1000, []);
  const lacking = await holders.lacking(last);
  const { violations, garbage, lost, closedOther, refusedOther, example } = await holders.report();
  const wrong = { lacking, violations, garbage, lost, closedOther, refusedOther };
  if (Object.values(wrong).some((count) => count > 0)) {
    throw new Error(
      `Events are missing, or streams were closed for no reason: ${JSON.stringify({ ...wrong, example })}`,
    );
  }
}

export async function cpuOf(gateways: readonly BenchServer[]): Promise<number> {
  return (await Promise.all(gateways.map((each) => each.process.cpuSeconds()))).reduce((sum, each) => sum + each, 0);
}

export async function residentOf(gateways: readonly BenchServer[]): Promise<number> {
  return (await Promise.all(gateways.map((each) => each.process.residentBytes()))).reduce((sum, each) => sum + each, 0);
}
