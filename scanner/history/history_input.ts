import { monitorPoints } from "../../shared/history/monitor_points.ts";
import type { Span, VerdictSource } from "../../shared/history/source.ts";
import type { Report } from "../../shared/report.ts";
import { worstVerdict, type Verdict } from "../../shared/rule_result.ts";
import { stigRuleNames } from "../../shared/rule_names.ts";
import type { ChangeLineInput } from "../../shared/schemas/change.ts";

/** The input of one organization, from any number of reports and change files, in any order. */
export interface OrganizationInput {
  /** The origin of its address, in lower case. */
  readonly orgUrl: string;
  readonly scans: ReadonlyMap<string, ScanInput>;
  readonly monitors: readonly MonitorInput[];
  /** V-numbers by the name of the check. */
  readonly vulnIds: ReadonlyMap<string, string>;
  /** Versions of the organization's document on which results of scans rest. */
  readonly documents: ReadonlyMap<string, DocumentInput>;
}

interface DocumentInput extends Span {
  readonly checks: ReadonlySet<string>;
}

interface ScanInput extends Span {
  readonly verdicts: ReadonlyMap<string, Pick<Report["checks"][number], "status" | "reason">>;
}

export interface MonitorInput {
  readonly ids: ReadonlySet<string>;
  readonly spans: readonly Span[];
  /** By id: a line that a crash has repeated counts once. */
  readonly lines: ReadonlyMap<string, ChangeLineInput>;
}

interface MutableInput extends OrganizationInput {
  readonly scans: Map<string, ScanInput>;
  readonly monitors: MonitorInput[];
  readonly vulnIds: Map<string, string>;
  readonly documents: Map<string, DocumentInput>;
}

/** Collects what the files of a folder say. */
export class HistoryInput {
  readonly #organizations = new Map<string, MutableInput>();

  addReport({ scan, checks }: Pick<Report, "scan" | "checks">): void {
    const { scans, vulnIds, documents } = this.#organization(scan.org_url);
    const verdicts = new Map(checks.map(({ check, status, reason }) => [check, { status, reason }]));
    scans.set(scan.id, { from: Date.parse(scan.started_at), to: Date.parse(scan.ended_at), verdicts });
    for (const { check, vuln_id } of checks) vulnIds.set(check, vuln_id);
    const [from, to] = [Date.parse(scan.started_at), Date.parse(scan.ended_at)];
    for (const { check, findings } of checks)
      for (const document of new Set(findings.flatMap(({ rests_on: text }) => text ?? []))) {
        const known = documents.get(document) ?? { from, to, checks: new Set() };
        documents.set(document, {
          from: Math.min(known.from, from),
          to: Math.max(known.to, to),
          checks: new Set([...known.checks, check]),
        });
      }
  }

  /**
   * Adds a follower that one file tells of. A follower whose monitor ended goes on as another one in the same file, and writes to
   * another file after a restart: files that name one monitor, and monitors that one file names, are one source.
   */
  addMonitor(orgUrl: string, { ids, spans, lines }: MonitorInput): void {
    const { monitors } = this.#organization(orgUrl);
    const same = monitors.filter((one) => [...one.ids].some((id) => ids.has(id)));
    const merged = [...same, { ids, spans, lines }];
    for (const one of same) monitors.splice(monitors.indexOf(one), 1);
    monitors.push({
      ids: new Set(merged.flatMap((one) => [...one.ids])),
      spans: merged.flatMap((one) => one.spans),
      lines: new Map(merged.flatMap((one) => [...one.lines])),
    });
  }

  /** By address. */
  organizations(): readonly OrganizationInput[] {
    return [...this.#organizations.values()].sort((one, other) => (one.orgUrl < other.orgUrl ? -1 : 1));
  }

  #organization(address: string): MutableInput {
    const orgUrl = originOf(address);
    const known = this.#organizations.get(orgUrl) ?? {
      orgUrl,
      scans: new Map(),
      monitors: [],
      vulnIds: new Map(),
      documents: new Map(),
    };
    this.#organizations.set(orgUrl, known);
    return known;
  }
}

/** Identity of an organization: the lower-case origin of its address. */
export function originOf(address: string): string {
  return (URL.canParse(address) ? new URL(address).origin : address).toLowerCase();
}

/** The checks that a source of the organization speaks of, in the STIG's order. */
export function checksOf({ scans, monitors }: OrganizationInput): readonly string[] {
  const seen = new Set([...scans.values()].flatMap(({ verdicts }) => [...verdicts.keys()]));
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

/** Verdicts of every scan and monitor on one rule. */
export function sourcesOf(check: string, { scans, monitors }: OrganizationInput): readonly VerdictSource[] {
  const ofScans = [...scans].flatMap(([id, { from, to, verdicts }]): readonly VerdictSource[] => {
    const verdict: Verdict | undefined = verdicts.get(check);
    if (verdict === undefined) return [];
    const { status, reason } = worstVerdict([{ status: verdict.status, reason: verdict.reason ?? null }]);
    return [
      {
        id,
        spans: [{ from, to }],
        points: [{ at: from, status, reason, cause: "scan", actor: null, fingerprints: [] }],
      },
    ];
  });
  const ofMonitors = monitors.flatMap(({ ids, spans, lines }): readonly VerdictSource[] => {
    const [id = ""] = [...ids].sort();
    const own = [...lines.values()].filter((line) => line.check === check);
    return own.length === 0 ? [] : [{ id, spans, points: monitorPoints(own) }];
  });
  return [...ofScans, ...ofMonitors];
}
