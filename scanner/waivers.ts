import picomatch from "picomatch";
import * as v from "valibot";
import type { CheckResult, Finding, Waiver } from "../shared/report.ts";
import { decisionFields, isExpired, parseDecisionFile, type DecisionFileSource } from "./decision_file.ts";

/** A finding that a person accepts: it keeps its status and is shown, but does not fail the run. */
export interface WaiverEntry extends Waiver {
  readonly check: string;
  /** The resource's exact id, or a glob on its name; null: every finding of the check. */
  readonly resource: string | null;
}

const entry = v.strictObject({
  ...decisionFields,
  resource: v.optional(v.nullable(v.pipe(v.string("expected a text"), v.nonEmpty("must not be empty"))), null),
});

/** Throws `DecisionFileError` naming everything that is wrong with the file. */
export function parseWaivers(text: string, source: DecisionFileSource): readonly WaiverEntry[] {
  return parseDecisionFile(text, "waivers", entry, source);
}

/** The results with their waived findings marked, and a line for each waiver that was ignored or matched nothing. */
export function applyWaivers(
  results: readonly CheckResult[],
  waivers: readonly WaiverEntry[],
  nowMs: number,
): { readonly results: readonly CheckResult[]; readonly warnings: readonly string[] } {
  const inForce = waivers.filter((waiver) => !isExpired(waiver.expires, nowMs));
  const used = new Set<WaiverEntry>();
  const waived = results.map((result) => {
    const candidates = inForce.filter((waiver) => waiver.check === result.check);
    if (candidates.length === 0) return result;
    return { ...result, findings: result.findings.map((finding) => waive(finding, candidates, used)) };
  });
  const selected = new Set(results.map((result) => result.check));
  const warnings = waivers.flatMap((waiver) => {
    if (!inForce.includes(waiver)) return [`${describe(waiver)} expired on ${waiver.expires} and is ignored`];
    return used.has(waiver) || !selected.has(waiver.check) ? [] : [`${describe(waiver)} matches no open finding`];
  });
  return { results: waived, warnings };
}

function waive(finding: Finding, waivers: readonly WaiverEntry[], used: Set<WaiverEntry>): Finding {
  if (finding.status === "PASS") return finding;
  const waiver = waivers.find((candidate) => covers(candidate, finding));
  if (waiver === undefined) return finding;
  used.add(waiver);
  return { ...finding, waived: true, waiver: { reason: waiver.reason, expires: waiver.expires } };
}

function covers(waiver: WaiverEntry, finding: Finding): boolean {
  if (waiver.resource === null || waiver.resource === finding.resource.id) return true;
  // A name may hold slashes and leading dots; neither means a path here.
  return picomatch.isMatch(finding.resource.name, waiver.resource, { dot: true, bash: true, nonegate: true });
}

function describe(waiver: WaiverEntry): string {
  return `The waiver of ${waiver.check}${waiver.resource === null ? "" : ` for ${JSON.stringify(waiver.resource)}`}`;
}
