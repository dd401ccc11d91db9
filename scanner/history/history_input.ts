import { monitorPoints } from "../../shared/history/monitor_points.ts";
import type { Span, VerdictSource } from "../../shared/history/source.ts";
import { worstVerdict, type Report, type Verdict } from "../../shared/report.ts";
import { stigRuleNames } from "../../shared/rule_names.ts";
import type { ChangeLineInput } from "../../shared/schemas/change.ts";

/** Of one organization, from any number of reports and change files, in any order. */
export interface OrganizationInput {
  /** The origin of its address, in lower case. */
  readonly orgUrl: string;
  readonly scans: ReadonlyMap<string, ScanInput>;
  readonly monitors: ReadonlyMap<string, MonitorInput>;
  /** V-numbers by the name of the check, for rules of the organization's own. */
  readonly vulnIds: ReadonlyMap<string, string>;
}

interface ScanInput extends Span {
  readonly verdicts: ReadonlyMap<string, Pick<Report["checks"][number], "status" | "reason">>;
}

interface MonitorInput {
  readonly spans: readonly Span[];
  /** By id: a line that a crash has repeated counts once. */
  readonly lines: ReadonlyMap<string, ChangeLineInput>;
}

/** Collects what the files of a folder say. */
export class HistoryInput {
  readonly #organizations = new Map<
    string,
    {
      readonly orgUrl: string;
      readonly scans: Map<string, ScanInput>;
      readonly monitors: Map<string, { readonly spans: Span[]; readonly lines: Map<string, ChangeLineInput> }>;
      readonly vulnIds: Map<string, string>;
    }
  >();

  addReport({ scan, checks }: Pick<Report, "scan" | "checks">): void {
    const { scans, vulnIds } = this.#organization(scan.org_url);
    const verdicts = new Map(checks.map(({ check, status, reason }) => [check, { status, reason }]));
    scans.set(scan.id, { from: Date.parse(scan.started_at), to: Date.parse(scan.ended_at), verdicts });
    for (const { check, vuln_id } of checks) vulnIds.set(check, vuln_id);
  }

  addChange(line: ChangeLineInput, monitor: MonitorKey): void {
    this.#monitor(monitor).lines.set(line.id, line);
  }

  addSpan(span: Span, monitor: MonitorKey): void {
    this.#monitor(monitor).spans.push(span);
  }

  /** By address. */
  organizations(): readonly OrganizationInput[] {
    return [...this.#organizations.values()].sort((one, other) => (one.orgUrl < other.orgUrl ? -1 : 1));
  }

  #monitor({ orgUrl, id }: MonitorKey) {
    const { monitors } = this.#organization(orgUrl);
    const known = monitors.get(id) ?? { spans: [], lines: new Map<string, ChangeLineInput>() };
    monitors.set(id, known);
    return known;
  }

  #organization(address: string) {
    const orgUrl = originOf(address);
    const known = this.#organizations.get(orgUrl) ?? {
      orgUrl,
      scans: new Map(),
      monitors: new Map(),
      vulnIds: new Map(),
    };
    this.#organizations.set(orgUrl, known);
    return known;
  }
}

export interface MonitorKey {
  readonly orgUrl: string;
  readonly id: string;
}

/** What identifies an organization: the lower-case origin of its address. */
export function originOf(address: string): string {
  return (URL.canParse(address) ? new URL(address).origin : address).toLowerCase();
}

/** The checks that a source of the organization speaks of, in the STIG's order, and after them the organization's own. */
export function checksOf({ scans, monitors }: OrganizationInput): readonly string[] {
  const seen = new Set([...scans.values()].flatMap(({ verdicts }) => [...verdicts.keys()]));
  for (const { lines } of monitors.values()) for (const { check } of lines.values()) seen.add(check);
  return [...seen].sort((one, other) => placeOf(one) - placeOf(other) || (one < other ? -1 : 1));
}

function placeOf(check: string): number {
  const index = stigRuleNames.findIndex((rule) => rule.check === check);
  return index === -1 ? stigRuleNames.length : index;
}

export function vulnIdOf(check: string, organization: Pick<OrganizationInput, "vulnIds"> | null): string | null {
  return organization?.vulnIds.get(check) ?? stigRuleNames.find((rule) => rule.check === check)?.vuln_id ?? null;
}

/** What every scan and monitor said about one rule. */
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
  const ofMonitors = [...monitors].flatMap(([id, { spans, lines }]): readonly VerdictSource[] => {
    const own = [...lines.values()].filter((line) => line.check === check);
    return own.length === 0 ? [] : [{ id, spans, points: monitorPoints(own) }];
  });
  return [...ofScans, ...ofMonitors];
}
