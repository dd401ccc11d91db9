import { randomUUID } from "node:crypto";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { deleteOldHistory } from "../../../../drizzle/across_tenants.ts";
import { expireStaleScans } from "../../../../gateway/features/scans/expire_scans.ts";
import { write } from "../../../../drizzle/transactions.ts";
import { sql } from "drizzle-orm";
import { exposuresOf } from "../../../../shared/history/exposures.ts";
import { daysOf } from "../../../../shared/history/days.ts";
import type { RuleVerdict, Span, VerdictPoint, VerdictSource } from "../../../../shared/history/source.ts";
import { intervalsOf, timelineOf } from "../../../../shared/history/timeline.ts";
import type { NewChange } from "../../../../shared/schemas/change.ts";
import type {
  Organization,
  OrganizationExposure,
  OrganizationHistory,
} from "../../../../shared/schemas/organization.ts";
import { createPgDatabase } from "../../../../drizzle/databases/pg.ts";
import { openOnPostgres } from "../../../drizzle/open_databases.ts";
import { fuzzed } from "../../../fuzz/fuzzed.ts";
import { startKeptGateway, type KeptGateway } from "../../../support/keeping_gateways.ts";
import { changeOf, createMonitorClient } from "../../../support/monitor_requests.ts";

/** On PostgreSQL, as the application's role, and bound to what the shared core says of the same sources. */
let gateway: KeptGateway;
let as: string;
beforeAll(async () => {
  gateway = await startKeptGateway(() => openOnPostgres((url) => createPgDatabase(url, { maxConnections: 4 })));
  as = `Api-Key ${gateway.acme.apiKey}`;
});
afterAll(() => gateway?.stop());

const [idle, adminConsole] = ["signon_global_session_idle_timeout_15min", "application_admin_adminConsolemfa_required"];
const pass: RuleVerdict = { status: "PASS", reason: null };
const fail: RuleVerdict = { status: "FAIL", reason: null };
const needsReview: RuleVerdict = { status: "MANUAL", reason: "needs_review" };
const unread: RuleVerdict = { status: "MANUAL", reason: "provider_error" };
const notApplicable: RuleVerdict = { status: "MANUAL", reason: "not_applicable" };
const hour = 3_600_000;
/** In whole seconds, a week ago. */
/** The same hour of a day at each run, so that a seed always makes the same days. */
const base = Math.floor(Date.now() / (24 * hour)) * 24 * hour - 7 * 24 * hour + 10 * hour;

async function get<Answer>(path: string): Promise<Answer> {
  const response = await gateway.request(`/api/v1${path}`, { as });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Answer;
}

async function organizationOf(orgUrl: string): Promise<Organization> {
  const { items } = await get<{ readonly items: readonly Organization[] }>("/organizations?limit=200");
  const found = items.find(({ org_url: url }) => url === orgUrl);
  if (found === undefined) throw new Error(`${orgUrl} is not listed`);
  return found;
}

const period = { from: base - hour, to: base + 6 * 24 * hour };
const isoOf = (ms: number) => new Date(ms).toISOString();
const during = `from=${isoOf(period.from)}&to=${isoOf(period.to)}`;
const historyOf = async (id: string) =>
  (await get<OrganizationHistory>(`/organizations/${id}/history?${during}`)).organizations[0]?.rules ?? [];

type Verdicts = Readonly<Record<string, RuleVerdict | undefined>>;

function entriesOf(verdicts: Verdicts) {
  return Object.entries(verdicts).flatMap(([check, verdict]) =>
    verdict === undefined ? [] : [[check, verdict] as const],
  );
}

