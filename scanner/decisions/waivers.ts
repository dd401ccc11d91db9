import * as v from "valibot";
import type { CheckResult, Finding, Waiver } from "../../shared/report.ts";
import { decisionFields, isExpired, parseDecisionFile, type DecisionFileSource } from "./decision_file.ts";
import {
  literalOf,
  matchesName,
  maxPatternLength,
  parseNamePattern,
  toCodePoints,
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

/** Well below a second, whatever the file and the names of the provider are. */
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
    const book = toBook(candidates);
    return { ...result, findings: result.findings.map((finding) => waive(finding, { book, used, budget })) };
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

/** The waivers of one check, as they are looked up: the first of the file that covers a finding counts. */
interface Book {
  readonly waivers: readonly WaiverEntry[];
  /** Which waiver is the first for everything, Infinity without one. */
  readonly everything: number;
  /** By id, and by names that are no pattern or are written out: which is the first. */
  readonly exact: ReadonlyMap<string, number>;
  readonly patterns: readonly { readonly index: number; readonly pattern: NamePattern }[];
}

function toBook(waivers: readonly WaiverEntry[]): Book {
  const exact = new Map<string, number>();
  const patterns: { readonly index: number; readonly pattern: NamePattern }[] = [];
  let everything = Infinity;
  for (const [index, { resource }] of waivers.entries()) {
    if (resource === null) {
      everything = Math.min(everything, index);
      continue;
    }
    const pattern = parseNamePattern(resource);
    const literal = literalOf(pattern);
    if (literal === null) patterns.push({ index, pattern });
    for (const text of [resource, literal ?? resource]) if (!exact.has(text)) exact.set(text, index);
  }
  return { waivers, everything, exact, patterns };
}

interface Waiving {
  readonly book: Book;
  readonly used: Set<WaiverEntry>;
  readonly budget: StepBudget;
}

function waive(finding: Finding, { book, used, budget }: Waiving): Finding {
  if (finding.status === "PASS") return finding;
  const waiver = book.waivers[firstThatCovers(finding, book, budget)];
  if (waiver === undefined) return finding;
  used.add(waiver);
  return { ...finding, waived: true, waiver: { reason: waiver.reason, expires: waiver.expires } };
}

/** Infinity when none does, or when that cannot be known in time: a finding is never waived by a guess. */
function firstThatCovers({ resource }: Finding, { everything, exact, patterns }: Book, budget: StepBudget): number {
  const { id, name } = resource;
  const written = Math.min(everything, exact.get(id) ?? Infinity, exact.get(name) ?? Infinity);
  if (patterns.length === 0) return written;
  if (budget.left <= name.length) budget.left = 0;
  if (budget.left === 0) return written;
  budget.left -= name.length;
  const characters = toCodePoints(name);
  for (const { index, pattern } of patterns) {
    if (index > written) break;
    const isCovered = matchesName(pattern, characters, budget);
    if (isCovered === true) return index;
    if (isCovered === null) break;
  }
  return written;
}

function describe(waiver: WaiverEntry): string {
  return `The waiver of ${waiver.check}${waiver.resource === null ? "" : ` for ${JSON.stringify(waiver.resource)}`}`;
}
