import type { CheckResult, Comparison } from "../../shared/report.ts";
import { applyAttestations, type AttestationEntry } from "./attestations.ts";
import { maxReportBytes } from "../reports/read_report.ts";
import { compareWithBaseline, parseBaseline, type Baseline } from "./baseline.ts";
import { maxDecisionBytes, parseDecisions, type DecisionFileSource } from "./decision_file.ts";
import { readOptionFile, type NamedFile } from "../../command_line/files.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { applyPlans, applyWaivers, type WaiverEntry } from "./waivers.ts";

/** Read and checked before a scan starts. */
export interface Decisions {
  readonly waivers: readonly WaiverEntry[];
  readonly attestations: readonly AttestationEntry[];
  readonly baseline: Baseline | null;
}

/** The files that hold them; null: not given. */
export interface DecisionFiles {
  readonly decisions: NamedFile | null;
  readonly baseline: NamedFile | null;
}

/** Throws `UsageError` naming every file that cannot be used, and why. */
export async function readDecisions(
  { decisions: source, baseline }: DecisionFiles,
  known: Pick<DecisionFileSource, "rules" | "warn">,
): Promise<Decisions> {
  const problems: string[] = [];
  const attempt = <Value>(work: Promise<Value> | null) =>
    work?.catch((error: unknown) => {
      problems.push(error instanceof Error ? error.message : String(error));
      return null;
    }) ?? null;
  const decisions = await attempt(
    source &&
      readOptionFile({ ...source, maxBytes: maxDecisionBytes }, (text) =>
        parseDecisions(text, { ...source, ...known }),
      ),
  );
  const earlier = await attempt(
    baseline && readOptionFile({ ...baseline, maxBytes: maxReportBytes }, (text) => parseBaseline(text, baseline)),
  );
  if (problems.length > 0) throw new UsageError(problems);
  return { waivers: [], attestations: [], ...decisions, baseline: earlier };
}

export interface DecidedResults {
  readonly results: readonly CheckResult[];
  readonly comparison: Comparison | null;
  readonly warnings: readonly string[];
}

/** The results with waivers, attestations, plans and the comparison on them; no status changes. */
export function applyDecisions(results: readonly CheckResult[], decisions: Decisions, nowMs: number): DecidedResults {
  const waived = applyWaivers(results, decisions.waivers, nowMs);
  const attested = applyAttestations(waived.results, decisions.attestations, nowMs);
  const planned = applyPlans(attested.results, decisions.waivers, nowMs);
  const warnings = [...waived.warnings, ...attested.warnings];
  if (decisions.baseline === null) return { results: planned, comparison: null, warnings };
  return { ...compareWithBaseline(planned, decisions.baseline), warnings };
}