/** A scan that looked in the past, and arrives now. */
async function storeScan(orgUrl: string, { from, to }: Span, verdicts: Verdicts): Promise<string> {
  const id = randomUUID();
  const send = (method: string, path: string, json: unknown) => gateway.request(path, { method, as, json });
  await send("PUT", `/api/v1/scans/${id}`, { org_url: `${orgUrl}/` });
  const findings = entriesOf(verdicts).map(([check, verdict]) => ({
    fingerprint: `${check}:1`,
    check,
    ...verdict,
  }));
  await send("POST", `/api/v1/scans/${id}/findings`, { findings });
  await write(gateway.opened.database, { tenantId: gateway.acme.id }, (db) =>
    db.execute(
      sql`update scans set updated_at = now(), status = 'completed', started_at = ${isoOf(from)}::timestamptz, ended_at = ${isoOf(to)}::timestamptz where id = ${id}::uuid`,
    ),
  );
  return id;
}

function moveOf(check: string, to: RuleVerdict, at: number, fields: Partial<NewChange> = {}): NewChange {
  return changeOf({ check, fingerprint: `${check}:1`, from: null, to, seen_at: isoOf(at), ...fields });
}

/** Polls at these times, with what it found moved. */
function createMonitor(orgUrl: string) {
  const client = createMonitorClient(gateway);
  const body = { org_url: orgUrl, interval_seconds: 7200 };
  let isStarted = false;
  return {
    id: client.id,
    async poll(at: number, moved: Verdicts = {}) {
      if (!isStarted) expect((await client.put(body)).status).toBe(201);
      isStarted = true;
      const lines = entriesOf(moved).map(([check, verdict]) => moveOf(check, verdict, at));
      if (lines.length > 0) expect((await client.post(lines)).status).toBe(200);
      expect((await client.patch({ last_look_at: isoOf(at), log_status: "reading" })).status).toBe(200);
    },
    client,
  };
}

interface Poll {
  readonly at: number;
  readonly moved: Verdicts;
}

/** What the core is told of the same scans and polls. */
function sourcesOf(
  check: string,
  scans: readonly (Span & { readonly verdicts: Verdicts })[],
  monitors: readonly (readonly Poll[])[],
): readonly VerdictSource[] {
  const pointOf = (at: number, verdict: RuleVerdict, cause: VerdictPoint["cause"]): VerdictPoint => {
    return { at, ...verdict, cause, actor: null, fingerprints: [] };
  };
  const ofScans = scans.flatMap(({ from, to, verdicts }, index) => {
    const verdict = verdicts[check];
    return verdict === undefined
      ? []
      : [{ id: `scan ${index}`, spans: [{ from, to }], points: [pointOf(from, verdict, "scan")] }];
  });
  const ofMonitors = monitors.map((polls, index) => {
    const spans: { from: number; to: number }[] = [];
    for (const { at } of polls) {
      const last = spans.at(-1);
      if (last !== undefined && at - last.to <= 6 * hour) last.to = at;
      else spans.push({ from: at, to: at });
    }
    const points = polls.flatMap(({ at, moved }) => {
      const verdict = moved[check];
      return verdict === undefined ? [] : [pointOf(at, verdict, "log")];
    });
    return { id: `monitor ${index}`, spans, points };
  });
  return [...ofScans, ...ofMonitors];
}

const anyVerdict = fc.constantFrom(pass, fail, needsReview, unread, notApplicable);
const anyVerdicts = fc.record({ [idle]: anyVerdict, [adminConsole]: anyVerdict }, { requiredKeys: [] });
const anyScan = fc.record({
  atSeconds: fc.integer({ min: 0, max: 200_000 }),
  lastsSeconds: fc.integer({ min: 0, max: 20_000 }),
  verdicts: anyVerdicts,
});
/** Pauses of which some are longer than a monitor may be silent. */
const anyMonitor = fc.record({
  startsSeconds: fc.integer({ min: 0, max: 100_000 }),
  polls: fc.array(
    fc.record({
      pauseSeconds: fc.constantFrom(60, 7200, 21_600, 21_601, 50_000),
      moved: fc.option(anyVerdicts, { nil: {} }),
    }),
    { minLength: 1, maxLength: 8 },
  ),
});

