import type { CheckResult, Comparison } from "../../shared/report.ts";
import { applyAttestations, parseAttestations, type AttestationEntry } from "./attestations.ts";
import { compareWithBaseline, maxBaselineBytes, parseBaseline, type Baseline } from "./baseline.ts";
import { maxDecisionBytes, type DecisionFileSource } from "./decision_file.ts";
import { readOptionFile, type OptionFile } from "../../command_line/files.ts";
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
  readonly waiversFile: string | null;
  readonly attestationsFile: string | null;
  readonly baselineFile: string | null;
}

/** Throws `UsageError` naming every file that cannot be used, and why. */
export async function readDecisions(
  files: DecisionFiles,
  { rules, warn }: Pick<DecisionFileSource, "rules" | "warn">,
): Promise<Decisions> {
  const known = { rules, ...(warn === undefined ? {} : { warn }) };
  const problems: string[] = [];

  async function read<Value>(
    { file, ...source }: MaybeFile,
    parse: (text: string, file: string) => Value,
  ): Promise<Value | null> {
    if (file === null) return null;
    try {
      return await readOptionFile({ ...source, file }, parse);
    } catch (error) {
      problems.push(messageOf(error));
      return null;
    }
  }

  const { waiversFile, attestationsFile, baselineFile } = files;
  const waivers = await read({ option: "--waivers", file: waiversFile, maxBytes: maxDecisionBytes }, (text, file) =>
    parseWaivers(text, { option: "--waivers", file, ...known }),
  );
  const attestations = await read(
    { option: "--attestations", file: attestationsFile, maxBytes: maxDecisionBytes },
    (text, file) => parseAttestations(text, { option: "--attestations", file, ...known }),
  );
  const baseline = await read({ option: "--baseline", file: baselineFile, maxBytes: maxBaselineBytes }, parseBaseline);
  if (problems.length > 0) throw new UsageError(problems);
  return { waivers: waivers ?? [], attestations: attestations ?? [], baseline };
}

type MaybeFile = Omit<OptionFile, "file"> & { readonly file: string | null };

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
