import type { CarriedExposure } from "../../../shared/history/exposures.ts";
import type { Span, VerdictPoint, VerdictSource } from "../../../shared/history/source.ts";
import type { ManualReason, Status } from "../../../shared/schemas/finding.ts";
import type { HistoryActor, HistoryCause, VerdictChange } from "../../../shared/schemas/history.ts";

/** Type aliases, because an interface lacks the index signature that Drizzle needs. */
export type ChosenRow = {
  readonly org_url: string;
  readonly check: string | null;
  /** Null: from the beginning. */
  readonly floor_ms: string | null;
  /** With those of the rules before it. */
  readonly rows: number;
  readonly opened_ms: string | null;
  readonly opened_not_before_ms: string | null;
  readonly opened_actor: string | null;
  readonly opened_cause: HistoryCause | null;
};

export type VerdictRow = {
  readonly check: string;
  readonly source_id: string;
  readonly is_scan: boolean;
  readonly known_ms: string;
  readonly status: Status;
  readonly reason: ManualReason | null;
  readonly cause: HistoryCause;
  readonly actor: string | null;
  readonly number: number | null;
  readonly not_before_ms: string | null;
  readonly fingerprints: string | null;
};

export type LookRow = {
  readonly source_id: string;
  readonly from_ms: string;
  readonly to_ms: string;
  /** When a monitor first looked; null for a scan. */
  readonly began_ms: string | null;
  /** What a scan said, one entry for each rule; null for a monitor. */
  readonly verdicts: string | null;
};

/** A scan said one thing from its start to its end; a monitor what it said last. */
export function toSources(
  rows: readonly VerdictRow[],
  looks: readonly LookRow[],
  index: number,
): readonly VerdictSource[] {
  const points = Map.groupBy(
    rows.filter((row) => !row.is_scan),
    (row) => row.source_id,
  );
  const sources: VerdictSource[] = [];
  const spans = new Map<string, Span[]>();
  for (const look of looks) {
    const span = { from: Number(look.from_ms), to: Number(look.to_ms) };
    if (look.verdicts === null) {
      const known = spans.get(look.source_id) ?? [];
      const began = Number(look.began_ms);
      // Which of two monitors decides depends on when they first looked.
      if (known.length === 0 && began < span.from) known.push({ from: began, to: began });
      spans.set(look.source_id, [...known, span]);
      continue;
    }
    const verdict = (JSON.parse(look.verdicts) as readonly (ManualReason | "PASS" | "FAIL" | null)[])[index] ?? null;
    if (verdict === null) continue;
    const isStatus = verdict === "PASS" || verdict === "FAIL";
    const found = isStatus ? { status: verdict, reason: null } : { status: "MANUAL" as const, reason: verdict };
    const point: VerdictPoint = { at: span.from, ...found, cause: "scan", actor: null, fingerprints: [] };
    sources.push({ id: look.source_id, spans: [span], points: [point] });
  }
  for (const [id, own] of points) sources.push({ id, spans: spans.get(id) ?? [], points: own.map(toPoint) });
  return sources;
}

function toPoint({ known_ms, status, reason, cause, actor, fingerprints }: VerdictRow): VerdictPoint {
  return {
    at: Number(known_ms),
    status,
    reason,
    cause,
    actor: actor === null ? null : (JSON.parse(actor) as HistoryActor),
    fingerprints: fingerprints === null ? [] : (JSON.parse(fingerprints) as readonly string[]),
  };
}

export function isWithin({ known_ms: ms }: VerdictRow, { from, to }: Span): boolean {
  return Number(ms) >= from && Number(ms) <= to;
}

/** Nothing for a row that only repeats what was known. */
export function toChange(row: VerdictRow, orgUrl: string): readonly VerdictChange[] {
  const { check, number } = row;
  if (number === null) return [];
  const { at, ...verdict } = toPoint(row);
  const notBefore = row.not_before_ms === null ? null : isoOf(row.not_before_ms);
  const known_at = new Date(at).toISOString();
  return [{ number, org_url: orgUrl, check, ...verdict, not_before: notBefore, known_at }];
}

export function toCarried(rule: ChosenRow, sources: readonly VerdictSource[]): CarriedExposure | null {
  const { opened_ms: openedMs, opened_not_before_ms: notBeforeMs, opened_actor: actor, opened_cause: cause } = rule;
  if (openedMs === null || cause === null) return null;
  const isKept = sources.some(({ points }) => points.some(({ at }) => at <= Number(openedMs)));
  if (isKept) return null;
  return {
    opened: { not_before: notBeforeMs === null ? null : isoOf(notBeforeMs), known_at: isoOf(openedMs) },
    actor: actor === null ? null : (JSON.parse(actor) as HistoryActor),
    cause,
  };
}

export function isoOf(ms: string): string {
  return new Date(Number(ms)).toISOString();
}
