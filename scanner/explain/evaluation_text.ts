import { toLine } from "../../shared/text.ts";
import type { CheckResult, Finding } from "../../shared/report.ts";
import type { CatalogCheck } from "../catalog/catalog.ts";
import { memoize } from "../checks/evaluating/memoize.ts";
import { causesOf } from "../causes/causes.ts";
import type { ArtifactName, CollectedArtifacts } from "../evidence/artifacts.ts";
import { artifactsReadBy } from "../checks/check.ts";
import type { OwnValues } from "../org_policy/document.ts";
import { explainFinding, indexOrg } from "./explain_org.ts";
import { ruleLines } from "./explain_text.ts";

/** A policy of a hundred rules; more of them are counted. */
const maxLines = 100;
const maxLineLength = 400;

/**
 * Adds to each finding what a reader without the evidence needs, as at a gateway: the change that closes it, the rules that
 * decide, and where its values were read, and when. Change and rules go by the artifacts that the check declares or reads: which
 * others are there while a scan is running is chance.
 */
export function withExplanations(
  check: CatalogCheck,
  result: CheckResult,
  { artifacts: all, values }: { readonly artifacts: CollectedArtifacts; readonly values: OwnValues },
): CheckResult {
  const only = (names: readonly ArtifactName[]): CollectedArtifacts =>
    Object.fromEntries(names.map((name) => [name, all[name]]));
  const read = artifactsReadBy(check, all, values);
  const changes = new Map(causesOf([result], only(check.artifacts)).map(({ id, change }) => [id, change]));
  const evaluationOf = result.status === "FAIL" ? createEvaluations(check, only(read)) : () => null;
  const reads = read.flatMap((name) => all[name]?.read ?? []);
  const read_from = reads.map(({ request, at }) => `${request} at ${at}`).join("; ");
  return {
    ...result,
    findings: result.findings.map((finding) => {
      const to_pass = changes.get(finding.cause ?? "");
      const evaluation = finding.status === "FAIL" ? evaluationOf(finding) : null;
      return {
        ...finding,
        ...(to_pass !== undefined && { to_pass }),
        ...(evaluation !== null && { evaluation }),
        ...(read_from !== "" && { read_from }),
      };
    }),
  };
}

/** Returns the text of a finding; null where no rules decide: then the finding's own value does. */
function createEvaluations(check: CatalogCheck, artifacts: CollectedArtifacts): (finding: Finding) => string | null {
  const requests = check.artifacts.flatMap((name) => artifacts[name]?.read?.request ?? []);
  const read = requests.length === 0 ? [] : [`Read with ${requests.join(", ")}`];
  const org = indexOrg(artifacts);
  const explain = (finding: Finding): string | null => {
    const lines = ruleLines(explainFinding(finding, { check, org, causes: [] }));
    const shown = lines
      .slice(0, maxLines)
      .map((line) => `${/^ */.exec(line)?.[0] ?? ""}${toLine(line.trimStart(), maxLineLength)}`);
    const left = lines.length - maxLines;
    return lines.length === 0 ? null : [...shown, ...(left > 0 ? [`and ${left} more lines`] : []), ...read].join("\n");
  };
  // Thousands of apps may share a policy.
  return memoize(explain, ({ cause, fingerprint, actual }) => `${cause ?? fingerprint} ${actual}`);
}
