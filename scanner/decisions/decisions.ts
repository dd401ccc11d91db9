import type { Decisions } from "./apply_decisions.ts";
import { maxReportBytes } from "../reports/read_report.ts";
import { parseBaseline } from "./baseline.ts";
import { maxDecisionBytes, parseDecisions, type DecisionFileSource } from "./decision_file.ts";
import { readOptionFile, type NamedFile } from "../../command_line/files.ts";
import { UsageError } from "../../shared/usage_error.ts";

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
  const [decided, compared] = await Promise.allSettled([
    source &&
      readOptionFile({ ...source, maxBytes: maxDecisionBytes }, (text) =>
        parseDecisions(text, { option: source.option, ...known }),
      ),
    baseline && readOptionFile({ ...baseline, maxBytes: maxReportBytes }, parseBaseline),
  ]);
  if (decided.status === "fulfilled" && compared.status === "fulfilled")
    return { waivers: [], attestations: [], ...decided.value, baseline: compared.value };
  const problems = [decided, compared].flatMap((one) =>
    one.status === "rejected" ? [String(one.reason.message)] : [],
  );
  throw new UsageError(problems);
}
