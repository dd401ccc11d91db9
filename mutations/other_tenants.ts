import type { Mutation } from "./mutation.ts";

const channelNames = "a foreign, malformed or look-alike channel name";
const forgotten = "a query that forgets the tenant";
const named = "ids, cursors, queries and bodies that name another tenant's things";
const tenantStream = "the stream of a tenant: everything on one channel";
const foreignScan = "one foreign scan among a hundred that are named";
export const falseState =
  "an API key that publishes on its tenant's `tenant:` channel: a state or an end that never was";
const foreignDeletion = "deleting another tenant's scan, or one with a role that only reads";
const comesBack = "a deleted scan that comes back under its id";
const foreignRows = "an exported file that names rows of another tenant";
const wrongTenant = "a tenant that is deleted by mistake, or that takes more with it";
const existence = "finding out which tenants or scans exist";
const caches = "a shared cache that keeps a stream or an answer";
const origins = "a page of another origin";

const scansOfTenant = `USING ("scans"."tenant_id" = (select nullif(current_setting('app.tenant_id', true), '')::uuid)) WITH`;
const statement = "const { columns, rows } = await database.transact([...beginGuarded, { sql: text, params }]);";

const team = "members, keys or the audit trail of another tenant";

/** The second table of `docs/threat_model.md`. */
export const otherTenants: readonly Mutation[] = [
  {
    mistake: "a key is revoked by its id alone",
    holds: [team],
    file: "drizzle/migrations/0006_team.sql",
    find: "  WHERE id = wanted_id AND tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid\n",
    replace: "  WHERE id = wanted_id\n",
    testFile: "test/gateway/features/team/api_keys.test.ts",
    test: "not the key that asks",
  },
  {
    mistake: "the audit trail of every tenant is read",
    holds: [team],
    file: "drizzle/migrations/0006_team.sql",
    find: 'ON "audit_events" AS PERMISSIVE FOR ALL TO "scanstream_app" USING (',
    replace: 'ON "audit_events" AS PERMISSIVE FOR ALL TO "scanstream_app" USING (true or ',
    testFile: "test/gateway/features/team/audit_suite.ts",
    via: "test/gateway/features/team/audit.test.ts",
    test: "an event cannot be written",
  },
  {
    mistake: "all who open the same stream at the same time share what is looked up",
    holds: [tenantStream, "S3"],
    file: "gateway/streaming/requested_stream.ts",
    find: "[what, kind, tenantId, id, onlyStream, target.name]",
    replace: "[what, kind, onlyStream, target.name]",
    testFile: "test/gateway/features/tenant/channels.test.ts",
    test: "S3: tenants that open",
  },
  {
    mistake: "whoever may read a scan may delete it",
    holds: [foreignDeletion],
    file: "gateway/features/scans/routes.ts",
    find: 'routes.delete("/scans/:id", allow("delete")',
    replace: 'routes.delete("/scans/:id", allow("read")',
    testFile: "test/gateway/features/keeping/deletion.test.ts",
    test: "is for operators and admins",
  },
  {
    mistake: "the ids of deleted scans are looked up before the insert and not after it",
    holds: [comesBack],
    file: "drizzle/migrations/0007_keeping.sql",
    find: "CREATE OR REPLACE TRIGGER scans_not_deleted AFTER INSERT",
    replace: "CREATE OR REPLACE TRIGGER scans_not_deleted BEFORE INSERT",
    testFile: "test/gateway/features/keeping/deletion.test.ts",
    test: "a registration that is sent again",
  },
  {
    mistake: "an export without its last line is imported",
    holds: [foreignRows],
    file: "gateway/admin/exported_file.ts",
    find: "if (end === null) throw",
    replace: "if (end === null && number < 0) throw",
    testFile: "test/gateway/features/keeping/tenant.test.ts",
    test: "an export that was cut",
  },
  {
    mistake: "rows of any tenant are imported",
    holds: [foreignRows],
    file: "gateway/admin/tenant_operations.ts",
    find: "tenant_id: v.literal(tenantId)",
    replace: "tenant_id: v.string()",
    testFile: "test/gateway/features/keeping/tenant.test.ts",
    test: "rows of another tenant",
  },
  {
    mistake: "a tenant is deleted whatever the request calls it",
    holds: [wrongTenant],
    file: "drizzle/migrations/0007_keeping.sql",
    find: "WHERE id = tenant AND name = wanted_name)",
    replace: "WHERE id = tenant)",
    testFile: "test/gateway/features/keeping/tenant.test.ts",
    test: "DELETE takes everything",
  },
  {
    mistake: "of several scans those that are not visible are left out",
    holds: [foreignScan],
    file: "gateway/features/scans/channels.ts",
    find: "if (rows.length < scanIds.length) throw",
    replace: "if (rows.length === 0) throw",
    testFile: "test/gateway/features/tenant/channels.test.ts",
    test: "S3: one foreign scan",
  },
  {
    mistake: "a tenant reads the channels of every tenant whose id begins like its own",
    holds: [channelNames, "S3"],
    file: "shared/channel_name.ts",
    find: "tenantId !== null && tenantId === principal?.tenantId",
    replace: 'tenantId !== null && tenantId.startsWith(principal?.tenantId.slice(0, 1) ?? "")',
    testFile: "test/shared/channel_name.test.ts",
    test: "is closed to a principal that is %s",
  },
  {
    mistake: "everything after the third segment of a channel name is ignored",
    holds: [channelNames],
    file: "shared/channel_name.ts",
    find: " || rest.length > 0) return null;",
    replace: ") return null;",
    testFile: "test/shared/channel_name.test.ts",
    test: "gives null for %j",
  },
  {
    mistake: "a line break may end a channel name",
    holds: [channelNames, "S8"],
    file: "shared/channel_name.ts",
    find: "const resourceIdPattern = /^[A-Za-z0-9._~-]+$/;",
    replace: "const resourceIdPattern = /^[A-Za-z0-9._~-]+$/m;",
    testFile: "test/shared/channel_name.test.ts",
    test: "refuses %s",
  },
  {
    mistake: "publishing checks only that the tenant's id is somewhere in the channel",
    holds: [channelNames, falseState, "S3"],
    file: "gateway/http/publish_route.ts",
    find: "if (!canReadChannel(principal, channel)) {",
    replace: "if (!channel.includes(principal.tenantId)) {",
    testFile: "test/gateway/http/publish_route.test.ts",
    test: "%s is 403, and says no more",
  },
  {
    mistake: "a tenant's reads are not narrowed on one table",
    holds: [forgotten],
    file: "drizzle/migrations/0001_tables.sql",
    find: scansOfTenant,
    replace: "USING (true) WITH",
    testFile: "test/drizzle/isolation_suite.ts",
    via: "test/drizzle/pg.test.ts",
    test: "a tenant sees exactly its own rows",
  },
  {
    mistake: "the owner of a table is not bound by its policies",
    holds: [forgotten],
    file: "drizzle/migrations/0002_row_level_security.sql",
    find: "ALTER TABLE public.findings FORCE ROW LEVEL SECURITY;--> statement-breakpoint\n",
    replace: "",
    testFile: "test/drizzle/isolation_suite.ts",
    via: "test/drizzle/pg.test.ts",
    test: "every table has row-level security",
  },
  {
    mistake: "the tenant is set for the session, in a transaction before the statement's",
    holds: [forgotten],
    file: "drizzle/with_tenant.ts",
    find: statement,
    replace:
      'await database.transact([{ ...begin, sql: begin.sql.replaceAll("true)", "false)") }]);\n' +
      "    const { columns, rows } = await database.transact([{ sql: text, params }]);",
    testFile: "test/drizzle/isolation_suite.ts",
    via: "test/drizzle/pg.test.ts",
    test: "statements of two tenants that run at once",
  },
  {
    mistake: "statements run as the role that logged in",
    holds: [named],
    file: "drizzle/with_tenant.ts",
    find: "select set_config('role', $1, true), set_config(",
    replace: "select set_config('app.role', $1, true), set_config(",
    testFile: "test/fuzz/gateway.test.ts",
    test: "whatever path and query say",
  },
  {
    mistake: "a tenant's reads of scans are not narrowed, so foreign ones are found",
    holds: [named],
    file: "drizzle/migrations/0001_tables.sql",
    find: scansOfTenant,
    replace: "USING (true) WITH",
    testFile: "test/fuzz/gateway.test.ts",
    test: "whatever body is sent",
  },
  {
    mistake: "a foreign scan is found, and only then refused",
    holds: [existence, "S3"],
    file: "drizzle/migrations/0001_tables.sql",
    find: scansOfTenant,
    replace: "USING (true) WITH",
    testFile: "test/gateway/auth/authenticate.test.ts",
    test: "another tenant's scan is as unknown",
  },
  {
    mistake: "an answer has no Cache-Control header",
    holds: [caches],
    file: "gateway/app.ts",
    find: 'if (!c.res.headers.has("cache-control")) c.header("cache-control", "no-store");',
    replace: "",
    testFile: "test/attacks/requests.test.ts",
    test: "%s is never kept by a shared cache",
  },
  {
    mistake: "a shared cache may keep a stream if it revalidates it",
    holds: [caches],
    file: "gateway/streaming/sinks/sink.ts",
    find: '"no-store, no-transform"',
    replace: '"no-cache, no-transform"',
    testFile: "test/attacks/requests.test.ts",
    test: "%s is never kept by a shared cache",
  },
  {
    mistake: "only answers to listed origins have Vary: Origin",
    holds: [caches],
    file: "gateway/http/cors.ts",
    find: 'if (origin === null || !origins.includes(origin)) return { vary: "Origin" };',
    replace: "if (origin === null || !origins.includes(origin)) return {};",
    testFile: "test/attacks/requests.test.ts",
    test: "%s is never kept by a shared cache",
  },
  {
    mistake: "an origin that begins like a listed one is allowed",
    holds: [origins],
    file: "gateway/http/cors.ts",
    find: "!origins.includes(origin)",
    replace: "!origins.some((listed) => origin.startsWith(listed))",
    testFile: "test/gateway/http/cors.test.ts",
    test: "origin %s is not allowed to read the answer",
  },
];
