import * as v from "valibot";
import { chainProblem } from "../../shared/history/verdict_changes.ts";
import { isClosing } from "../../shared/history/source.ts";
import { parseJsonObject } from "../../shared/json.ts";
import { countOf } from "../../shared/outcome_text.ts";
import { historySchema, type History, type RuleHistory, type VerdictChange } from "../../shared/schemas/history.ts";
import { NotProven } from "./envelope.ts";
import type { Predicate } from "./statement.ts";

/** The history that a file is; null: it is another file. */
export function historyIn(content: Uint8Array): History | null {
  const value = parseJsonObject(Buffer.from(content).toString("utf8"));
  if (value?.["schema"] !== "scanstream.history/1") return null;
  const history = v.safeParse(historySchema, value);
  return history.success ? history.output : null;
}

/**
 * The chain of each rule is whole, is of the organization that was signed for, and has the changes that its exposures rest on.
 * Throws `NotProven`.
 */
export async function verifyHistory(name: string, history: History, predicate: Predicate): Promise<string> {
  const signedFor = [predicate.org_url, ...(predicate.other_org_urls ?? [])];
  let [chains, links] = [0, 0];
  for (const { org_url: orgUrl, rules } of history.organizations) {
    if (!signedFor.includes(orgUrl))
      throw new NotProven(`${name} is about ${orgUrl}, and the statement about ${signedFor.join(", ")}`);
    for (const { check, changes = [], exposures } of rules) {
      if (changes.length === 0) continue;
      const problem =
        (await chainProblem(changes, { org_url: orgUrl, check })) ?? missingChange({ check, changes, exposures });
      if (problem !== null) throw new NotProven(`${name}: ${problem}`);
      chains += 1;
      links += changes.length;
    }
  }
  if (chains === 0) return `${name}: it has no chain, because it was computed from files`;
  return `${name}: ${countOf(chains, "chain")} of ${countOf(links, "change")}, each whole`;
}

/** A chain from which the last change was taken is whole: then an exposure opens or closes without one. */
function missingChange({
  check,
  changes,
  exposures,
}: Pick<RuleHistory, "check" | "exposures"> & { readonly changes: readonly VerdictChange[] }) {
  const first = Math.min(...changes.map(({ known_at }) => Date.parse(known_at)));
  const has = (time: string, isWanted: (change: VerdictChange) => boolean) =>
    Date.parse(time) < first || changes.some((change) => change.known_at === time && isWanted(change));
  for (const { opened, closed } of exposures) {
    if (!has(opened.known_at, ({ status }) => status === "FAIL"))
      return `no change of ${check} opens the exposure of ${opened.known_at}: a change was dropped`;
    if (closed !== null && !has(closed.known_at, isClosing))
      return `no change of ${check} closes the exposure at ${closed.known_at}: a change was dropped`;
  }
  return null;
}