describe("the history of an organization", () => {
  test("is what the core says of the same scans, polls and silences, in whatever order they arrive", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyScan, { maxLength: 4 }),
        fc.array(anyMonitor, { maxLength: 2 }),
        fc.infiniteStream(fc.nat(100)),
        async (scanPlans, monitorPlans, picks) => {
          const orgUrl = `https://${randomUUID()}.okta.com`;
          const scans = scanPlans
            .map(({ atSeconds, lastsSeconds, verdicts }) => {
              const from = base + atSeconds * 1000;
              return { from, to: from + lastsSeconds * 1000, verdicts };
            })
            .filter(({ verdicts }) => Object.keys(verdicts).length > 0);
          const monitors = monitorPlans.map(({ startsSeconds, polls }) => {
            let at = base + startsSeconds * 1000;
            return polls.map(({ pauseSeconds, moved }) => ({ at: (at += pauseSeconds * 1000), moved }));
          });
          // Each monitor's own polls arrive in their order, and between them anything.
          const queues: (() => Promise<unknown>)[][] = [
            ...scans.map((scan) => [() => storeScan(orgUrl, scan, scan.verdicts)]),
            ...monitors.map((polls) => {
              const monitor = createMonitor(orgUrl);
              return polls.map(
                ({ at, moved }) =>
                  () =>
                    monitor.poll(at, moved),
              );
            }),
          ].filter((queue) => queue.length > 0);
          if (queues.length === 0) return;
          for (let left = queues; left.length > 0; left = left.filter((queue) => queue.length > 0)) {
            const pick = picks.next().value ?? 0;
            await left[pick % left.length]?.shift()?.();
          }
          const { id, trend } = await organizationOf(orgUrl);
          const rules = await historyOf(id);
          const seen = [...scans.map(({ verdicts }) => verdicts), ...monitors.flat().map(({ moved }) => moved)];
          expect(rules.map(({ check }) => check)).toEqual([...new Set(seen.flatMap(Object.keys))].toSorted());
          // If scans and monitors overlap, or one has nothing to say, the trend may count a day otherwise than the history.
          const [only] = monitors;
          const isPlain =
            only === undefined ||
            (monitors.length + scans.length === 1 &&
              entriesOf(only[0]?.moved ?? {}).length > 0 &&
              only.every(({ moved }) => Object.values(moved).every((verdict) => verdict?.reason !== unread.reason)));
          for (const { day, fail: failing } of isPlain ? trend : []) {
            const statuses = rules.flatMap(({ days }) =>
              days.filter((each) => each.day === day).map(({ status }) => status),
            );
            const isKnown = statuses.some((status) => status !== "UNKNOWN");
            expect([day, failing]).toEqual([
              day,
              isKnown ? statuses.filter((status) => status === "FAIL").length : null,
            ]);
          }
          for (const rule of rules) {
            const timeline = timelineOf(sourcesOf(rule.check, scans, monitors));
            expect(rule.intervals).toEqual(intervalsOf(timeline, period));
            expect(rule.days).toEqual(daysOf(timeline, period));
            expect(rule.exposures.map(withoutWho)).toEqual(exposuresOf(timeline, period).map(withoutWho));
          }
        },
      ),
      fuzzed(process.env["NIGHTLY"] === "1" ? 50 : 8),
    );
  });
});

/** Who opened it is named by the monitor's line; a cause of two sources of one moment may be either. */
function withoutWho({ opened, closed, least_seconds, most_seconds }: Omit<OrganizationExposure, "check" | "vuln_id">) {
  const { actor: _, ...times } = closed ?? { actor: null };
  return { opened, closed: closed === null ? null : times, least_seconds, most_seconds };
}

