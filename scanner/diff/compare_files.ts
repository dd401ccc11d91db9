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
  const [old = [], now = []] = [before, after].map(({ results }) => results.filter(({ check }) => !ofRules.has(check)));
  const { changes, notCompared } = compareFindings(old, now);
  const { objects = null, evidence = [] } =
    before.artifacts === null || after.artifacts === null
      ? {}
      : compareConfiguration(before.artifacts, after.artifacts, catalog);
  return {
    schema: "scanstream.diff/1",
    kind: objects === null ? "reports" : "artifacts",
    before: before.about,
    after: after.about,
    identical: changes.length === 0 && (objects?.length ?? 0) === 0,
    summary: {
      findings: countChanges(findingChangeKinds, changes),
      objects: objects === null ? null : countChanges(["added", "removed", "changed"], objects),
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
  const [old, now] = [before, after].map((rules) => new Map(rules.map((rule) => [rule.vuln_id, rule])));
  return [...after, ...before.filter(({ vuln_id: vulnId }) => now?.has(vulnId) !== true)].flatMap((rule) => {
    const { check, vuln_id } = rule;
    const was = old?.get(vuln_id);
    if (was !== undefined && was !== rule && was.rule_id === rule.rule_id && isJudged(was) === isJudged(rule))
      return [];
    const change = was === undefined ? "added" : was === rule ? "removed" : "changed";
    return [{ check, vuln_id, change }];
  });
}

function countChanges<Kind extends string>(kinds: readonly Kind[], found: readonly { readonly change: Kind }[]) {
  const counts = kinds.map((kind) => [kind, found.filter(({ change }) => change === kind).length]);
  return Object.fromEntries(counts) as Record<Kind, number>;
}
