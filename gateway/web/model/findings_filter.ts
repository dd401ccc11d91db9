import type { Severity, Status } from "../../../shared/report.ts";
import type { Finding } from "./scan_model.ts";

export type FindingOrder = "worst" | "newest" | "resource";

/** An empty set lets everything through. */
export interface FindingsFilter {
  readonly statuses: ReadonlySet<Status>;
  readonly severities: ReadonlySet<Severity>;
  readonly check: string | null;
  readonly text: string;
  readonly order: FindingOrder;
}

export interface FilteredFindings {
  readonly shown: readonly Finding[];
  /** What each choice would show, given the other choices. */
  readonly statusCounts: Readonly<Record<Status, number>>;
  readonly severityCounts: Readonly<Record<Severity, number>>;
}

export const noFilter: FindingsFilter = {
  statuses: new Set(),
  severities: new Set(),
  check: null,
  text: "",
  order: "worst",
};

const statusRank: Readonly<Record<Status, number>> = { FAIL: 0, MANUAL: 1, PASS: 2 };
const severityRank: Readonly<Record<Severity, number>> = { high: 0, medium: 1, low: 2 };

/** One pass over all findings: called for each frame in which some arrived, also with 10,000 of them. */
export function filterFindings(findings: Iterable<Finding>, filter: FindingsFilter): FilteredFindings {
  const words = filter.text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  const statusCounts = { PASS: 0, FAIL: 0, MANUAL: 0 };
  const severityCounts = { high: 0, medium: 0, low: 0 };
  const shown: Finding[] = [];
  for (const finding of findings) {
    if (filter.check !== null && finding.check !== filter.check) continue;
    if (words.length > 0 && !words.every((word) => haystackOf(finding).includes(word))) continue;
    const isStatusShown = filter.statuses.size === 0 || filter.statuses.has(finding.status);
    const isSeverityShown = filter.severities.size === 0 || filter.severities.has(finding.severity);
    if (isSeverityShown) statusCounts[finding.status] += 1;
    if (isStatusShown) severityCounts[finding.severity] += 1;
    if (isStatusShown && isSeverityShown) shown.push(finding);
  }
  return { shown: shown.sort(comparers[filter.order]), statusCounts, severityCounts };
}

/** Findings are never changed, so what the text filter looks into is made once for each. */
const haystacks = new WeakMap<Finding, string>();

function haystackOf(finding: Finding): string {
  const known = haystacks.get(finding);
  if (known !== undefined) return known;
  const { resourceName, check, detail, expected, actual } = finding;
  const words = [resourceName, check, check.replaceAll("_", " "), detail, expected ?? "", actual ?? ""];
  const haystack = words.join("\n").toLowerCase();
  haystacks.set(finding, haystack);
  return haystack;
}

const collator = new Intl.Collator(undefined, { numeric: true });

const comparers: Readonly<Record<FindingOrder, (a: Finding, b: Finding) => number>> = {
  worst: (a, b) =>
    statusRank[a.status] - statusRank[b.status] ||
    severityRank[a.severity] - severityRank[b.severity] ||
    a.order - b.order,
  newest: (a, b) => b.order - a.order,
  resource: (a, b) => collator.compare(a.resourceName, b.resourceName) || a.order - b.order,
};
