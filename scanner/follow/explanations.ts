import type { ArtifactName } from "../evidence/artifacts.ts";
import type { LogEvent } from "./log_event.ts";

/** An event of the log that touches what a check reads. */
export interface Relevant {
  readonly event: LogEvent;
  readonly artifacts: readonly ArtifactName[];
  readonly seenAtMs: number;
}

/** Events that touch what the check reads, with those of the same transactions that came before and explained nothing yet. */
export function explain(
  needs: readonly ArtifactName[],
  events: readonly Relevant[],
  recent: readonly Relevant[],
): readonly Relevant[] {
  const touches = ({ artifacts }: Relevant) => artifacts.some((name) => needs.includes(name));
  const explaining = events.filter(touches);
  if (explaining.length === 0) return [];
  const transactions = new Set(explaining.map(({ event }) => event.transactionId).filter((id) => id !== null));
  const earlier = recent.filter(
    (other) =>
      !explaining.includes(other) &&
      touches(other) &&
      other.event.transactionId !== null &&
      transactions.has(other.event.transactionId),
  );
  return [...earlier, ...explaining];
}
