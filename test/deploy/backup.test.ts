import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createPgDatabase } from "../../drizzle/databases/pg.ts";
import { migrate } from "../../drizzle/migrate.ts";
import { machinePostgresFolder, startMachinePostgres } from "../support/machine_postgres.ts";
import { changeOf, createMonitorClient } from "../support/monitor_requests.ts";
import { createTestDatabase, type PostgresServer, type TestDatabase } from "../support/postgres.ts";
import { parseConfig } from "../../gateway/config.ts";
import { silentLog } from "../../gateway/observability/log.ts";
import { startGateway } from "../../gateway/runtime/start_gateway.ts";
import {
  audience,
  createScan,
  issuer,
  startTestGateway,
  type TestGateway,
  type TestTenant,
} from "../support/test_gateway.ts";

const run = promisify(execFile);
const secret = { STREAM_TOKEN_SECRET: "0123456789abcdef0123456789abcdef" };
let folder: string;
let old: PostgresServer;
let fresh: PostgresServer;
let database: TestDatabase;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "scanstream-backup-"));
  [old, fresh] = await Promise.all([startMachinePostgres("prepared"), startMachinePostgres("bare")]);
  database = await createTestDatabase(old.adminUrl);
});
afterAll(async () => {
  await Promise.all([old.stop(), fresh.stop()]);
  await rm(folder, { recursive: true, force: true });
});

/** The commands of docs/operate.md, as they stand there. */
async function runDocumented(name: "backup" | "restore", env: Readonly<Record<string, string>>): Promise<string> {
  const page = await readFile(join(import.meta.dirname, "../../docs/operate.md"), "utf8");
  const [, commands = "exit 1"] = new RegExp(`^\`\`\`sh ${name}\n(.*?)^\`\`\``, "ms").exec(page) ?? [];
  const path = `${await machinePostgresFolder()}:${process.env["PATH"] ?? ""}`;
  const { stderr } = await run("bash", ["--norc", "-euo", "pipefail", "-c", commands], {
    cwd: folder,
    env: { PATH: path, LC_ALL: "C", ...env },
  });
  return stderr;
}

function onServer({ adminUrl }: PostgresServer, url: string): string {
  const moved = new URL(url);
  moved.port = new URL(adminUrl).port;
  return moved.href;
}

/** What a tenant's key reads over the API, all of it. */
async function readAll(
  { url }: { readonly url: string },
  { apiKey, token }: TestTenant,
  scanId: string,
): Promise<unknown> {
  const paths = ["/api/v1/scans", `/api/v1/scans/${scanId}/findings`, "/api/v1/monitors"];
  const answers: unknown[] = [];
  for (const as of [`Api-Key ${apiKey}`, `Bearer ${token}`]) {
    for (const path of paths) {
      const response = await fetch(new URL(path, url), { headers: { authorization: as } });
      answers.push([path, response.status, await response.json()]);
    }
  }
  return answers;
}

async function storeScan(gateway: TestGateway, tenant: TestTenant): Promise<string> {
  const scan = await createScan(gateway, tenant);
  const as = `Api-Key ${tenant.apiKey}`;
  const findings = Array.from({ length: 5 }, (_, index) => ({
    check: "mfa-for-admins",
    fingerprint: `${tenant.name}-${index}`,
    status: "FAIL",
    resource_name: "Ünïcode 'quoted' \\ text",
  }));
  const stored = await gateway.request(`/api/v1/scans/${scan.id}/findings`, { as, json: { findings } });
  expect(stored.status, await stored.clone().text()).toBeLessThan(300);
  for (const status of ["running", "completed"]) {
    const json = { status, checks_total: 5, checks_done: 5, fail: 5 };
    const updated = await gateway.request(`/api/v1/scans/${scan.id}`, { method: "PATCH", as, json });
    expect(updated.status, await updated.clone().text()).toBeLessThan(300);
  }
  return scan.id;
}

test("a backup as documented is restored into a fresh cluster, where a gateway reads everything and tenants stay apart", async () => {
  const before = await startTestGateway(secret, { database: createPgDatabase(database.ownerUrl) });
  const { acme, globex, issuerKey } = before;
  const scans = { acme: await storeScan(before, acme), globex: await storeScan(before, globex) };
  const monitor = createMonitorClient(before);
  expect((await monitor.put()).status).toBeLessThan(300);
  expect((await monitor.post([changeOf()])).status).toBeLessThan(300);
  const expected = [await readAll(before, acme, scans.acme), await readAll(before, globex, scans.globex)];
  expect(JSON.stringify(expected)).toContain("Globex-4");
  await before.stop();

  const adminUrl = new URL(old.adminUrl);
  adminUrl.pathname = database.name;
  await runDocumented("backup", { DATABASE_URL: adminUrl.href });
  await old.stop();
  const complaints = await runDocumented("restore", { NEW_URL: fresh.adminUrl });
  expect(complaints.trim().split("\n"), complaints).toEqual([expect.stringMatching(/role "postgres" already exists$/)]);

  // As the gateway's own role, with its password of before.
  const appUrl = onServer(fresh, database.appUrl);
  const auth = {
    AUTH_JWKS: JSON.stringify({ keys: [issuerKey.publicJwk] }),
    AUTH_ISSUER: issuer,
    AUTH_AUDIENCE: audience,
  };
  const config = parseConfig({ PORT: "0", METRICS_PORT: "0", DATABASE_URL: appUrl, ...secret, ...auth });
  const after = await startGateway({ config, log: silentLog });
  expect((await fetch(`${after.url}/readyz`)).status).toBe(200);
  expect([await readAll(after, acme, scans.acme), await readAll(after, globex, scans.globex)]).toEqual(expected);
  const get = (path: string) =>
    fetch(new URL(path, after.url), { headers: { authorization: `Api-Key ${acme.apiKey}` } });
  expect((await get(`/api/v1/scans/${scans.globex}`)).status).toBe(404);
  expect(await (await get(`${monitor.path}/changes`)).text()).toContain("Okta Admin Console");
  await after.stop({ drainMs: 0 });

  await migrate(onServer(fresh, database.ownerUrl));
  await expectRowLevelSecurity(appUrl, acme.id);
});

/** On the tables themselves: nothing without a tenant, one tenant's rows with it, and nobody else's to write. */
async function expectRowLevelSecurity(appUrl: string, tenantId: string): Promise<void> {
  const client = new Client({ connectionString: appUrl });
  await client.connect();
  const tenantsOf = async () => {
    const { rows } = await client.query<{ tenant_id: string }>(
      "select distinct tenant_id from scans union select distinct tenant_id from findings",
    );
    return rows.map((row) => row.tenant_id);
  };
  await client.query("set role scanstream_app");
  expect(await tenantsOf()).toEqual([]);
  await client.query("select set_config('app.tenant_id', $1, false)", [tenantId]);
  expect(await tenantsOf()).toEqual([tenantId]);
  const { rowCount } = await client.query("update scans set pass = 99 where tenant_id <> $1", [tenantId]);
  expect(rowCount).toBe(0);
  await client.end();
}

test("a dump as the owner of the tables fails, and leaves nothing out in silence", async () => {
  const server = await startMachinePostgres("prepared");
  const { ownerUrl } = await createTestDatabase(server.adminUrl);
  const dumped = run(join(await machinePostgresFolder(), "pg_dump"), [`--dbname=${ownerUrl}`, "--file=/dev/null"]);
  await expect(dumped).rejects.toThrow(/row-level security|row_security/);
  await server.stop();
});
