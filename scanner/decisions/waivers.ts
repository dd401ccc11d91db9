import * as v from "valibot";
import type { CheckResult, Finding, Waiver } from "../../shared/report.ts";
import { decisionFields, isExpired, parseDecisionFile, type DecisionFileSource } from "./decision_file.ts";
import {
  literalOf,
  matchesName,
  maxPatternLength,
  parseNamePattern,
  type NamePattern,
  type StepBudget,
} from "./name_pattern.ts";

/** A finding that a person accepts: it keeps its status and is shown, but does not fail the run. */
export interface WaiverEntry extends Waiver {
  readonly check: string;
  /** The resource's exact id or name, or a pattern of its name; null: every finding of the check. */
  readonly resource: string | null;
}

const entry = v.strictObject({
  ...decisionFields,
  resource: v.optional(
    v.nullable(
      v.pipe(
        v.string("expected a text"),
        v.nonEmpty("must not be empty"),
        v.maxLength(maxPatternLength, `is too long: expected ${maxPatternLength} characters at most`),
      ),
    ),
    null,
  ),
});

/** Throws `UsageError` naming everything that is wrong with the file. */
export function parseWaivers(text: string, source: DecisionFileSource): readonly WaiverEntry[] {
  return parseDecisionFile(text, "waivers", entry, source);
}

/** Well below a second, whatever the file and the provider's names hold. */
const maxSteps = 30_000_000;

/** The results with their waived findings marked, and a line for each waiver that was ignored or matched nothing. */
export function applyWaivers(
  results: readonly CheckResult[],
  waivers: readonly WaiverEntry[],
  nowMs: number,
): { readonly results: readonly CheckResult[]; readonly warnings: readonly string[] } {
  const inForce = new Set(waivers.filter((waiver) => !isExpired(waiver.expires, nowMs)));
  const byCheck = Map.groupBy(inForce, (waiver) => waiver.check);
  const used = new Set<WaiverEntry>();
  const budget: StepBudget = { left: maxSteps };
  const waived = results.map((result) => {
    const candidates = byCheck.get(result.check);
    if (candidates === undefined) return result;
    const index = createWaiverIndex(candidates);
    return { ...result, findings: result.findings.map((finding) => waive(finding, { index, used, budget })) };
  });
  const selected = new Set(results.map((result) => result.check));
  const warnings = waivers.flatMap((waiver) => {
    if (!inForce.has(waiver)) return [`${describe(waiver)} expired on ${waiver.expires} and is ignored`];
    return used.has(waiver) || !selected.has(waiver.check) ? [] : [`${describe(waiver)} matches no open finding`];
  });
  if (budget.left === 0) {
    warnings.push(
      "The patterns of --waivers take too long on these names: findings that were not reached are not waived",
    );
  }
  return { results: waived, warnings };
}

/** The waivers of one check; of those that match a finding the first of the file counts. */
interface WaiverIndex {
  readonly waivers: readonly WaiverEntry[];
  /** The first waiver of the whole check; Infinity without one. */
  readonly wholeCheck: number;
  /** The first waiver by id, and by name where that is no pattern or has escapes only. */
  readonly exact: ReadonlyMap<string, number>;
  readonly patterns: readonly { readonly index: number; readonly pattern: NamePattern }[];
}

function createWaiverIndex(waivers: readonly WaiverEntry[]): WaiverIndex {
  const exact = new Map<string, number>();
  const patterns: { readonly index: number; readonly pattern: NamePattern }[] = [];
  let wholeCheck = Infinity;
  for (const [index, { resource }] of waivers.entries()) {
    if (resource === null) {
      wholeCheck = Math.min(wholeCheck, index);
      continue;
    }
    const pattern = parseNamePattern(resource);
    const literal = literalOf(pattern);
    if (literal === null) patterns.push({ index, pattern });
    for (const text of [resource, literal ?? resource]) if (!exact.has(text)) exact.set(text, index);
  }
  return { waivers, wholeCheck, exact, patterns };
}

interface WaiveOptions {
  readonly index: WaiverIndex;
  readonly used: Set<WaiverEntry>;
  readonly budget: StepBudget;
}

function waive(finding: Finding, { index, used, budget }: WaiveOptions): Finding {
  if (finding.status === "PASS") return finding;
  const waiver = index.waivers[findFirstMatch(finding, index, budget)];
  if (waiver === undefined) return finding;
  used.add(waiver);
  return { ...finding, waived: true, waiver: { reason: waiver.reason, expires: waiver.expires } };
}

/** Infinity when none matches, or when the budget ran out before that was known: a finding is never waived by a guess. */
function findFirstMatch(
  { resource }: Finding,
  { wholeCheck, exact, patterns }: WaiverIndex,
  budget: StepBudget,
): number {
  const { id, name } = resource;
  const first = Math.min(wholeCheck, exact.get(id) ?? Infinity, exact.get(name) ?? Infinity);
  for (const { index, pattern } of patterns) {
    if (index > first) break;
    const isMatch = matchesName(pattern, name, budget);
    if (isMatch === true) return index;
    if (isMatch === null) break;
  }
  return first;
}

function describe(waiver: WaiverEntry): string {
  return `The waiver of ${waiver.check}${waiver.resource === null ? "" : ` for ${JSON.stringify(waiver.resource)}`}`;
}
