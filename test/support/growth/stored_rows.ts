import type { Client } from "pg";

/** Rows as a gateway would have stored them, written by SQL; each function adds those with the numbers after `from` up to `to`. */

interface Range {
  /** Each gets as many. */
  readonly tenantIds: readonly string[];
  readonly from: number;
  readonly to: number;
}

const perTenant = "from unnest($1::uuid[]) as t(id),";

type Fill = (admin: Client, range: Range) => Promise<void>;

/** Of the row with the number 0. The others are ten seconds apart: a million of them end two months ago. */
export const firstRowAt = new Date(Date.now() - 180 * 86_400_000).toISOString();
const at = (n: string) => `(timestamptz '${firstRowAt}' + ${n} * interval '10 seconds')`;
/** Random, as the scanner's are, and the same each time. */
export const idOf = (kind: string, n: string) =>
  `overlay(md5('${kind}' || ${n})::uuid::text placing '4' from 15)::uuid`;
const scanId = idOf("scan", "t.id || n");
const findingColumns =
  'tenant_id, scan_id, fingerprint, "check", status, severity, resource_type, resource_id, resource_name, expected, actual, detail, created_at';
const finding = (key: string, time: string) => `md5(${key}), 'check_' || i % 30,
  (array['PASS', 'FAIL', 'MANUAL'])[1 + i % 3], 'medium', 'app', 'resource-' || i, 'Application ' || i,
  'Multi-factor sign-in is required', 'The policy asks for a password only', 'The rule at the top decides', ${time}`;

const findingsOfScan = 10;

export const fillScans: Fill = async (admin, { tenantIds, from, to }) => {
  const rows = `${perTenant} generate_series($2::int + 1, $3::int) n`;
  await admin.query(
    `insert into scans (id, tenant_id, org_url, status, checks_total, checks_done, pass, fail, created_at, updated_at, started_at, ended_at)
     select ${scanId}, t.id, 'https://org-' || n % 20 || '.okta.com', 'completed', 30, 30, 20, 10, ${at("n")}, ${at("n")}, ${at("n")}, ${at("n")} + interval '5 minutes' ${rows}`,
    [tenantIds, from, to],
  );
  await admin.query(
    `insert into findings (${findingColumns})
     select t.id, ${scanId}, ${finding("n || '-' || i", at("n"))} ${rows}, generate_series(1, ${findingsOfScan}) i`,
    [tenantIds, from, to],
  );
};

/** Heard of just now; a twentieth, since a tenant may have 2,000 of them. */
const fillRunning: Fill = async (admin, { tenantIds, from: all, to: last }) => {
  const [from, to] = [Math.floor(all / 20), Math.floor(last / 20)];
  await admin.query(
    `insert into scans (id, tenant_id, org_url, status, checks_total, created_at, updated_at, started_at)
     select ${idOf("running", "t.id || n")}, t.id, 'https://org-' || n % 20 || '.okta.com', 'running', 30, ${at("n")}, now(), ${at("n")}
     ${perTenant} generate_series($2::int + 1, $3::int) n`,
    [tenantIds, from, to],
  );
};

/** Of the tenant's scan with the number 1. */
const fillFindings: Fill = async (admin, { tenantIds, from, to }) => {
  await admin.query(
    `insert into findings (${findingColumns})
     select t.id, ${scanId}, ${finding("'large' || i", at("i / 1000"))}
     ${perTenant} (select 1 as n) one, generate_series($2::int + 1, $3::int) i`,
    [tenantIds, from, to],
  );
};

const fillMembers: Fill = async (admin, { tenantIds, from, to }) => {
  await admin.query(
    `insert into users (sub) select 'member-' || n from generate_series($1::int + 1, $2::int) n on conflict do nothing`,
    [from, to],
  );
  await admin.query(
    `insert into memberships (tenant_id, user_id, role, created_at)
     select t.id, 'member-' || n, 'operator', ${at("n")} ${perTenant} generate_series($2::int + 1, $3::int) n`,
    [tenantIds, from, to],
  );
};

const fillApiKeys: Fill = async (admin, { tenantIds, from, to }) => {
  await admin.query(
    `insert into api_keys (id, tenant_id, name, prefix, hash, created_at)
     select ${idOf("key", "t.id || n")}, t.id, 'key ' || n, 'ss_1234', encode(sha256((t.id || '' || n)::bytea), 'hex'), ${at("n")}
     ${perTenant} generate_series($2::int + 1, $3::int) n`,
    [tenantIds, from, to],
  );
};

