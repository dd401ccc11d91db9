import { sql, type SQL } from "drizzle-orm";
import { organizations } from "../../../drizzle/schema.ts";
import type { TenantDatabase } from "../../../drizzle/with_tenant.ts";
import { NotFound } from "../../../shared/app_error.ts";
import type { CarriedExposure } from "../../../shared/history/exposures.ts";
import type { Span, VerdictPoint, VerdictSource } from "../../../shared/history/source.ts";
import type { ManualReason, Status } from "../../../shared/schemas/finding.ts";
import type { HistoryActor, HistoryCause, VerdictChange } from "../../../shared/schemas/history.ts";

/** What is stored of one rule, as the history is computed from it. */
export interface StoredRule {
  readonly check: string;
  readonly sources: readonly VerdictSource[];
  /** Of the period, in the order of writing. */
  readonly changes: readonly VerdictChange[];
  /** An open exposure that was opened before everything else that is kept. */
  readonly carried: CarriedExposure | null;
}

export interface RuleQuery {
  readonly organizationId: string;
  readonly period: Span;
  /** Null: every rule. */
  readonly check: string | null;
  /** The rules from this one on, by name; null: from the first. */
  readonly from: string | null;
  /** Only rules with an exposure that is open. */
  readonly isOpenOnly: boolean;
  readonly limit: number;
}

export interface StoredRules {
  readonly orgUrl: string;
  readonly rules: readonly StoredRule[];
  /** The first rule that was left to the next page; null: there is none. */
  readonly next: string | null;
}

/** Together the rules of one page have no more verdicts and looks, unless the first of them does. */
const maxRows = 1000;

/** Rejects with `NotFound`. */
export async function selectRules(db: TenantDatabase, query: RuleQuery): Promise<StoredRules> {
  const found = await selectChosen(db, query);
  const [first] = found;
  if (first === undefined) throw new NotFound("No such organization");
  const rules = found.flatMap((row) => (row.check === null ? [] : [{ ...row, check: row.check }]));
  const tooMany = rules.findIndex(({ rows }, index) => index > 0 && rows > maxRows);
  const chosen = rules.slice(0, Math.min(query.limit, tooMany < 0 ? rules.length : tooMany));
  const next = rules[chosen.length]?.check ?? null;
  if (chosen.length === 0) return { orgUrl: first.org_url, rules: [], next };
  const [verdicts, looks] = await Promise.all([selectVerdicts(db, query, chosen), selectLooks(db, query, chosen)]);
  const byCheck = Map.groupBy(verdicts, ({ check }) => check);
  return {
    orgUrl: first.org_url,
    rules: chosen.map((rule, index) => {
      const own = byCheck.get(rule.check) ?? [];
      const sources = toSources(own, looks, index);
      return {
        check: rule.check,
        sources,
        changes: own.flatMap((row) => (isWithin(row, query.period) ? toChange(row, first.org_url) : [])),
        carried: toCarried(rule, sources),
      };
    }),
    next,
  };
}

