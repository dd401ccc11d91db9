import { digestOf } from "../../shared/history/verdict_changes.ts";
import type { VerdictChange } from "../../shared/schemas/history.ts";

/** A verdict change before it has its place in the chain. */
export type ChangeDraft = Omit<VerdictChange, "number" | "previous" | "digest">;

/** Numbers and chains the drafts behind the last change of the list; null: they begin it. */
export async function chainChanges(
  drafts: readonly ChangeDraft[],
  last: Pick<VerdictChange, "number" | "digest"> | null,
): Promise<readonly VerdictChange[]> {
  const changes: VerdictChange[] = [];
  let [number, previous] = [last?.number ?? 0, last?.digest ?? null];
  for (const draft of drafts) {
    number += 1;
    const change = { number, previous, ...draft };
    const digest = await digestOf(change);
    changes.push({ ...change, digest });
    previous = digest;
  }
  return changes;
}