/** One in a thousand is of the key with the number 1, another one about the member with that number. */
const fillAudit: Fill = async (admin, { tenantIds, from, to }) => {
  await admin.query(
    `insert into audit_events (tenant_id, actor_kind, actor_id, action, target_type, target_id, detail, created_at)
     select t.id, case when n % 1000 = 1 then 'api_key' else 'user' end,
       case when n % 1000 = 1 then ${idOf("key", "t.id || 1")}::text else 'member-' || n % 500 + 2 end,
       case when n % 1000 = 2 then 'member.created' else 'scan.cancel_requested' end,
       case when n % 1000 = 2 then 'member' else 'scan' end,
       case when n % 1000 = 2 then 'member-1' else ${idOf("scan", "t.id || n")}::text end, '{}', ${at("n")}
     ${perTenant} generate_series($2::int + 1, $3::int) n`,
    [tenantIds, from, to],
  );
};

/** Running, with an hour between their reports, and heard of just now; each has twenty changes. Of ten nine are deleted. */
const fillMonitors: Fill = async (admin, range) => {
  await admin.query(
    `insert into monitors (id, tenant_id, org_url, interval_seconds, created_at, updated_at, last_change_number, status, ended_at, deleted_at)
     select ${idOf("monitor", "t.id || n")}, t.id, 'https://org-' || n || '.okta.com', 3600, ${at("n")}, now() - interval '5 minutes', 20,
       case when n % 10 = 1 then 'running' else 'ended' end, case when n % 10 <> 1 then now() end, case when n % 10 <> 1 then now() end
     ${perTenant} generate_series($2::int + 1, $3::int) n`,
    [range.tenantIds, range.from, range.to],
  );
  await insertChanges(
    admin,
    range.tenantIds,
    `generate_series(${range.from} + 1, ${range.to}) n, generate_series(1, 20) i`,
  );
};

/** Of the tenant's monitor with the number 1: of two hundred findings each as often as the others, but for one in a thousand. */
const fillChanges: Fill = async (admin, { tenantIds, from, to }) => {
  await insertChanges(admin, tenantIds, `(select 1 as n) one, generate_series(${from} + 21, ${to} + 20) i`);
};

async function insertChanges(admin: Client, tenantIds: readonly string[], rows: string): Promise<void> {
  await admin.query(
    `insert into changes (tenant_id, monitor_id, id, number, "check", fingerprint, resource_type, resource_id, resource_name, from_status, to_status, actual, seen_at, cause, explained_by, created_at)
     select t.id, ${idOf("monitor", "t.id || n")}, ${idOf("change", "t.id || n || '-' || i")}, i, 'check_' || case when i % 1000 = 1 then 30 else i % 30 end,
       md5('finding' || case when i % 1000 = 1 then 0 else i % 200 end), 'app', 'resource', 'Application', 'PASS', 'FAIL', 'The policy asks for a password only',
       ${at("i")}, 'reconciliation', '[]', ${at("i")}
     ${perTenant} ${rows}`,
    [tenantIds],
  );
}

/** The history of one organization: a rule that turned over and over, and a scan each time. */
const fillHistory: Fill = async (admin, { tenantIds, from, to }) => {
  const organization = idOf("organization", "t.id || 1");
  const rows = `${perTenant} generate_series($2::int + 1, $3::int) n`;
  await admin.query(
    `insert into organizations (tenant_id, id, org_url, created_at)
     select t.id, ${organization}, 'https://org-1.okta.com', ${at("0")} from unnest($1::uuid[]) as t(id) on conflict do nothing`,
    [tenantIds],
  );
  await admin.query(
    `insert into verdicts (tenant_id, organization_id, "check", position, source_id, is_scan, status, known_at, cause, number, previous, fingerprints, digest)
     select t.id, ${organization}, 'check_2', n, ${idOf("monitor", "t.id || 1")}, false, case when n % 2 = 0 then 'PASS' else 'FAIL' end, ${at("n")}, 'log',
       n, case when n > 1 then md5(n::text) end, array['f'], md5(n::text) ${rows}`,
    [tenantIds, from, to],
  );
  await admin.query(
    `insert into looks (tenant_id, organization_id, source_id, known_from, known_to, verdicts)
     select t.id, ${organization}, ${scanId}, ${at("n")}, ${at("n")}, '{"check_2": "PASS"}' ${rows}`,
    [tenantIds, from, to],
  );
  await admin.query(
    `insert into rule_states (tenant_id, organization_id, "check", severity, status, known_at, last_position, last_number, last_digest)
     select t.id, ${organization}, 'check_2', 'medium', 'PASS', ${at("$2::int")}, $2, $2, 'd' from unnest($1::uuid[]) as t(id)
     on conflict (tenant_id, organization_id, "check") do update set known_at = excluded.known_at, last_position = $2, last_number = $2`,
    [tenantIds, to],
  );
};

