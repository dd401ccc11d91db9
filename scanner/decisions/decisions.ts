import type { CheckResult, Comparison } from "../../shared/report.ts";
import { applyAttestations, parseAttestations, type AttestationEntry } from "./attestations.ts";
import { compareWithBaseline, maxBaselineBytes, parseBaseline, type Baseline } from "./baseline.ts";
import { maxDecisionBytes, type DecisionFileSource } from "./decision_file.ts";
import { readOptionFile, type NamedFile } from "../../command_line/files.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { applyPlans } from "./plans.ts";
import { applyWaivers, parseWaivers, type WaiverEntry } from "./waivers.ts";

/** Read and checked before a scan starts. */
export interface Decisions {
  readonly waivers: readonly WaiverEntry[];
  readonly attestations: readonly AttestationEntry[];
  readonly baseline: Baseline | null;
}

/** The files that hold them; null: not given. */
export interface DecisionFiles {
  readonly waivers: NamedFile | null;
  readonly attestations: NamedFile | null;
  readonly baseline: NamedFile | null;
}

/** Throws `UsageError` naming every file that cannot be used, and why. */
export async function readDecisions(
  files: DecisionFiles,
  { rules, warn }: Pick<DecisionFileSource, "rules" | "warn">,
): Promise<Decisions> {
  const known = { rules, ...(warn === undefined ? {} : { warn }) };
  const problems: string[] = [];

  async function read<Value>(
    source: NamedFile | null,
    maxBytes: number,
    parse: (text: string, source: NamedFile) => Value,
  ): Promise<Value | null> {
    if (source === null) return null;
    try {
      return await readOptionFile({ ...source, maxBytes }, (text) => parse(text, source));
    } catch (error) {
      problems.push(messageOf(error));
      return null;
    }
  }

  const waivers = await read(files.waivers, maxDecisionBytes, (text, source) =>
    parseWaivers(text, { ...source, ...known }),
  );
  const attestations = await read(files.attestations, maxDecisionBytes, (text, source) =>
    parseAttestations(text, { ...source, ...known }),
  );
  const baseline = await read(files.baseline, maxBaselineBytes, parseBaseline);
  if (problems.length > 0) throw new UsageError(problems);
  return { waivers: waivers ?? [], attestations: attestations ?? [], baseline };
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

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
