import { afterAll, expect, test } from "vitest";
import { findings, runs } from "../../drizzle/schema.ts";
import { write } from "../../drizzle/transactions.ts";
import { runSql, watchDatabase } from "../support/watched_database.ts";
import { openPg } from "./open_databases.ts";
import { rowOf, type SeededTenant, seedTenant } from "./seed.ts";

/** No tenant sees or touches another's rows: every table that the database has, whether this suite knows it or not. */
const { database, close } = await openPg();
afterAll(close);
const acme = await seedTenant(database);
const globex = await seedTenant(database, "globex");

test("every table has row-level security, enabled and forced, and belongs to no role that transactions take on", async () => {
  const rows = await runSql(
    database,
    `select format('%I.%I', n.nspname, c.relname), c.relrowsecurity, c.relforcerowsecurity, r.rolname
     from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_roles r on r.oid = c.relowner
     where c.relkind in ('r', 'p', 'v', 'm', 'f') and n.nspname !~ '^(pg_|information_schema$)' order by 1`,
  );
  const rules = rows.filter(([name]) => name !== "scanstream.migrations");
  expect(rules.map(([name]) => name)).toContain("public.runs");
  for (const [name, isEnabled, isForced, owner] of rules) {
    expect({ name, isEnabled, isForced }).toEqual({ name, isEnabled: true, isForced: true });
    expect(String(owner)).not.toMatch(/^scanstream_(app|admin)$/);
  }
});

test("the application role owns nothing, is no superuser, bypasses nothing and is a member of nothing", async () => {
  const rows = await runSql(
    database,
    `select rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolcanlogin,
       (select count(*)::int from pg_auth_members where member = r.oid) as memberships,
       (select count(*)::int from pg_shdepend where refobjid = r.oid and deptype = 'o'
          and dbid = (select oid from pg_database where datname = current_database())) as owned
     from pg_roles r where rolname = 'scanstream_app'`,
  );
  expect(rows).toEqual([[false, false, false, false, false, 0, 0]]);
});

