import type { Client } from "pg";
import {
  claimDeliveries,
  deleteExpired,
  deliveryBacklog,
  expireStaleScans,
  markStaleMonitors,
} from "../../../drizzle/across_tenants.ts";
import type { Database } from "../../../drizzle/database.ts";
import { withTenant } from "../../../drizzle/with_tenant.ts";
import { createAuthorityCheck } from "../../../gateway/auth/membership.ts";
import { findEnded } from "../../../gateway/features/find_ended.ts";
import { requireExportedTable } from "../../../gateway/features/tenant/exported_tables.ts";
import { readExportPage } from "../../../gateway/features/tenant/export_tenant.ts";
import { scanChannel } from "../../../shared/scan_events.ts";
import { readStream, type TestGateway, type TestTenant } from "../test_gateway.ts";
import { fillScans, firstRowAt, idOf } from "./stored_rows.ts";

/** Whom the requests are sent to, and as whom. */
export interface Asked {
  readonly admin: Client;
  readonly database: Database;
  readonly gateway: TestGateway;
  readonly tenant: TestTenant;
}

/** One thing that a user or the gateway itself asks for, of a database that may hold much else. */
export interface GrowthRequest {
  readonly name: string;
  /** What it is about by itself, each row perhaps on a page of its own. Default: no more than a page of a list. */
  readonly rows?: number;
  /** Before each time. */
  prepare?(): Promise<void>;
  run(): Promise<unknown>;
}

/** All of them, with what they need looked up once. */
export async function growthRequests(asked: Asked): Promise<readonly GrowthRequest[]> {
  const lists = await listRequests(asked);
  return [...lists, ...streamRequests(asked), ...(await gatewayRequests(asked)), ...writeRequests(asked)];
}

interface ListSource {
  readonly path: string;
  /** The rows that the list pages through, in SQL; `key` is what the cursor has beside the time. */
  readonly rows: string;
}

async function listRequests(asked: Asked): Promise<readonly GrowthRequest[]> {
  const { admin, tenant } = asked;
  const lookUp = async (expression: string) => {
    const { rows } = await admin.query<{ value: string }>(
      `select ${expression} as value from (select $1::uuid as id) t`,
      [tenant.id],
    );
    return rows[0]?.value ?? "";
  };
  const scan = await lookUp(idOf("scan", "t.id || 1"));
  const monitor = await lookUp(idOf("monitor", "t.id || 1"));
  const webhook = await lookUp(idOf("webhook", "t.id || 1"));
  const key = await lookUp(idOf("key", "t.id || 1"));
  const organization = await lookUp(idOf("organization", "t.id || 1"));
  const rarest = await lookUp("md5('finding0')");
  const ofTenant = "where tenant_id = $1";
  const ofMonitor = `${ofTenant} and monitor_id = '${monitor}'`;
  const lists: Readonly<Record<string, ListSource>> = {
    scans: { path: "/scans", rows: `select created_at, id::text as key from scans ${ofTenant}` },
    "findings of a scan": {
      path: `/scans/${scan}/findings`,
      rows: `select created_at, fingerprint as key from findings ${ofTenant} and scan_id = '${scan}'`,
    },
    members: { path: "/members", rows: `select created_at, user_id as key from memberships ${ofTenant}` },
    "API keys": { path: "/api-keys", rows: `select created_at, id::text as key from api_keys ${ofTenant}` },
    "audit trail": { path: "/audit", rows: `select created_at, number::text as key from audit_events ${ofTenant}` },
    monitors: { path: "/monitors", rows: `select created_at, id::text as key from monitors ${ofTenant}` },
    changes: {
      path: `/monitors/${monitor}/changes`,
      rows: `select created_at, number::text as key from changes ${ofMonitor}`,
    },
    "findings of a monitor": {
      path: `/monitors/${monitor}/findings`,
      rows: `select distinct timestamptz '2000-01-01' as created_at, fingerprint as key from changes ${ofMonitor}`,
    },
    organizations: {
      path: "/organizations",
      rows: `select created_at, id::text as key from organizations ${ofTenant}`,
    },
    decisions: { path: "/decisions", rows: `select created_at, id::text as key from decisions ${ofTenant}` },
    deliveries: {
      path: `/webhooks/${webhook}/deliveries`,
      rows: `select created_at, id::text as key from webhook_deliveries ${ofTenant} and webhook_id = '${webhook}'`,
    },
  };
  const filtered: Readonly<Record<string, string>> = {
    "one scan": `/scans/${scan}`,
    "one monitor": `/monitors/${monitor}`,
    "one organization": `/organizations/${organization}`,
    "history of a rule": `/organizations/${organization}/history?rule=check_2`,
    "exposures that are open": `/organizations/${organization}/exposures?open=true`,
    "audit trail by action": "/audit?action=member.created",
    "audit trail by actor": `/audit?actor=${key}`,
    "audit trail by target": "/audit?target=member-1",
    "audit trail by time": `/audit?to=${new Date(Date.parse(firstRowAt) + 60_000).toISOString()}`,
    "changes by check": `/monitors/${monitor}/changes?check=check_30`,
    "changes by finding": `/monitors/${monitor}/changes?fingerprint=${rarest}`,
    "decisions that hold": "/decisions?active=true",
    "decisions that do not hold": "/decisions?active=false",
    "decisions by kind": "/decisions?kind=attestation",
    "decisions by check": "/decisions?check=check_1",
    "decisions by org": "/decisions?org_url=https://none.okta.com",
    "deliveries by status": `/webhooks/${webhook}/deliveries?status=dead`,
  };
  const requests: GrowthRequest[] = [];
  for (const [name, { path, rows }] of Object.entries(lists)) {
    requests.push({ name, ...rowsOf(name), run: () => get(asked, path) });
    const deep = await deepCursor(asked, path, rows);
    if (deep !== null)
      requests.push({
        name: `${name}, from the middle`,
        ...rowsOf(name),
        run: () => get(asked, `${path}?cursor=${deep}`),
      });
  }
  for (const [name, path] of Object.entries(filtered))
    requests.push({ name, ...rowsOf(name), run: () => get(asked, path) });
  return requests;
}

