import { sql, type SQL } from "drizzle-orm";
import { organizations } from "../../../drizzle/schema.ts";
import type { TenantDatabase } from "../../../drizzle/transactions.ts";
import { NotFound } from "../../../shared/app_error.ts";
import type { CarriedExposure } from "../../../shared/history/exposures.ts";
import type { Span, VerdictSource } from "../../../shared/history/source.ts";
import type { VerdictChange } from "../../../shared/schemas/history.ts";
import {
  isoOf,
  isWithin,
  toCarried,
  toChange,
  toSources,
  type ChosenRow,
  type LookRow,
  type VerdictRow,
} from "./history_rows.ts";

/** What is stored of one rule, as the history is computed from it. */
export interface StoredRule {
  readonly check: string;
  readonly sources: readonly VerdictSource[];
  /** The changes of the period, in the order of writing; empty unless they were asked for. */
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
  readonly withChanges: boolean;
  readonly limit: number;
}

export interface StoredRules {
  readonly orgUrl: string;
  readonly rules: readonly StoredRule[];
  /** The first rule of the next page; null: this page is the last. */
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
      const rows = byCheck.get(rule.check) ?? [];
      const sources = toSources(rows, looks, index);
      return {
        check: rule.check,
        sources,
        changes: query.withChanges
          ? rows.flatMap((row) => (isWithin(row, query.period) ? toChange(row, first.org_url) : []))
          : [],
        carried: toCarried(rule, sources),
      };
    }),
    next,
  };
}

/**
 * One row beyond the limit; one without a rule for an organization that has none. A rule is read from the last verdict that held
 * before the period on, so that an exposure which reaches into it is whole; for the exposure that is open, from the last of all.
 */
async function selectChosen(
  db: TenantDatabase,
  { organizationId, period, check, from, isOpenOnly, limit }: RuleQuery,
): Promise<readonly ChosenRow[]> {
  const { rows } = await db.execute<ChosenRow>(sql`
    with chosen as (
      select rule.*, coalesce((
        select known_at from verdicts as closing where ${ofRule("closing", "rule")} and known_at <= ${toInstant(isOpenOnly ? period.to : period.from)}
          and number is not null and (status = 'PASS' or reason in ('partly_automated', 'not_applicable'))
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
  return rows;
}

type ChosenRule = Pick<ChosenRow, "floor_ms"> & { readonly check: string };

/**
 * From each rule's floor on, and what each monitor that looked since then had said before. In the order of writing.
 */
async function selectVerdicts(
  db: TenantDatabase,
  { organizationId, period, withChanges }: RuleQuery,
  rules: readonly ChosenRule[],
): Promise<readonly VerdictRow[]> {
  // A year of a rule that moves often is large with them, and only changes of the period show them.
  const shownFingerprints = sql`case when found.known_at >= ${toInstant(period.from)} then array_to_json(found.fingerprints)::text end`;
  const { rows } = await db.execute<VerdictRow>(sql`
    with rule as (${floorsOf(organizationId, rules)})
    select found."check", found.source_id, found.is_scan, ${toMs(sql`found.known_at`)} as known_ms, found.status, found.reason, found.cause,
      found.actor::text as actor, found.number, ${toMs(sql`found.not_before`)} as not_before_ms,
      ${withChanges ? shownFingerprints : sql`null`} as fingerprints
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
  return rows;
}

async function selectLooks(
  db: TenantDatabase,
  { organizationId, period }: RuleQuery,
  rules: readonly ChosenRule[],
): Promise<readonly LookRow[]> {
  const checks = rules.map(({ check }) => check);
  const { rows } = await db.execute<LookRow>(sql`
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
  return rows;
}

function floorsOf(organizationId: string, rules: readonly ChosenRule[]): SQL {
  const floors = rules.map(({ check, floor_ms: ms }) => ({ check, floor: ms === null ? "-infinity" : isoOf(ms) }));
  return sql`
    select tenant_id, organization_id, given."check", given.floor
    from jsonb_to_recordset(${JSON.stringify(floors)}::jsonb) as given ("check" text, floor timestamptz)
    join rule_states on rule_states."check" = given."check" and organization_id = ${organizationId}::uuid`;
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
