import type { CheckResult } from "../../shared/report.ts";
import type { Diff } from "../../shared/schemas/diff.ts";
import { originOf } from "../../shared/schemas/web_address.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { catalog } from "../catalog/catalog.ts";
import { compareConfiguration } from "./compare_configuration.ts";
import { compareFindings, findingChangeKinds, isJudged } from "./compare_findings.ts";
import type { ComparedFile } from "./read_side.ts";

/** Compares two files; throws `UsageError` where the two cannot be compared. */
export function compareFiles(before: ComparedFile, after: ComparedFile): Diff {
  requireComparable(before, after);
  const rules = before.about.benchmark === after.about.benchmark ? null : compareRules(before.results, after.results);
  const ofRules = new Set(rules?.map(({ check }) => check));
  const ofOrg = ({ results }: ComparedFile) => results.filter(({ check }) => !ofRules.has(check));
  const { changes, notCompared } = compareFindings(ofOrg(before), ofOrg(after));
  const configuration =
    before.artifacts === null || after.artifacts === null
      ? null
      : compareConfiguration(before.artifacts, after.artifacts, catalog);
  const objects = configuration?.objects ?? null;
  return {
    schema: "scanstream.diff/1",
    kind: configuration === null ? "reports" : "artifacts",
    before: before.about,
    after: after.about,
    identical: changes.length === 0 && (objects?.length ?? 0) === 0,
    summary: {
      findings: countChanges(findingChangeKinds, changes),
      objects: objects === null ? null : countChanges(["added", "removed", "changed"], objects),
    },
    findings: changes,
    objects,
    evidence: configuration?.evidence ?? [],
    not_compared: notCompared,
    rules,
  };
}

function requireComparable(before: ComparedFile, after: ComparedFile): void {
  const [old, now] = [before.about, after.about];
  const fail = (problem: string) =>
    new UsageError([`Cannot compare ${JSON.stringify(old.file)} with ${JSON.stringify(now.file)}: ${problem}`]);
  if ((before.artifacts === null) !== (after.artifacts === null)) {
    throw fail(`one is ${kindOf(before)}, the other ${kindOf(after)}; give two reports or two evidence files`);
  }
  if (originOf(old.org_url) !== originOf(now.org_url)) {
    throw fail(`one is about ${old.org_url}, the other about ${now.org_url}; give two files of one organization`);
  }
}

/** A rule whose text changed has another id in DISA's revision; one that its check was not written for says so itself. */
function compareRules(before: readonly CheckResult[], after: readonly CheckResult[]): NonNullable<Diff["rules"]> {
  const old = new Map(before.map((rule) => [rule.vuln_id, rule]));
  const now = new Set(after.map(({ vuln_id: vulnId }) => vulnId));
  const about = ({ check, vuln_id }: CheckResult) => ({ check, vuln_id });
  const isSame = (rule: CheckResult, was: CheckResult) =>
    was.rule_id === rule.rule_id && isJudged(was) === isJudged(rule);
  const found = after.flatMap((rule): NonNullable<Diff["rules"]> => {
    const was = old.get(rule.vuln_id);
    if (was !== undefined && isSame(rule, was)) return [];
    return [{ ...about(rule), change: was === undefined ? "added" : "changed" }];
  });
  const gone = before.filter(({ vuln_id: vulnId }) => !now.has(vulnId));
  return [...found, ...gone.map((rule) => ({ ...about(rule), change: "removed" as const }))];
}

function kindOf({ artifacts }: ComparedFile): string {
  return artifacts === null ? "a report" : "evidence";
}

function countChanges<Kind extends string>(
  kinds: readonly Kind[],
  found: readonly { readonly change: Kind }[],
): Record<Kind, number> {
  const counts = kinds.map((kind) => [kind, found.filter(({ change }) => change === kind).length]);
  return Object.fromEntries(counts) as Record<Kind, number>;
}
