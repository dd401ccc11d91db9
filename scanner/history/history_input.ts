import { momentsOf } from "../../shared/history/moments.ts";
import {
  observe,
  toRuleResult,
  type Observation,
  type Results,
  type RunObservation,
  type Span,
} from "../../shared/history/observation.ts";
import type { Report } from "../../shared/report.ts";
import { stigRuleNames } from "../../shared/rule_names.ts";
import type { ChangeLineInput } from "../../shared/schemas/change.ts";
import { originOf } from "../../shared/schemas/web_address.ts";

/** The input of one organization, from any number of reports and change files, in any order. */
export interface OrganizationInput {
  /** The origin of its address, in lower case. */
  readonly orgUrl: string;
  /** Keys are ids: a scan whose report lies in several files counts once. */
  readonly scans: Map<string, Observation>;
  readonly monitors: MonitorInput[];
  /** V-numbers by the name of the check. */
  readonly vulnIds: Map<string, string>;
  /** Versions of the organization's document, with the checks that rested on each, and when. */
  readonly documents: Map<string, Span & { readonly checks: ReadonlySet<string> }>;
}

export interface MonitorInput {
  readonly ids: ReadonlySet<string>;
  readonly spans: readonly Span[];
  /** Keys are ids: a line that a crash has repeated counts once. */
  readonly lines: ReadonlyMap<string, ChangeLineInput>;
}

/** Collects what the files of a folder say. */
export class HistoryInput {
  readonly #organizations = new Map<string, OrganizationInput>();

  addReport({ scan, checks }: Pick<Report, "scan" | "checks">): void {
    const { scans, vulnIds, documents } = this.#organization(scan.org_url);
    const [from, to] = [Date.parse(scan.started_at), Date.parse(scan.ended_at)];
    const results = checks.map(
      (result) => [result.check, toRuleResult(result, { severity: result.severity, cause: "scan" })] as const,
    );
    scans.set(scan.id, { from, to, results: Object.fromEntries(results) });
    for (const { check, vuln_id: vulnId, findings } of checks) {
      vulnIds.set(check, vulnId);
      for (const document of findings.flatMap(({ rests_on: text }) => text ?? [])) {
        const known = documents.get(document) ?? { from, to, checks: new Set() };
        documents.set(document, {
          from: Math.min(known.from, from),
          to: Math.max(known.to, to),
          checks: new Set([...known.checks, check]),
        });
      }
    }
  }

  /**
   * Adds a follower that one file tells of. A follower whose monitor ended goes on as another one in the same file, and writes to
   * another file after a restart: files that name one monitor, and monitors that one file names, are one source.
   */
  addMonitor(orgUrl: string, monitor: MonitorInput): void {
    const { monitors } = this.#organization(orgUrl);
    const same = monitors.filter((one) => [...one.ids].some((id) => monitor.ids.has(id)));
    const merged = [...same, monitor];
    for (const one of same) monitors.splice(monitors.indexOf(one), 1);
    monitors.push({
      ids: new Set(merged.flatMap((one) => [...one.ids])),
      spans: merged.flatMap((one) => one.spans),
      lines: new Map(merged.flatMap((one) => [...one.lines])),
    });
  }

  /** The organizations in the order of their addresses. */
  organizations(): readonly OrganizationInput[] {
    return [...this.#organizations.values()].sort((one, other) => (one.orgUrl < other.orgUrl ? -1 : 1));
  }

  #organization(address: string): OrganizationInput {
    const orgUrl = originOf(address);
    const [scans, vulnIds, documents] = [new Map(), new Map(), new Map()];
    const known = this.#organizations.get(orgUrl) ?? { orgUrl, scans, monitors: [], vulnIds, documents };
    this.#organizations.set(orgUrl, known);
    return known;
  }
}

/** The checks that a source of the organization speaks of, in the STIG's order. */
export function checksOf({ scans, monitors }: OrganizationInput): readonly string[] {
  const seen = new Set([...scans.values()].flatMap(({ results }) => Object.keys(results)));
  for (const { lines } of monitors) for (const { check } of lines.values()) seen.add(check);
  return [...seen].sort((one, other) => placeOf(one) - placeOf(other) || (one < other ? -1 : 1));
}

function placeOf(check: string): number {
  const index = stigRuleNames.findIndex((rule) => rule.check === check);
  return index === -1 ? stigRuleNames.length : index;
}

export function vulnIdOf(check: string, { vulnIds }: OrganizationInput): string | null {
  return vulnIds.get(check) ?? stigRuleNames.find((rule) => rule.check === check)?.vuln_id ?? null;
}

/** Observations of every scan and monitor. */
export function observationsOf({ scans, monitors }: OrganizationInput): readonly RunObservation[] {
  return [
    ...[...scans].map(([runId, observation]) => ({ runId, began: observation.from, ...observation })),
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

/** Sorted, and without overlap; one that ends before it begins is left out. */
export function mergeSpans(spans: readonly Span[]): readonly Span[] {
  const merged: Span[] = [];
  for (const span of spans.toSorted((one, other) => one.from - other.from || one.to - other.to)) {
    if (span.to < span.from) continue;
    const last = merged.at(-1);
    if (last !== undefined && span.from <= last.to) {
      merged[merged.length - 1] = { from: last.from, to: Math.max(last.to, span.to) };
    } else merged.push(span);
  }
  return merged;
}