describe("what is kept", () => {
  const owner = (text: string, ...params: readonly unknown[]) => gateway.owner(text, ...params);

  test("HISTORY_DAYS forgets what is older, and keeps what opened an open exposure and what a monitor that still looks said last", async () => {
    const orgUrl = `https://${randomUUID()}.okta.com`;
    await storeScan(orgUrl, { from: base, to: base + hour }, { [idle]: pass, [adminConsole]: fail });
    const monitor = createMonitor(orgUrl);
    await monitor.poll(base + 2 * hour, { [idle]: fail });
    await monitor.poll(base + 3 * hour, { [idle]: pass });
    await monitor.poll(Date.now() - hour);
    const { id } = await organizationOf(orgUrl);
    for (const [table, columns] of [
      ["verdicts", ["known_at", "not_before"]],
      ["looks", ["known_from"]],
    ] as const) {
      const moved = columns.map((column) => `${column} = ${column} - interval '100 days'`).join(", ");
      await owner(`update ${table} set ${moved} where organization_id = $1::uuid`, id);
    }
    // The scan's look, which has ended, is as old as it is.
    await owner(
      "update looks set known_to = known_from + interval '1 hour' where verdicts is not null and organization_id = $1::uuid",
      id,
    );
    while (await deleteOldHistory(gateway.opened.database, { olderThanDays: 90, maxRows: 1 }));
    const rows = await owner(
      'select "check", position from verdicts where organization_id = $1::uuid order by 1, 2',
      id,
    );
    expect(rows).toEqual([
      [adminConsole, 1],
      [idle, 3],
    ]);
    const { items } = await get<{ readonly items: readonly OrganizationExposure[] }>(
      `/organizations/${id}/exposures?open=true`,
    );
    expect(items).toMatchObject([
      { check: adminConsole, cause: "scan", closed: null, opened: { known_at: isoOf(base - 100 * 24 * hour) } },
    ]);
    expect(await organizationOf(orgUrl)).toMatchObject({ open_exposures: 1, pass: 1, fail: 1 });
    // The numbers go on where they ended.
    await monitor.poll(Date.now(), { [idle]: fail });
    const next = await owner(
      'select number from verdicts where organization_id = $1::uuid and "check" = $2 order by position desc limit 1',
      id,
      idle,
    );
    expect(next).toEqual([[4]]);
  });

  test("a clock that is ahead knows no time to come, and one that goes back reorders nothing", async () => {
    const orgUrl = `https://${randomUUID()}.okta.com`;
    const monitor = createMonitor(orgUrl);
    const aheadMs = Date.now() + 365 * 24 * hour;
    await monitor.poll(aheadMs, { [idle]: fail });
    await monitor.poll(base, { [idle]: pass });
    const { id } = await organizationOf(orgUrl);
    const [rule] = (await get<OrganizationHistory>(`/organizations/${id}/history`)).organizations[0]?.rules ?? [];
    expect(rule?.changes?.map(({ status }) => status)).toEqual(["FAIL", "PASS"]);
    for (const { known_at: at } of rule?.changes ?? []) expect(Date.parse(at)).toBeLessThanOrEqual(Date.now());
    expect(rule?.intervals.at(-1)?.to.slice(0, 10)).toBe(isoOf(Date.now()).slice(0, 10));
    const [future] = await owner(
      "select count(*)::int from looks where known_to > now() and organization_id = $1::uuid",
      id,
    );
    expect(future).toEqual([0]);
  });

  test("a scan that expired or was deleted while it ran writes nothing: it may lack what it would have found", async () => {
    const orgUrl = `https://${randomUUID()}.okta.com`;
    for (const end of ["expire", "delete"] as const) {
      const scanId = randomUUID();
      await gateway.request(`/api/v1/scans/${scanId}`, { method: "PUT", as, json: { org_url: orgUrl } });
      const findings = [{ fingerprint: "f", check: idle, status: "PASS" }];
      await gateway.request(`/api/v1/scans/${scanId}/findings`, { method: "POST", as, json: { findings } });
      if (end === "delete") await gateway.request(`/api/v1/scans/${scanId}`, { method: "DELETE", as });
      else {
        await owner("update scans set updated_at = now() - interval '1 hour' where id = $1::uuid", scanId);
        await expireStaleScans(gateway.opened.database, 900);
      }
    }
    const { id, pass: passing } = await organizationOf(orgUrl);
    expect(passing).toBe(0);
    expect(await historyOf(id)).toEqual([]);
  });
});
