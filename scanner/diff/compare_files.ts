import { compareFindings, findingChangeKinds, type FindingChangeKind } from "../../shared/finding_diff.ts";
import type { Diff } from "../../shared/schemas/diff.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { catalog } from "../catalog/catalog.ts";
import { compareConfiguration } from "./compare_configuration.ts";
import type { ComparedFile } from "./read_side.ts";

/** What differs; throws `UsageError` where the two cannot be compared. */
export function compareFiles(before: ComparedFile, after: ComparedFile): Diff {
  requireComparable(before, after);
  const { changes, notCompared } = compareFindings(before.findings, after.findings);
  const configuration =
    before.configuration === null || after.configuration === null
      ? null
      : compareConfiguration(before.configuration, after.configuration, catalog);
  const objects = configuration?.objects ?? null;
  return {
    schema: "scanstream.diff/1",
    kind: configuration === null ? "reports" : "artifacts",
    before: before.about,
    after: after.about,
    identical: changes.length === 0 && (objects?.length ?? 0) === 0,
    summary: {
      findings: countKinds(changes.map(({ change }) => change)),
      objects: objects === null ? null : countObjects(objects.map(({ change }) => change)),
    },
    findings: changes,
    objects,
    evidence: configuration?.evidence ?? [],
    not_compared: notCompared.map(({ check, onlyIn }) => ({ check, only_in: onlyIn })),
  };
}

function requireComparable(before: ComparedFile, after: ComparedFile): void {
  const [old, now] = [before.about, after.about];
  const fail = (problem: string) =>
    new UsageError([`Cannot compare ${JSON.stringify(old.file)} with ${JSON.stringify(now.file)}: ${problem}`]);
  if ((before.configuration === null) !== (after.configuration === null)) {
    throw fail(`${kindOf(before)} and ${kindOf(after)}: expected two reports, or two files of artifacts`);
  }
  if (originOf(old.org_url) !== originOf(now.org_url)) {
    throw fail(`they are of ${old.org_url} and of ${now.org_url}: expected one organization`);
  }
  if (old.benchmark !== now.benchmark) {
    throw fail(`they are judged by ${old.benchmark} and by ${now.benchmark}: expected one benchmark`);
  }
}

function kindOf({ configuration }: ComparedFile): string {
  return configuration === null ? "a report" : "artifacts";
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}

function countKinds(found: readonly FindingChangeKind[]): Diff["summary"]["findings"] {
  const counts = findingChangeKinds.map((kind) => [kind, found.filter((each) => each === kind).length]);
  return Object.fromEntries(counts) as Record<FindingChangeKind, number>;
}

function countObjects(found: readonly ("added" | "removed" | "changed")[]) {
  const count = (kind: string) => found.filter((each) => each === kind).length;
  return { added: count("added"), removed: count("removed"), changed: count("changed") };
}
