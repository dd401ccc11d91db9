import { toLine } from "../../shared/text.ts";
import type { CheckResult } from "../../shared/report.ts";
import type { CatalogCheck } from "../catalog/catalog.ts";
import type { CollectedArtifacts } from "../evidence/artifacts.ts";
import { requestsText } from "../evidence/artifact_requests.ts";
import { objectLists } from "../evidence/org_objects.ts";
import { artifactsReadBy, explainFinding } from "./explain_org.ts";
import { ruleLines } from "./explain_text.ts";

/** A policy of a hundred rules; more of them are counted. */
const maxLines = 100;
const maxLineLength = 400;

/**
 * The result with what decides in each finding that fails, for those who have no evidence at hand, as at a gateway. It goes by
 * the artifacts that the check reads: which others are there while a scan is running is chance.
 */
export function withEvaluation(check: CatalogCheck, result: CheckResult, all: CollectedArtifacts): CheckResult {
  if (result.status !== "FAIL") return result;
  const artifacts: CollectedArtifacts = Object.fromEntries(
    artifactsReadBy(check, all).map((name) => [name, all[name]]),
  );
  const read = `Read with ${check.artifacts.map(requestsText).join(", ")}`;
  const lists = objectLists(artifacts);
  // Thousands of apps may share a policy.
  const known = new Map<string, string | null>();
  return {
    ...result,
    findings: result.findings.map((finding) => {
      if (finding.status !== "FAIL") return finding;
      const key = `${finding.cause ?? finding.fingerprint} ${finding.actual}`;
      const before = known.get(key);
      const text =
        before === undefined ? textOf(explainFinding(finding, { check, artifacts, lists, causes: [] }), read) : before;
      known.set(key, text);
      return text === null ? finding : { ...finding, evaluation: text };
    }),
  };
}

/** The result with where the values of its findings were read, and when, as far as the evidence says. */
export function withReads(check: CatalogCheck, result: CheckResult, all: CollectedArtifacts): CheckResult {
  const reads = artifactsReadBy(check, all).flatMap((name) => all[name]?.read ?? []);
  const read_from = reads.map(({ request, at }) => `${request} at ${at}`).join("; ");
  if (read_from === "") return result;
  return { ...result, findings: result.findings.map((finding) => ({ ...finding, read_from })) };
}

/** Null where no rules decide: then the finding's own value does. */
function textOf(explained: ReturnType<typeof explainFinding>, read: string): string | null {
  const lines = ruleLines({ ...explained, also: [] });
  if (lines.length === 0) return null;
  const left = lines.length - maxLines;
  const shown = lines
    .slice(0, maxLines)
    .map((line) => `${/^ */.exec(line)?.[0] ?? ""}${toLine(line.trimStart(), maxLineLength)}`);
  return [...shown, ...(left > 0 ? [`and ${left} more lines`] : []), read].join("\n");
}
