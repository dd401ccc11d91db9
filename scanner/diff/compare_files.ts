import type { CheckResult, Report } from "../../shared/report.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { builtIn, type Revision } from "../catalog/catalog.ts";
import { evaluateCheck } from "../evaluate.ts";
import { ownValues, type OrgPolicy } from "../org_policy/document.ts";
import { artifactsSchema, type ArtifactsDocument } from "../evidence/artifacts_document.ts";
import { toContext } from "../run_scan.ts";
import { originOf } from "../../shared/schemas/web_address.ts";
import { compareConfiguration } from "./compare_configuration.ts";
import { compareFindings, isJudged } from "./compare_findings.ts";
import { pairUp } from "./compare_values.ts";
import { findingChanges, objectChanges, type Diff } from "./diff_schema.ts";

/** One of the two files of `diff`. */
export interface ComparedFile {
  readonly file: string;
  readonly content: Report | ArtifactsDocument;
  /** The revision by which a kept run was judged. */
  readonly benchmark?: string | undefined;
}

/** The organization's document and the revision of the STIG that evidence is evaluated by. */
interface Judged {
  readonly orgPolicy: OrgPolicy | null;
  readonly revision: Revision;
}

/** Compares two files; throws `UsageError` where the two cannot be compared. */
export function compareFiles(before: ComparedFile, after: ComparedFile, by: Judged): Diff {
  requireComparable(before, after);
  const { side: old, results: was } = readSide(before, by);
  const { side: now, results: is } = readSide(after, by);
  const rules = old.benchmark === now.benchmark ? null : compareRules(was, is);
  const ofRules = new Set(rules?.map(({ check }) => check));
  const isShared = ({ check }: CheckResult) => !ofRules.has(check);
  const { role } = after.content.scan;
  const { changes, notCompared } = compareFindings(was.filter(isShared), is.filter(isShared), role);
  const values = ownValues(by.orgPolicy, now.ended_at);
  const { objects = null, evidence = [] } =
    isEvidence(before.content) && isEvidence(after.content)
      ? compareConfiguration([before.content.artifacts, after.content.artifacts], by.revision.checks, values)
      : {};
  return {
    schema: "scanstream.diff/1",
    kind: objects === null ? "reports" : "artifacts",
    before: old,
    after: now,
    identical: changes.length === 0 && (objects?.length ?? 0) === 0,
    summary: {
      findings: countChanges(findingChanges, changes),
      objects: objects === null ? null : countChanges(objectChanges, objects),
    },
    findings: changes,
    objects,
    evidence,
    not_compared: notCompared,
    rules,
  };
}

function isEvidence(content: Report | ArtifactsDocument): content is ArtifactsDocument {
  return content.schema === artifactsSchema;
}

/** Evidence is evaluated, a report stays as it was decided. */
function readSide({ file, content }: ComparedFile, { orgPolicy, revision }: Judged) {
  const { org_url, ended_at } = content.scan;
  if (!isEvidence(content)) {
    const { benchmark = builtIn.benchmark.id, scan, checks: results } = content;
    return { side: { file, org_url, benchmark, ended_at, scan_id: scan.id }, results };
  }
  const { scan, evaluated_at: evaluatedAt, checks, artifacts } = content;
  const context = toContext({ engine: scan.engine, orgUrl: org_url, evaluatedAt, orgPolicy });
  const examined = revision.checks.filter(({ name }) => checks.includes(name));
  return {
    side: { file, org_url, benchmark: revision.benchmark.id, ended_at, scan_id: null },
    results: examined.map((check) => evaluateCheck(check, artifacts, context)),
  };
}

function requireComparable(before: ComparedFile, after: ComparedFile): void {
  const fail = (problem: string) =>
    new UsageError([`Cannot compare ${JSON.stringify(before.file)} with ${JSON.stringify(after.file)}: ${problem}`]);
  const [kind, other] = [before, after].map(({ content }) => (isEvidence(content) ? "evidence" : "a report"));
  if (kind !== other) throw fail(`one is ${kind}, the other ${other}; give two reports or two evidence files`);
  const [org, otherOrg] = [before.content.scan.org_url, after.content.scan.org_url];
  if (originOf(org) !== originOf(otherOrg))
    throw fail(`one is about ${org}, the other about ${otherOrg}; give two files of one organization`);
}

/** A rule whose text changed has another id in DISA's revision; one that its check was not written for says so itself. */
function compareRules(before: readonly CheckResult[], after: readonly CheckResult[]): NonNullable<Diff["rules"]> {
  const { pairs, removed, added } = pairUp(before, after, { idOf: ({ vuln_id: vulnId }) => vulnId });
  const changed = pairs.filter(([old, now]) => old.rule_id !== now.rule_id || isJudged(old) !== isJudged(now));
  const kinds = { changed: changed.map(([, now]) => now), added, removed };
  return objectChanges.flatMap((change) => kinds[change].map(({ check, vuln_id }) => ({ check, vuln_id, change })));
}

function countChanges<Kind extends string>(kinds: readonly Kind[], found: readonly { readonly change: Kind }[]) {
  const counts = kinds.map((kind) => [kind, found.filter(({ change }) => change === kind).length]);
  return Object.fromEntries(counts) as Record<Kind, number>;
}
