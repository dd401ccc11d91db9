import {
  momentsOf,
  observe,
  type Observation,
  type Results,
  type RuleResult,
  type RunObservation,
  type Span,
} from "../../shared/history/observation.ts";
import { ruleHistoryOf } from "../../shared/history/rule_history.ts";
import { stigRuleNames } from "../../shared/rule_names.ts";
import type { ChangeLineInput } from "../../shared/schemas/change.ts";
import type { History } from "../../shared/schemas/history.ts";

/** The input of one organization, from any number of reports and change files, in any order. */
export interface OrganizationInput {
  /** The origin of its address, in lower case. */
  readonly orgUrl: string;
  /** Keys are ids: a scan whose report lies in several files counts once. */
  readonly scans: Map<string, ScanInput>;
  readonly monitors: MonitorInput[];
}

export interface ScanInput extends Span {
  readonly rules: readonly {
    readonly check: string;
    readonly vulnId: string;
    readonly result: RuleResult;
    /** Versions of the organization's document. */
    readonly restsOn: readonly string[];
  }[];
}

export interface MonitorInput {
  readonly ids: ReadonlySet<string>;
  readonly spans: readonly Span[];
  /** Keys are ids: a line that a crash has repeated counts once. */
  readonly lines: ReadonlyMap<string, ChangeLineInput>;
}

/**
 * Adds a follower that one file tells of. A follower whose monitor ended goes on as another one in the same file, and writes to
 * another file after a restart: files that name one monitor, and monitors that one file names, are one source.
 */
export function addMonitor({ monitors }: OrganizationInput, monitor: MonitorInput): void {
  const same = monitors.filter(({ ids }) => [...ids].some((id) => monitor.ids.has(id)));
  const merged = [...same, monitor];
  for (const one of same) monitors.splice(monitors.indexOf(one), 1);
  monitors.push({
    ids: new Set(merged.flatMap(({ ids }) => [...ids])),
    spans: merged.flatMap(({ spans }) => spans),
    lines: new Map(merged.flatMap(({ lines }) => [...lines])),
  });
}

/** `rules`: checks to show even where nothing is known of them; null: every one that is known, in the STIG's order. */
export function historyOf(
  organizations: readonly OrganizationInput[],
  period: Span,
  rules: ReadonlySet<string> | null,
): History {
  return {
    schema: "scanstream.history/1",
    from: toTime(period.from),
    to: toTime(period.to),
    organizations: organizations
      .toSorted((one, other) => (one.orgUrl < other.orgUrl ? -1 : 1))
      .map((organization) => {
        const observations = observationsOf(organization);
        const vulnIds = vulnIdsOf(organization);
        return {
          org_url: organization.orgUrl,
          rules: [...(rules ?? vulnIds.keys())].map((check) =>
            ruleHistoryOf({
              check,
              vulnId: vulnIds.get(check) ?? stigVulnIds.get(check) ?? null,
              observations,
              period,
            }),
          ),
          ...documentsOf(organization, period, rules),
        };
      }),
  };
}

function toTime(ms: number): string {
  return new Date(ms).toISOString();
}

const stigVulnIds = new Map(stigRuleNames.map(({ check, vuln_id: vulnId }) => [check, vulnId]));
const places = new Map([...stigVulnIds.keys()].map((check, index) => [check, index]));

/** V-numbers of the checks that a source speaks of, in the STIG's order. */
function vulnIdsOf({ scans, monitors }: OrganizationInput): ReadonlyMap<string, string | null> {
  const found = new Map<string, string | null>(
    monitors.flatMap(({ lines }) => [...lines.values()].map(({ check }) => [check, stigVulnIds.get(check) ?? null])),
  );
  for (const { rules } of scans.values()) for (const { check, vulnId } of rules) found.set(check, vulnId);
  const placeOf = (check: string) => places.get(check) ?? places.size;
  return new Map([...found].sort(([one], [other]) => placeOf(one) - placeOf(other) || (one < other ? -1 : 1)));
}

/** Versions of the document on which results in the period rest. */
function documentsOf({ scans }: OrganizationInput, period: Span, rules: ReadonlySet<string> | null) {
  const resting = [...scans.values()].flatMap(({ from, to, rules: ofScan }) =>
    ofScan.flatMap(({ check, restsOn }) => restsOn.map((document) => ({ document, check, from, to }))),
  );
  const found = [...Map.groupBy(resting, ({ document }) => document)]
    .map(([document, all]) => ({
      document,
      from: toTime(Math.min(...all.map(({ from }) => from))),
      to: toTime(Math.max(...all.map(({ to }) => to))),
      checks: [...new Set(all.map(({ check }) => check))].filter((check) => rules?.has(check) ?? true),
    }))
    .filter(({ to, checks }) => checks.length > 0 && Date.parse(to) >= period.from)
    .toSorted((one, other) => (one.from < other.from ? -1 : 1));
  return found.length === 0 ? {} : { documents: found };
}

/** Observations of every scan and monitor. */
function observationsOf({ scans, monitors }: OrganizationInput): readonly RunObservation[] {
  return [
    ...[...scans].map(([runId, { from, to, rules }]) => {
      const results = Object.fromEntries(rules.map(({ check, result }) => [check, result]));
      return { runId, began: from, from, to, results };
    }),
    ...monitors.flatMap((monitor) => {
      const [runId = ""] = [...monitor.ids].sort();
      const known = observationsOfMonitor(monitor);
      return known.map((observation) => ({ runId, began: known[0]?.from ?? observation.from, ...observation }));
    }),
  ];
}

/** A result that moved while the monitor did not poll is known at that moment only. */
function observationsOfMonitor({ spans, lines }: MonitorInput): readonly Observation[] {
  const events: readonly { at: number; order: number; moved?: Results; polls?: boolean }[] = [
    ...mergeSpans(spans).flatMap(({ from, to }) => [
      { at: from, order: 0, polls: true },
      { at: to, order: 2, polls: false },
    ]),
    ...momentsOf([...lines.values()]).map((moment) => ({ ...moment, order: 1 })),
  ];
  const observations: Observation[] = [];
  let isPolling = false;
  for (const { at, moved = {}, polls } of events.toSorted(
    (one, other) => one.at - other.at || one.order - other.order,
  )) {
    const longestMs = isPolling ? Number.POSITIVE_INFINITY : 0;
    observations.push(...observe(observations.splice(-1), { at, moved, longestMs }));
    isPolling = polls ?? isPolling;
  }
  return observations;
}

/** Sorted, and without overlap. */
export function mergeSpans(spans: readonly Span[]): readonly Span[] {
  const merged: Span[] = [];
  for (const span of spans.toSorted((one, other) => one.from - other.from)) {
    const last = merged.at(-1);
    if (last !== undefined && span.from <= last.to)
      merged[merged.length - 1] = { from: last.from, to: Math.max(last.to, span.to) };
    else merged.push(span);
  }
  return merged;
}