/** Webhooks as many as a tenant may have; deliveries of the first. One in a thousand was given up. */
const fillDeliveries: Fill = async (admin, { tenantIds, from, to }) => {
  await insertDeliveries(admin, tenantIds, `(select 1 as w) one, generate_series(${from} + 1, ${to}) n`, {
    status: "case when n % 1000 = 1 then 'dead' else 'delivered' end",
    at: "now() - interval '20 days' + n * interval '1 second'",
  });
};

/** Due, spread over the tenant's webhooks. */
const fillPending: Fill = async (admin, { tenantIds, from, to }) => {
  await insertDeliveries(
    admin,
    tenantIds,
    `generate_series(${from} + 1, ${to}) n, lateral (select 1 + n % ${maxWebhooks} as w) hook`,
    {
      status: "'pending'",
      at: "now() - interval '1 day' + n * interval '10 milliseconds'",
    },
  );
};

/** About as many as a tenant has. */
const maxWebhooks = 20;

const fillWebhooks: Fill = async (admin, { tenantIds, from: all, to: last }) => {
  const [from, to] = [Math.min(all, maxWebhooks), Math.min(last, maxWebhooks)];
  await admin.query(
    `insert into webhooks (id, tenant_id, url, host, events, secret, created_at)
     select ${idOf("webhook", "t.id || n")}, t.id, 'https://receiver-' || n || '.example/', 'receiver-' || n || '.example', case when n = 1 then array['scan.end', 'finding.created'] else array['monitor.error'] end, array['secret'], ${at("n")}
     ${perTenant} generate_series($2::int + 1, $3::int) n`,
    [tenantIds, from, to],
  );
};

async function insertDeliveries(
  admin: Client,
  tenantIds: readonly string[],
  rows: string,
  as: { readonly status: string; readonly at: string },
) {
  await admin.query(
    `insert into webhook_deliveries (id, tenant_id, webhook_id, type, data, status, next_attempt_at, delivered_at, created_at)
     select ${idOf("delivery", `t.id || ${as.status} || n`)}, t.id, ${idOf("webhook", "t.id || w")}, 'scan.end', '{"scan_id": "none"}', ${as.status},
       ${as.at}, case when ${as.status} = 'delivered' then ${as.at} end, ${as.at}
     ${perTenant} ${rows}`,
    [tenantIds],
  );
}

/** Nine of ten were withdrawn; of what is left half has expired. One in a thousand is an attestation. */
const fillDecisions: Fill = async (admin, { tenantIds, from, to }) => {
  await admin.query(
    `insert into decisions (id, tenant_id, kind, "check", resource, status, reason, author_kind, author_id, author_name, expires, expires_at, created_at, ended_at, ended_reason)
     select ${idOf("decision", "t.id || n")}, t.id, case when n % 1000 = 1 then 'attestation' else 'waiver' end, 'check_' || n % 300,
       case when n % 1000 = 1 then null else 'resource-' || n end, case when n % 1000 = 1 then 'PASS' end,
       'Agreed', 'user', 'member-1', 'member-1', case when n % 20 = 0 then '2000-01-01' end, case when n % 20 = 0 then timestamptz '2000-01-01' end,
       ${at("n")}, case when n % 10 <> 0 then ${at("n")} end, case when n % 10 <> 0 then 'withdrawn' end
     ${perTenant} generate_series($2::int + 1, $3::int) n`,
    [tenantIds, from, to],
  );
};

const all: readonly Fill[] = [
  fillWebhooks,
  fillScans,
  fillRunning,
  fillMembers,
  fillApiKeys,
  fillAudit,
  fillMonitors,
  fillDeliveries,
  fillPending,
  fillDecisions,
  fillHistory,
];

/** So many rows of everything; a scan has ten findings, a monitor twenty changes. */
export const fillAll: Fill = async (admin, range) => {
  for (const fill of all) await fill(admin, range);
};

/** One scan with as many findings, and one monitor with as many changes. */
export const fillLarge: Fill = async (admin, range) => {
  await fillFindings(admin, range);
  await fillChanges(admin, range);
};

/** Other tenants, each with a little of everything. */
export async function fillTenants(admin: Client, { from, to }: Pick<Range, "from" | "to">): Promise<void> {
  const { rows } = await admin.query<{ id: string }>(
    `insert into tenants (id, name) select ${idOf("tenant", "n")}, 'Tenant ' || n from generate_series($1::int + 1, $2::int) n returning id`,
    [from, to],
  );
  await fillAll(admin, { tenantIds: rows.map(({ id }) => id), from: 0, to: rowsOfTenant });
}

const rowsOfTenant = 5;