/** An organization has thirty days; one of its rules that never passed is as long open as somebody looks. */
function rowsOf(name: string): { readonly rows?: number } {
  const rows = { organizations: 2000, "exposures that are open": 20_000 }[name];
  return rows === undefined ? {} : { rows };
}

/** The cursor of a page in the middle, made of the first page's; null where there is one page only. */
async function deepCursor(asked: Asked, path: string, rows: string): Promise<string | null> {
  const { next_cursor: first } = (await get(asked, `${path}?limit=1`)) as { readonly next_cursor: string | null };
  if (first === null) return null;
  const [name] = JSON.parse(Buffer.from(first, "base64url").toString()) as readonly [string];
  const {
    rows: [middle],
  } = await asked.admin.query<{ ms: string; key: string }>(
    `select floor(extract(epoch from created_at) * 1000)::text as ms, key from (${rows}) as listed
     order by created_at, key offset (select count(*) / 2 from (${rows}) as counted) limit 1`,
    [asked.tenant.id],
  );
  if (middle === undefined) return null;
  return Buffer.from(JSON.stringify([name, Number(middle.ms), middle.key])).toString("base64url");
}

function streamRequests(asked: Asked): readonly GrowthRequest[] {
  const { gateway, tenant } = asked;
  const open = async (path: string, until: string) => {
    const response = await gateway.request(`/api/v1${path}`, { as: `Bearer ${tenant.token}` });
    if (!response.ok) throw new Error(`${path} answered ${response.status}`);
    await readStream(response, until);
  };
  return [
    {
      name: "tenant stream with its snapshot",
      rows: 200,
      run: () => open("/event-stream?snapshot=1", ": snapshot complete\n"),
    },
    { name: "tenant stream", run: () => open("/event-stream", "\n") },
  ];
}

