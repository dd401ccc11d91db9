import { worstVerdict } from "../rule_result.ts";
import type { Explanation, NewChange } from "../schemas/change.ts";
import type { HistoryActor } from "../schemas/history.ts";
import { rankOf, type RuleVerdict, type VerdictPoint } from "./source.ts";

/** What of a change line says how the verdict of its rule moved. */
export type MovedFinding = Pick<NewChange, "fingerprint" | "to" | "seen_at" | "cause" | "rule"> & {
  readonly explained_by: readonly Pick<Explanation, "actor">[];
};

/**
 * The verdicts of one rule as one monitor saw them, from the findings that moved. A line that names the verdict of its rule
 * decides; for others it is the worst of the findings that the lines name.
 */
export function monitorPoints(lines: readonly MovedFinding[]): readonly VerdictPoint[] {
  const findings = new Map<string, RuleVerdict>();
  const rounds = [...Map.groupBy(lines, ({ seen_at }) => Date.parse(seen_at))].sort(([one], [other]) => one - other);
  return rounds.map(([at, moved]) => {
    // The worse of two lines about one finding at one moment is kept, so that the order of reading does not matter.
    for (const { fingerprint, to } of moved.toSorted((one, other) => rankOfMove(one) - rankOfMove(other))) {
      if (to === null) findings.delete(fingerprint);
      else findings.set(fingerprint, to);
    }
    const verdict = statedRule(moved) ?? verdictOf([...findings.values()]);
    const decisive = moved.filter(({ to }) => to?.status === verdict.status);
    const explained = (decisive.length > 0 ? decisive : moved).flatMap((line) => line.explained_by);
    return {
      at,
      ...verdict,
      cause: (decisive[0] ?? moved[0])?.cause ?? "reconciliation",
      actor: actorOf(explained),
      fingerprints: [...findings].filter(([, { status }]) => status === verdict.status).map(([name]) => name),
    };
  });
}

/** A rule that no finding speaks of was not read. */
function verdictOf(findings: readonly RuleVerdict[]): RuleVerdict {
  return findings.length === 0 ? { status: "MANUAL", reason: "unreadable" } : worstVerdict(findings);
}

function statedRule(lines: readonly MovedFinding[]): RuleVerdict | null {
  const stated = lines.flatMap(({ rule }) => (rule === undefined ? [] : [rule]));
  return stated.toSorted((one, other) => rankOf(other) - rankOf(one))[0] ?? null;
}

function rankOfMove({ to }: MovedFinding): number {
  return to === null ? -2 : rankOf(to);
}

function actorOf(events: readonly Pick<Explanation, "actor">[]): HistoryActor | null {
  const actors = events.map(({ actor }) => actor).filter((actor) => actor !== null);
  const known = actors.find(({ id, login, name }) => id !== null || login !== null || name !== null);
  if (known === undefined) return null;
  const { id, login, name } = known;
  return { id, login, name };
}
