import {
  momentsOf,
  observe,
  type Observation,
  type Results,
  type RunObservation,
  type Span,
} from "../../shared/history/observation.ts";
import { ruleHistoryOf, toTime } from "../../shared/history/rule_history.ts";
import { stigRuleNames } from "../../shared/rule_names.ts";
import type { ChangeLineInput } from "../../shared/schemas/change.ts";
import type { History } from "../../shared/schemas/history.ts";

/** The input of one organization, from any number of reports and change files, in any order. */
export interface OrganizationInput {
  /** The origin of its address, in lower case. */
  readonly orgUrl: string;
  /** Keys are ids: a scan whose report lies in several files counts once. */
  readonly scans: Map<string, RunObservation>;
  readonly monitors: MonitorInput[];
  /** V-numbers by check, as reports have them. */
  readonly vulnIds: Map<string, string>;
  /** Results of scans that rest on a version of the organization's document. */
  readonly documented: (Span & { readonly document: string; readonly check: string })[];
}

export interface MonitorInput {
  readonly ids: Set<string>;
  readonly spans: Span[];
  /** Keys are ids: a line that a crash has repeated counts once. */
  readonly lines: Map<string, ChangeLineInput>;
}

/**
 * Adds the follower of one file. A follower whose monitor ended continues with another monitor in the same file, and may write to
 * another file after a restart: files that name the same monitor, and monitors in the same file, are one source.
 */
export function addMonitor({ monitors }: OrganizationInput, monitor: MonitorInput): void {
  const [known, ...others] = monitors.filter(({ ids }) => [...monitor.ids].some((id) => ids.has(id)));
  if (known === undefined) return void monitors.push(monitor);
  // Into the known one: a follower of a year has a file for each day.
  for (const { ids, spans, lines } of [...others, monitor]) {
    for (const id of ids) known.ids.add(id);
    for (const span of spans) known.spans.push(span);
    for (const [id, line] of lines) known.lines.set(id, line);
  }
  for (const other of others) monitors.splice(monitors.indexOf(other), 1);
}

/** `rules`: checks to show even where nothing is known of them; null: every one that is known. */
export function historyOf(
  organizations: readonly OrganizationInput[],
  period: Span,
  rules: ReadonlySet<string> | null,
): History {
  const sorted = organizations.toSorted((one, other) => (one.orgUrl < other.orgUrl ? -1 : 1));
  return {
    schema: "scanstream.history/1",
    from: toTime(period.from),
    to: toTime(period.to),
    organizations: sorted.map((organization) => {
      const { orgUrl, vulnIds, scans, monitors } = organization;
      const observations = [...scans.values(), ...monitors.flatMap(observationsOf)];
      const known = new Set(observations.flatMap(({ results }) => Object.keys(results)));
      return {
        org_url: orgUrl,
        rules: [...(rules ?? known)].map((check) => {
          const vulnId = vulnIds.get(check) ?? stigRuleNames.find((names) => names.check === check)?.vuln_id ?? null;
          return ruleHistoryOf({ check, vulnId, observations, period });
        }),
        ...documentsOf(organization, period, rules),
      };
    }),
  };
}

/** Versions of the document on which results in the period rest. */
function documentsOf({ documented }: OrganizationInput, period: Span, rules: ReadonlySet<string> | null) {
  const found = [...Map.groupBy(documented, ({ document }) => document)]
    .map(([document, all]) => {
      const { from, to } = boundsOf(all);
      const checks = [...new Set(all.map(({ check }) => check))].filter((check) => rules?.has(check) ?? true);
      return { document, from: toTime(from), to: toTime(to), checks };
    })
    .filter(({ to, checks }) => checks.length > 0 && Date.parse(to) >= period.from)
    .toSorted((one, other) => (one.from < other.from ? -1 : 1));
  return found.length === 0 ? {} : { documents: found };
}

/** Observations of a monitor. A result that moved while it did not poll is known at that moment only. */
function observationsOf({ ids, spans, lines }: MonitorInput): readonly RunObservation[] {
  const events: readonly { at: number; order: number; moved?: Results; begun?: 1 | -1 }[] = [
    ...spans.flatMap(({ from, to }) => [
      { at: from, order: 0, begun: 1 as const },
      { at: to, order: 2, begun: -1 as const },
    ]),
    ...momentsOf([...lines.values()]).map((moment) => ({ ...moment, order: 1 })),
  ];
  const known: Observation[] = [];
  /** How many spans it is in: they may overlap. */
  let within = 0;
  for (const { at, moved = {}, begun = 0 } of events.toSorted(
    (one, other) => one.at - other.at || one.order - other.order,
  )) {
    const longestMs = within > 0 ? Number.POSITIVE_INFINITY : 0;
    known.push(...observe(known.splice(-1), { at, moved, longestMs }));
    within += begun;
  }
  const [runId = ""] = [...ids].sort();
  return known.map((observation) => ({ runId, began: known[0]?.from ?? observation.from, ...observation }));
}

/** From the first to the last. `Math.min(...times)` has a limit to how many there are: each finding of each scan may be one. */
export function boundsOf(spans: readonly Span[]): Span {
  return spans.reduce((all, { from, to }) => ({ from: Math.min(all.from, from), to: Math.max(all.to, to) }));
}