test("functions with their owner's rights pin the search path and are for the application role alone", async () => {
  const rows = await runSql(
    database,
    `select p.proname, p.proconfig::text, p.proacl::text from pg_proc p join pg_namespace n on n.oid = p.pronamespace
     where p.prosecdef and n.nspname !~ '^(pg_|information_schema$)' order by 1`,
  );
  const names = ["delete_tenant", "find_api_key", "find_due_tenant", "revoke_api_key"];
  expect(rows.map(([name]) => name)).toEqual(names);
  for (const [, config, access] of rows) {
    expect(config).toContain("search_path=pg_catalog, pg_temp");
    expect(access).toContain("scanstream_app=X/");
    // An entry without a role's name is PUBLIC's.
    expect(access).not.toMatch(/[{,]=/);
  }
});

test("a tenant sees exactly its own rows of every table", async () => {
  for (const table of await listTables()) {
    const all = await rowIds(asAdmin(), table);
    const ofAcme = await rowIds(asTenant(acme.id), table);
    const ofGlobex = await rowIds(asTenant(globex.id), table);
    expect(ofAcme.length, `rows of acme in ${table}; seed.ts fills every table`).toBeGreaterThan(0);
    expect(ofGlobex.length, `rows of globex in ${table}; seed.ts fills every table`).toBeGreaterThan(0);
    expect([...ofAcme, ...ofGlobex].sort(), table).toEqual(all.sort());
  }
});

test("without a tenant, with an empty one and with an unknown one no row of any table is visible", async () => {
  const scopes = [asTenant(null), asTenant(""), asTenant("00000000-0000-4000-8000-000000000000")];
  for (const table of await listTables()) {
    for (const scope of scopes) expect(await rowIds(scope, table), table).toEqual([]);
  }
});

test("the application role may neither rewrite what was recorded nor read the hash of a key or a secret", async () => {
  const denied = [
    "insert into tenants (name) values ('x')",
    "update memberships set user_id = 'x'",
    "update audit_events set action = 'x'",
    "delete from audit_events",
    "update api_keys set scopes = '{admin}'",
    "update api_keys set revoked_at = null",
    "select hash from api_keys",
    "select * from api_keys",
    "delete from scan_reports",
    "update scan_reports set body = ''",
    "delete from tenants",
    "update changes set cause = 'start'",
    "update observations set known_from = now()",
    "update organizations set org_url = 'x'",
    "update decisions set reason = 'x'",
    "delete from decisions",
    "truncate runs",
    "create table public.mine (id int)",
    "create table scanstream.mine (id int)",
    "update scanstream.migrations set created_at = 0",
  ];
  for (const statement of denied) {
    await expect(runIn(asTenant(acme.id), statement), statement).rejects.toMatchObject({ sqlState: "42501" });
  }
});

test.each([
  ["another tenant's scan", globex.scanIds],
  ["a monitor", acme.monitorIds],
])("a finding cannot be attached to %s", async (_what, [scanId = ""]) => {
  const attached = write(database, { tenantId: acme.id }, (db) =>
    db.insert(findings).values(rowOf(findings, { tenantId: acme.id, scanId })),
  );
  await expect(attached).rejects.toMatchObject({
    sqlState: "23503",
    message: expect.stringContaining("findings_scan"),
  });
});

test("a row cannot be moved to another tenant", async () => {
  const moved = write(database, { tenantId: acme.id }, (db) => db.update(runs).set({ tenantId: globex.id }));
  await expect(moved).rejects.toMatchObject({ sqlState: "42501" });
});

test("a tenant id that is no canonical UUID is refused before anything is sent", async () => {
  let sent = 0;
  const silent = watchDatabase(database, (run) => {
    sent += 1;
    return run();
  });
  const bad = ["", "*", "null", "' or true --", acme.id.toUpperCase(), `{${acme.id}}`, ` ${acme.id}`, `${acme.id}\n`];
  for (const tenantId of bad) {
    await expect(
      write(silent, { tenantId }, (db) => db.select().from(runs)),
      tenantId,
    ).rejects.toThrow(TypeError);
  }
  expect(sent).toBe(0);
  await write(silent, { tenantId: acme.id }, (db) => db.select().from(runs));
  expect(sent).toBe(1);
});

test("a role that was granted everything changes, removes and adds no row of another tenant, in either direction", async () => {
  await runSql(database, "grant select, insert, update, delete on all tables in schema public to scanstream_app");
  for (const table of await listTables()) {
    for (const [mine, theirs] of [
      [acme, globex],
      [globex, acme],
    ] as const) {
      const own = await rowIds(asTenant(mine.id), table);
      const foreign = await rowIds(asTenant(theirs.id), table);
      const [column = ""] = await columnsOf(table);
      const touch = (ids: readonly string[]) =>
        runIn(
          asTenant(mine.id),
          `update ${table} set ${column} = ${column} where ${rowId(table)} = any($1) returning 1`,
          [ids],
        );
      const remove = (ids: readonly string[]) =>
        runIn(asTenant(mine.id), `delete from ${table} where ${rowId(table)} = any($1) returning 1`, [ids]);

      expect((await touch(own)).length, `own rows of ${table} updated`).toBe(own.length);
      expect(await touch(foreign), `foreign rows of ${table} updated`).toEqual([]);
      expect(await remove(foreign), `foreign rows of ${table} deleted`).toEqual([]);
      await expect(insertCopies(mine, table, theirs), table).rejects.toMatchObject({ sqlState: "42501" });
      // The same insert of an own row gets as far as the row that is there already.
      await expect(insertCopies(mine, table, mine), table).rejects.toMatchObject({ sqlState: "23505" });
    }
  }
});

interface Scope {
  readonly role: string;
  /** Null: the setting is not touched at all. */
  readonly tenantId: string | null;
}

const asTenant = (tenantId: string | null): Scope => ({ role: "scanstream_app", tenantId });
const asAdmin = (): Scope => ({ role: "scanstream_admin", tenantId: null });

function runIn(scope: Scope, text: string, params: readonly unknown[] = []) {
  const tenant = scope.tenantId;
  return runSql(
    database,
    { sql: "select set_config('role', $1, true)", params: [scope.role] },
    ...(tenant === null ? [] : [{ sql: "select set_config('app.tenant_id', $1, true)", params: [tenant] }]),
    { sql: text, params },
  );
}

async function listTables(): Promise<readonly string[]> {
  const rows = await runSql(
    database,
    `select format('%I.%I', n.nspname, c.relname) from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p') and n.nspname !~ '^(pg_|information_schema$)' order by 1`,
  );
  return rows.map(([name]) => String(name)).filter((name) => name !== "scanstream.migrations");
}

/** A row's readable columns as text; the application role may not read the hash of a key. */
function rowId(table: string): string {
  const name = table.slice(table.indexOf(".") + 1);
  return table === "public.api_keys" ? `${name}.id::text` : `${name}::text`;
}

async function rowIds(scope: Scope, table: string): Promise<string[]> {
  const rows = await runIn(scope, `select ${rowId(table)} from ${table}`);
  return rows.map(([id]) => String(id));
}

/** The columns that can be written. */
async function columnsOf(table: string): Promise<readonly string[]> {
  const rows = await runSql(database, {
    sql: `select quote_ident(attname) from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and attgenerated = '' order by attnum`,
    params: [table],
  });
  return rows.map(([name]) => String(name));
}

/** As the tenant, inserts rows that `source` has, exactly as they are. */
async function insertCopies(tenant: SeededTenant, table: string, source: SeededTenant) {
  const name = table.slice(table.indexOf(".") + 1);
  const rows = await runIn(asTenant(source.id), `select to_jsonb(${name})::text from ${table}`);
  const copies = `[${rows.map(([json]) => String(json)).join(",")}]`;
  const columns = (await columnsOf(table)).join(", ");
  return runIn(
    asTenant(tenant.id),
    `insert into ${table} (${columns}) select ${columns} from jsonb_populate_recordset(null::${table}, $1::jsonb)`,
    [copies],
  );
}
