import type { CheckResult } from "../../shared/report.ts";
import { ContentError, UsageError } from "../../shared/usage_error.ts";
import { readOptionFile } from "../../command_line/files.ts";
import { builtIn, catalog } from "../catalog/catalog.ts";
import { evaluateCheck } from "../evaluate.ts";
import { ownValues, type OrgPolicy } from "../org_policy/document.ts";
import type { CollectedArtifacts } from "../evidence/artifacts.ts";
import { artifactsSchema, parseArtifacts } from "../evidence/artifacts_document.ts";
import { maxReportBytes, parseReport } from "../reports/read_report.ts";
import { parseJsonText } from "../evidence/json_text.ts";
import { toContext } from "../run_scan.ts";
import { originOf } from "../../shared/schemas/web_address.ts";
import { compareConfiguration } from "./compare_configuration.ts";
import { compareFindings, isJudged } from "./compare_findings.ts";
import { pairUp } from "./compare_values.ts";
import { findingChanges, objectChanges, type Diff, type DiffSide } from "./diff_schema.ts";

/** One of the two files of `diff`: a report, or evidence. */
export interface ComparedFile {
  readonly about: DiffSide;
  /** Null for a report. */
  readonly artifacts: CollectedArtifacts | null;
  /** Evidence is evaluated by the document of its organization. */
  readonly resultsBy: (orgPolicy: OrgPolicy | null) => readonly CheckResult[];
}

/** Reads a report or an evidence file; throws `UsageError` naming the file and what is wrong. */
export async function readComparedFile(file: string): Promise<ComparedFile> {
  return readOptionFile({ option: "the file", file, maxBytes: maxReportBytes }, (content) =>
    parseComparedFile(content, file),
  );
}

function parseComparedFile(content: string, file: string): ComparedFile {
  const schema = /"schema"\s*:\s*"([a-z._]{1,60}\/\d+(?:\.\d+)?)"/.exec(content)?.[1];
  if (schema === artifactsSchema) {
    const { scan, evaluated_at: evaluatedAt, checks, artifacts } = parseArtifacts(content);
    const { org_url: orgUrl, engine, ended_at } = scan;
    const about = { file, org_url: orgUrl, benchmark: builtIn.benchmark.id, ended_at, scan_id: null };
    const evaluated = catalog.filter(({ name }) => checks.includes(name));
    const resultsBy = (orgPolicy: OrgPolicy | null) => {
      const context = toContext({ engine, orgUrl, evaluatedAt, orgPolicy });
      return evaluated.map((check) => evaluateCheck(check, artifacts, context));
    };
    return { about, artifacts, resultsBy };
  }
  if (schema !== "scanstream.report/1") {
    // A file that is broken JSON is refused for that.
    if (schema === undefined) parseJsonText(content);
    const found = schema === undefined ? "it has no schema" : `it has the schema "${schema}"`;
    throw new ContentError([`${found}: expected a report (--format json) or evidence (--save-artifacts)`]);
  }
  const { scan, checks, benchmark = builtIn.benchmark.id } = parseReport(content);
  const about = { file, org_url: scan.org_url, benchmark, ended_at: scan.ended_at, scan_id: scan.id };
  return { about, artifacts: null, resultsBy: () => checks };
}

/** Compares two files; throws `UsageError` where the two cannot be compared. */
export function compareFiles(before: ComparedFile, after: ComparedFile, orgPolicy: OrgPolicy | null): Diff {
  requireComparable(before, after);
  const [was, is] = [before.resultsBy(orgPolicy), after.resultsBy(orgPolicy)];
  const rules = before.about.benchmark === after.about.benchmark ? null : compareRules(was, is);
  const ofRules = new Set(rules?.map(({ check }) => check));
  const isShared = ({ check }: CheckResult) => !ofRules.has(check);
  const { changes, notCompared } = compareFindings(was.filter(isShared), is.filter(isShared));
  const { objects = null, evidence = [] } =
    before.artifacts === null || after.artifacts === null
      ? {}
      : compareConfiguration(before.artifacts, after.artifacts, ownValues(orgPolicy, after.about.ended_at));
  return {
    schema: "scanstream.diff/1",
    kind: objects === null ? "reports" : "artifacts",
    before: before.about,
    after: after.about,
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

function requireComparable(before: ComparedFile, after: ComparedFile): void {
  const [old, now] = [before.about, after.about];
  const fail = (problem: string) =>
    new UsageError([`Cannot compare ${JSON.stringify(old.file)} with ${JSON.stringify(now.file)}: ${problem}`]);
  const kindOf = ({ artifacts }: ComparedFile) => (artifacts === null ? "a report" : "evidence");
  if (kindOf(before) !== kindOf(after))
    throw fail(`one is ${kindOf(before)}, the other ${kindOf(after)}; give two reports or two evidence files`);
  if (originOf(old.org_url) !== originOf(now.org_url))
    throw fail(`one is about ${old.org_url}, the other about ${now.org_url}; give two files of one organization`);
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
