import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { createPgDatabase } from "../drizzle/databases/pg.ts";
import { stigRuleNames } from "../shared/rule_names.ts";
import { changeOf } from "../test/support/monitor_requests.ts";
import { createTestDatabase, startPostgres } from "../test/support/postgres.ts";
import { startTestGateway, type TestGateway } from "../test/support/test_gateway.ts";
import { quantile } from "./statistics.ts";

/** How long one kind of request takes, in milliseconds. */
export interface RequestTimes {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface HistoryFigures {
  readonly organizations: number;
  readonly changes: number;
  readonly databaseMiB: number;
  readonly requests: Readonly<Record<string, RequestTimes>>;
}

const organizationCount = Number(process.env["BENCH_ORGANIZATIONS"] ?? 200);
const days = 365;
const changesADay = 50;
const checks = stigRuleNames.map(({ check }) => check);

/** A year of organizations, each with a monitor that sees fifty changes a day and pauses once a week, and a scan each night. */
export const historyBenches: Readonly<
  Record<string, (say: (line: string) => void, rounds: number) => Promise<unknown>>
> = {
  history: benchHistory,
};

async function benchHistory(say: (line: string) => void, rounds: number): Promise<HistoryFigures> {
  const postgres = await startPostgres();
  try {
    const testDatabase = await createTestDatabase(postgres.adminUrl);
    const url = new URL(postgres.adminUrl);
    url.pathname = `/${testDatabase.name}`;
    const admin = new Client({ connectionString: url.href });
    await admin.connect();
    const gateway = await startTestGateway({}, { database: createPgDatabase(testDatabase.ownerUrl) });
    try {
      const startedMs = performance.now();
      await fill(admin, gateway.acme.id, say);
      say(`filled in ${((performance.now() - startedMs) / 1000).toFixed(0)} s`);
      const requests: Record<string, RequestTimes> = {};
      for (const [name, request] of Object.entries(await requestsOf(gateway))) {
        const times: number[] = [];
        for (let count = -5; count < rounds * 30; count += 1) {
          const path = request.path(count);
          const started = performance.now();
          const response = await gateway.request(`/api/v1${path}`, {
            as: `Api-Key ${gateway.acme.apiKey}`,
            ...(request.json === undefined ? {} : { method: "POST", json: request.json(count) }),
          });
          const text = await response.text();
          if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text}`);
          // The first few are planned anew, and find nothing in memory.
          if (count >= 0) times.push(performance.now() - started);
        }
        requests[name] = { p50Ms: quantile(times, 0.5), p99Ms: quantile(times, 0.99) };
        say(`${name}: p50 ${requests[name].p50Ms.toFixed(1)} ms, p99 ${requests[name].p99Ms.toFixed(1)} ms`);
      }
      const { rows } = await admin.query<{ size: string }>("select pg_database_size(current_database()) as size");
      return {
        organizations: organizationCount,
        changes: organizationCount * days * changesADay,
        databaseMiB: Math.round(Number(rows[0]?.size) / 1_048_576),
        requests,
      };
    } finally {
      await gateway.stop();
      await admin.end();
      await testDatabase.drop();
    }
  } finally {
    await postgres.stop();
  }
}

interface BenchedRequest {
  path(count: number): string;
  json?(count: number): unknown;
}

async function requestsOf(gateway: TestGateway): Promise<Readonly<Record<string, BenchedRequest>>> {
  const response = await gateway.request("/api/v1/organizations?limit=200", { as: `Api-Key ${gateway.acme.apiKey}` });
  const { items } = (await response.json()) as {
    readonly items: readonly { readonly id: string; readonly monitor_id: string }[];
  };
  const of = (count: number) => items[(count + 5) % items.length] ?? { id: "", monitor_id: "" };
  const rule = (count: number) => checks[(count + 5) % checks.length] ?? "";
  const yearAgo = new Date(Date.now() - days * 86_400_000).toISOString();
  return {
    "organizations, 50 rows": { path: () => "/organizations" },
    "organizations, 200 rows": { path: () => "/organizations?limit=200" },
    "one organization": { path: (count) => `/organizations/${of(count).id}` },
    "one rule, 30 days": { path: (count) => `/organizations/${of(count).id}/history?rule=${rule(count)}` },
    "one rule, a year": {
      path: (count) => `/organizations/${of(count).id}/history?rule=${rule(count)}&from=${yearAgo}`,
    },
    "one rule, a year by day": {
      path: (count) => `/organizations/${of(count).id}/history?rule=${rule(count)}&from=${yearAgo}&resolution=day`,
    },
    "all rules, 30 days, first page": { path: (count) => `/organizations/${of(count).id}/history` },
    "all rules, a year by day, first page": {
      path: (count) => `/organizations/${of(count).id}/history?from=${yearAgo}&resolution=day`,
    },
    "exposures, first page": { path: (count) => `/organizations/${of(count).id}/exposures` },
    "exposures that are open": { path: (count) => `/organizations/${of(count).id}/exposures?open=true` },
    "store a change": {
      path: (count) => `/monitors/${of(count).monitor_id}/changes`,
      json: (count) => ({
        changes: [
          changeOf({
            id: randomUUID(),
            check: rule(count),
            to: { status: count % 2 === 0 ? "PASS" : "FAIL", reason: null },
            seen_at: new Date().toISOString(),
          }),
        ],
      }),
    },
  };
}

/** As triggers would have written it, by SQL. */
async function fill(admin: Client, tenantId: string, say: (line: string) => void): Promise<void> {
  await admin.query("set session_replication_role = replica");
  const ofOrganization = `from organizations as o, `;
  await admin.query(
    `insert into organizations (tenant_id, org_url, created_at) select $1, 'https://org-' || n || '.okta.com', now() - interval '365 days'
     from generate_series(1, $2::int) as n`,
    [tenantId, organizationCount],
  );
  await admin.query(
    `insert into monitors (id, tenant_id, organization_id, org_url, interval_seconds, last_look_at, updated_at)
     select id, tenant_id, id, org_url, 10, now(), now() from organizations`,
  );
  await admin.query(
    `insert into looks (tenant_id, organization_id, source_id, known_from, known_to)
     select o.tenant_id, o.id, o.id, now() - w * interval '7 days', now() - (w - 1) * interval '7 days' - case when w = 1 then interval '0' else interval '2 hours' end
     ${ofOrganization} generate_series(1, 52) as w`,
  );
  await admin.query(
    `insert into looks (tenant_id, organization_id, source_id, known_from, known_to, verdicts)
     select o.tenant_id, o.id, gen_random_uuid(), now() - d * interval '1 day', now() - d * interval '1 day' + interval '3 seconds', $1
     ${ofOrganization} generate_series(1, ${days}) as d`,
    [JSON.stringify(Object.fromEntries(checks.map((check, index) => [check, index % 3 === 0 ? "FAIL" : "PASS"])))],
  );
  const total = days * changesADay;
  const { rows } = await admin.query<{ id: string }>("select id from organizations");
  for (let from = 0; from < rows.length; from += 20) {
    await admin.query(
      `insert into verdicts (tenant_id, organization_id, "check", position, source_id, is_scan, status, known_at, cause, actor, number, previous, not_before, fingerprints, digest)
       select o.tenant_id, o.id, ($2::text[])[1 + k % ${checks.length}], 1 + k / ${checks.length}, o.id, false,
         case when (k / ${checks.length} + k % ${checks.length}) % 2 = 0 then 'PASS' else 'FAIL' end,
         now() - (${total} - k) * interval '1 second' * ${86_400 / changesADay}, 'log',
         '{"id": "00u1", "login": "admin@acme.example", "name": "Ada Admin"}', 1 + k / ${checks.length},
         case when k >= ${checks.length} then md5(k::text) || md5(o.id::text) end, now() - (${total} - k) * interval '1 second' * ${86_400 / changesADay} - interval '10 seconds',
         array[md5(k::text)], md5(o.id::text) || md5(k::text)
       ${ofOrganization} generate_series(0, ${total - 1}) as k where o.id = any ($1)`,
      [rows.slice(from, from + 20).map(({ id }) => id), checks],
    );
    say(`${Math.min(from + 20, rows.length)} organizations`);
  }
  await admin.query(
    `insert into rule_states (tenant_id, organization_id, "check", severity, status, known_at, open_position, last_position, last_number, last_digest)
     select distinct on (organization_id, "check") tenant_id, organization_id, "check", 'medium', status, known_at,
       case when status = 'FAIL' then position end, position, number, digest
     from verdicts order by organization_id, "check", position desc`,
  );
  await admin.query(
    `insert into organization_days (tenant_id, organization_id, day, known, failed, failing)
     select o.tenant_id, o.id, (now() at time zone 'UTC')::date - d, true, ($1::text[])[1:20], ($1::text[])[1:15]
     ${ofOrganization} generate_series(0, ${days - 1}) as d`,
    [checks],
  );
  await admin.query("reset session_replication_role");
  await admin.query("vacuum analyze");
}
