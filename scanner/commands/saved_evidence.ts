import { AppError } from "../../shared/app_error.ts";
import type { CheckResult } from "../../shared/report.ts";
import type { CommandIo } from "../../command_line/command_io.ts";
import { readOptionFile } from "../../command_line/files.ts";
import type { CatalogCheck } from "../catalog/catalog.ts";
import { readApprovedIssuers } from "../config.ts";
import type { ParameterValues } from "../checks/parameter.ts";
import { maxArtifactsBytes, parseArtifacts, type ArtifactsDocument } from "../evidence/artifacts_document.ts";
import { evaluateTraced, toContext, type ScanTrace } from "../run_scan.ts";

interface SavedSelection {
  readonly selected: readonly CatalogCheck[];
  readonly isNamed: boolean;
  /** The organization's values in place of the STIG's. */
  readonly parameters: ParameterValues;
  readonly trace: ScanTrace | undefined;
}

/**
 * The verdicts on a file of `--save-artifacts`. `isNamed`: the checks were named one by one; else a check whose artifacts
 * were not collected is left out. Rejects with `UsageError` for a file that cannot be read.
 */
export async function evaluateSaved(
  file: string,
  { selected, isNamed, parameters, trace }: SavedSelection,
  { env }: Pick<CommandIo, "env">,
): Promise<{
  readonly results: readonly CheckResult[];
  readonly document: ArtifactsDocument;
  readonly text: string;
}> {
  let saved = "";
  const document = await readOptionFile({ option: "--from-artifacts", file, maxBytes: maxArtifactsBytes }, (text) => {
    saved = text;
    try {
      return parseArtifacts(text);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const problem = error.message.replace(
        "Cannot read the evidence",
        `Cannot use --from-artifacts ${JSON.stringify(file)}`,
      );
      throw new AppError(error.code, problem, { cause: error });
    }
  });
  const checks = isNamed ? selected : selected.filter(({ name }) => document.checks.includes(name));
  const { engine, org_url: orgUrl } = document.scan;
  const approvedIssuers = readApprovedIssuers(env);
  const context = toContext({
    engine,
    orgUrl,
    evaluatedAt: document.evaluated_at,
    approvedIssuers,
    parameters,
  });
  const results = checks.map((check) => evaluateTraced(check, document.artifacts, { context, trace }));
  return { results, document, text: saved };
}