/** What the gateway does by itself: most of it every few seconds, over all tenants, and nearly always with nothing to do. */
async function gatewayRequests({ admin, database, tenant }: Asked): Promise<readonly GrowthRequest[]> {
  const { rows: scans } = await admin.query<{ id: string }>("select id from scans where tenant_id = $1 limit 100", [
    tenant.id,
  ]);
  const { rows: exported } = await admin.query<{ id: string; print: string }>(
    "select scan_id as id, fingerprint as print from findings where tenant_id = $1 limit 1",
    [tenant.id],
  );
  const subjects = Array.from({ length: 1000 }, (_, n) => ({ kind: "user" as const, id: `member-${n + 1}` }));
  const authority = createAuthorityCheck(database);
  const channels = scans.map(({ id }) => scanChannel(tenant.id, id));
  const olderThanDays = 365;
  const oldScans = () => {
    firstOldScan -= scansDeleted;
    return fillScans(admin, { tenantIds: [tenant.id], from: firstOldScan, to: firstOldScan + scansDeleted });
  };
  return [
    { name: "recheck of 1,000 subjects", rows: 1000, run: () => authority.stillAllowed(tenant.id, subjects) },
    { name: "recheck of 100 scans", rows: 100, run: () => findEnded(database, tenant.id, channels) },
    { name: "scans that expire", run: () => expireStaleScans(database, 15) },
    { name: "monitors that are stale", run: () => markStaleMonitors(database) },
    { name: "retention, nothing is old", run: () => deleteExpired(database, { olderThanDays, maxRows: 10_000 }) },
    {
      name: "retention, a step",
      prepare: oldScans,
      run: () => deleteExpired(database, { olderThanDays, maxRows: 10_000 }),
    },
    {
      name: "webhook deliveries to send",
      rows: 1000,
      prepare: async () => {
        await admin.query(
          "update webhook_deliveries set next_attempt_at = created_at where status = 'pending' and attempts > 0 and next_attempt_at > now()",
        );
      },
      run: () => claimDeliveries(database, { most: 50, leaseSeconds: 60, underWay: [] }),
    },
    { name: "webhook backlog", rows: 10_000, run: () => deliveryBacklog(database) },
    {
      name: "page of the export",
      rows: 500,
      run: () =>
        withTenant(database, tenant.id, (db) =>
          readExportPage(db, requireExportedTable("findings"), exported.map(({ id, print }) => [id, print])[0] ?? null),
        ),
    },
  ];
}

const scansDeleted = 20;
/** Older than a year, and each made once: an id that was deleted is not taken again. */
let firstOldScan = -4_000_000;

function writeRequests(asked: Asked): readonly GrowthRequest[] {
  const { tenant } = asked;
  let scan = "";
  let root = "";
  const send = async (method: string, path: string, body?: unknown, as = `Api-Key ${tenant.apiKey}`) => {
    const response = await asked.gateway.request(`/api/v1${path}`, {
      method,
      as,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    return text === "" ? {} : (JSON.parse(text) as Readonly<Record<string, unknown>>);
  };
  const findings = Array.from({ length: findingsStored }, (_, n) => ({
    fingerprint: `stored-${n}`,
    check: "check_1",
    status: "FAIL",
    severity: "medium",
    resource: { type: "app", id: String(n), name: `Application ${n}` },
    expected: "Multi-factor sign-in is required",
    actual: "The policy asks for a password only",
    detail: "The rule at the top decides",
  }));
  const register = async () => {
    const { id } = await send("POST", "/scans", { org_url: "https://org-1.okta.com" });
    scan = String(id);
  };
  const finished = async () => {
    await register();
    await send("POST", `/scans/${scan}/findings`, { findings });
    await send("PATCH", `/scans/${scan}`, { status: "completed" });
  };
  return [
    { name: "register a scan", run: register },
    { name: "store 20 findings", prepare: register, run: () => send("POST", `/scans/${scan}/findings`, { findings }) },
    { name: "complete a scan", prepare: register, run: () => send("PATCH", `/scans/${scan}`, { status: "completed" }) },
    { name: "delete a scan", prepare: finished, run: () => send("DELETE", `/scans/${scan}`) },
    {
      name: "stream of a scan",
      prepare: register,
      run: async () => {
        const response = await asked.gateway.request(`/api/v1/scans/${scan}/event-stream`, {
          as: `Bearer ${tenant.token}`,
        });
        if (!response.ok) throw new Error(`The stream of a scan answered ${response.status}`);
        await readStream(response, "\n");
      },
    },
    {
      name: "give a member a role",
      async prepare() {
        // Only people make members.
        await asked.gateway.gateway.admin("user.create", { tenant: tenant.id, sub: "root", role: "admin" });
        root = `Bearer ${await asked.gateway.sign({ tenant_id: tenant.id, sub: "root" })}`;
      },
      run: () => send("POST", "/members", { sub: "member-3", role: "viewer" }, root),
    },
  ];
}

const findingsStored = 20;

async function get({ gateway, tenant }: Asked, path: string): Promise<unknown> {
  const response = await gateway.request(`/api/v1${path}`, { as: `Api-Key ${tenant.apiKey}` });
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  return response.json();
}