/** Type aliases, because an interface lacks the index signature that Drizzle needs. */
type ChosenRow = {
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

/**
 * One row beyond the limit; one without a rule for an organization that has none. A rule is read from the last PASS or Not Applicable
 * before the period on, so that an exposure which reaches into it is whole; for the exposure that is open, from the last of all.
 */
async function selectChosen(
  db: TenantDatabase,
  { organizationId, period, check, from, isOpenOnly, limit }: RuleQuery,
): Promise<readonly ChosenRow[]> {
  return db.execute<ChosenRow>(sql`
    with chosen as (
      select rule.*, coalesce((
        select known_at from verdicts as closing where ${ofRule("closing", "rule")} and known_at <= ${toInstant(isOpenOnly ? period.to : period.from)}
          and number is not null and (status = 'PASS' or reason = 'not_applicable')
        order by known_at desc limit 1
      ), '-infinity') as floor
      from rule_states as rule
      where rule.organization_id = ${organizationId}::uuid
        ${check === null ? sql`` : sql`and rule."check" = ${check}`}
        ${from === null ? sql`` : sql`and rule."check" >= ${from}`}
        ${isOpenOnly ? sql`and rule.open_position is not null` : sql``}
      order by rule."check" limit ${limit + 1}::integer
    ), counted as (
      select chosen.*, (
        select count(*) from (
          select from verdicts where ${ofRule("verdicts", "chosen")} and known_at >= chosen.floor limit ${maxRows + 1}::integer) as v
      ) + (
        select count(*) from (
          select from looks where looks.tenant_id = chosen.tenant_id and looks.organization_id = chosen.organization_id
            and known_to >= chosen.floor limit ${maxRows + 1}::integer) as l
      ) as rows from chosen
    )
    select ${organizations.orgUrl}, counted."check", ${toMs(sql`nullif(counted.floor, '-infinity')`)} as floor_ms,
      least(sum(counted.rows) over (order by counted."check"), ${maxRows + 1})::integer as rows,
      ${toMs(sql`opened.known_at`)} as opened_ms, ${toMs(sql`opened.not_before`)} as opened_not_before_ms,
      opened.actor::text as opened_actor, opened.cause as opened_cause
    from ${organizations} left join counted on true
    left join verdicts as opened on opened.tenant_id = counted.tenant_id and opened.organization_id = counted.organization_id
      and opened."check" = counted."check" and opened.position = counted.open_position
    where ${organizations.id} = ${organizationId}::uuid
    order by counted."check"`);
}

type VerdictRow = {
  readonly check: string;
  readonly source_id: string;
  readonly is_scan: boolean;
  readonly known_ms: string;
  readonly status: Status;
  readonly reason: ManualReason | null;
  readonly cause: HistoryCause;
  readonly actor: string | null;
  readonly number: number | null;
  readonly previous: string | null;
  readonly not_before_ms: string | null;
  readonly fingerprints: string | null;
  readonly digest: string | null;
};

type ChosenRule = Pick<ChosenRow, "floor_ms"> & { readonly check: string };

/** From each rule's floor on, and what each monitor that looked since then had said before. In the order of writing. */
async function selectVerdicts(
  db: TenantDatabase,
  { organizationId, period }: RuleQuery,
  rules: readonly ChosenRule[],
): Promise<readonly VerdictRow[]> {
  return db.execute<VerdictRow>(sql`
    with rule as (${floorsOf(organizationId, rules)})
    select found."check", found.source_id, found.is_scan, ${toMs(sql`found.known_at`)} as known_ms, found.status, found.reason, found.cause,
      found.actor::text as actor, found.number, found.previous, ${toMs(sql`found.not_before`)} as not_before_ms,
      array_to_json(found.fingerprints)::text as fingerprints, found.digest
    from rule cross join lateral (
      (select * from verdicts
        where ${ofRule("verdicts", "rule")} and known_at >= rule.floor and known_at <= ${toInstant(period.to)})
      union all
      (select before.* from (
        select distinct looks.source_id from looks where ${ofOrganization("looks", "rule")} and known_to >= rule.floor and looks.verdicts is null
      ) as monitor cross join lateral (
        select * from verdicts where ${ofRule("verdicts", "rule")} and source_id = monitor.source_id and known_at < rule.floor
        order by known_at desc, position desc limit 1
      ) as before)
    ) as found
    order by found."check", found.position`);
}

type LookRow = {
  readonly source_id: string;
  readonly from_ms: string;
  readonly to_ms: string;
  /** Of a monitor. */
  readonly began_ms: string | null;
  /** Of a scan: one for each rule. */
  readonly verdicts: string | null;
};

async function selectLooks(
  db: TenantDatabase,
  { organizationId, period }: RuleQuery,
  rules: readonly ChosenRule[],
): Promise<readonly LookRow[]> {
  const checks = rules.map(({ check }) => check);
  return db.execute<LookRow>(sql`
    with rule as (${floorsOf(organizationId, rules)})
    select looks.source_id, ${toMs(sql`looks.known_from`)} as from_ms, ${toMs(sql`looks.known_to`)} as to_ms,
      case when looks.verdicts is null then ${toMs(sql`(
        select min(known_from) from looks as began where ${ofOrganization("began", "looks")} and began.source_id = looks.source_id
      )`)} end as began_ms,
      case when looks.verdicts is not null then array_to_json(array(
        select looks.verdicts ->> name from unnest(${sql.param(checks)}::text[]) with ordinality as named (name, place) order by place
      ))::text end as verdicts
    from looks cross join (select tenant_id, organization_id, min(floor) as floor from rule group by 1, 2) as first
    where ${ofOrganization("looks", "first")} and known_to >= first.floor and known_from <= ${toInstant(period.to)}`);
}

function floorsOf(organizationId: string, rules: readonly ChosenRule[]): SQL {
  const floors = rules.map(({ check, floor_ms: ms }) => ({ check, floor: ms === null ? "-infinity" : isoOf(ms) }));
  return sql`
    select tenant_id, organization_id, given."check", given.floor
    from jsonb_to_recordset(${JSON.stringify(floors)}::jsonb) as given ("check" text, floor timestamptz)
    join rule_states on rule_states."check" = given."check" and organization_id = ${organizationId}::uuid`;
}

/** A scan said one thing from its start to its end; a monitor what it said last. */
function toSources(rows: readonly VerdictRow[], looks: readonly LookRow[], index: number): readonly VerdictSource[] {
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

function isWithin({ known_ms: ms }: VerdictRow, { from, to }: Span): boolean {
  return Number(ms) >= from && Number(ms) <= to;
}

/** None of a row that only repeats what was known. */
function toChange(row: VerdictRow, orgUrl: string): readonly VerdictChange[] {
  const { check, number, previous, digest } = row;
  if (number === null || digest === null) return [];
  const { at, ...verdict } = toPoint(row);
  const notBefore = row.not_before_ms === null ? null : isoOf(row.not_before_ms);
  const known_at = new Date(at).toISOString();
  return [{ number, previous, org_url: orgUrl, check, ...verdict, not_before: notBefore, known_at, digest }];
}

function toCarried(rule: ChosenRow, sources: readonly VerdictSource[]): CarriedExposure | null {
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

function isoOf(ms: string): string {
  return new Date(Number(ms)).toISOString();
}

function toMs(time: SQL): SQL {
  return sql`(date_part('epoch', ${time}) * 1000)::bigint::text`;
}

function toInstant(ms: number): SQL {
  return sql`${new Date(ms).toISOString()}::timestamptz`;
}

function ofOrganization(table: string, row: string): SQL {
  const [own, theirs] = [sql.identifier(table), sql.identifier(row)];
  return sql`${own}.tenant_id = ${theirs}.tenant_id and ${own}.organization_id = ${theirs}.organization_id`;
}

function ofRule(table: string, row: string): SQL {
  return sql`${ofOrganization(table, row)} and ${sql.identifier(table)}."check" = ${sql.identifier(row)}."check"`;
}
