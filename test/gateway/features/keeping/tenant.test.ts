import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { importTenantCommand } from "../../../../gateway/operator/tenant_commands.ts";
import { openExportedFile } from "../../../../gateway/operator/exported_file.ts";
import { openPgliteDatabase } from "../../../../drizzle/databases/pglite.ts";
import { openPg } from "../../../drizzle/open_databases.ts";
import { startKeptGateway, type KeptGateway } from "../../../support/keeping_gateways.ts";
import { changeOf } from "../../../support/monitor_requests.ts";
import { aReport } from "../../../support/report_builders.ts";
import {
  createScan,
  problemOf,
  startTestGateway,
  type TestGateway,
  type TestTenant,
} from "../../../support/test_gateway.ts";
import { seedTenant } from "../../../drizzle/seed.ts";

const known = new Set([
  "memberships",
  "api_keys",
  "deleted_scans",
  "organizations",
  "looks",
  "verdicts",
  "rule_states",
  "organization_days",
  "scans",
  "findings",
  "scan_reports",
  "scan_report_parts",
  "monitors",
  "changes",
  "decisions",
]);
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "scanstream-keeping-"));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** Scans with findings, reports and without, a monitor with changes, and a deleted scan. */
async function fill(gateway: TestGateway, { apiKey }: TestTenant) {
  const as = `Api-Key ${apiKey}`;
  const send = async (method: string, path: string, json?: unknown) => {
    const response = await gateway.request(path, json === undefined ? { method, as } : { method, as, json });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  };
  for (let at = 0; at < 2; at += 1) {
    const id = randomUUID();
    await send("PUT", `/api/v1/scans/${id}`, { org_url: "https://acme.okta.com", client_id: "0oa1", checks_total: 1 });
    const findings = Array.from({ length: 700 }, (_, n) => ({
      fingerprint: `f${n}`,
      check: "c",
      status: "FAIL",
      actual: `é "quoted" \\ 😀 ${n}`,
      evaluation: `first\n→ ${n}`,
    }));
    await send("POST", `/api/v1/scans/${id}/findings`, { findings });
    await send("PATCH", `/api/v1/scans/${id}`, { status: "completed", checks_done: 1, fail: 1 });
    const report = aReport();
    if (at > 0) await send("PUT", `/api/v1/scans/${id}/report`, { ...report, scan: { ...report.scan, id } });
  }
  const monitor = randomUUID();
  await send("PUT", `/api/v1/monitors/${monitor}`, { org_url: "https://acme.okta.com", interval_seconds: 10 });
  await send("POST", `/api/v1/monitors/${monitor}/changes`, { changes: [changeOf()] });
  await send("POST", "/api/v1/decisions", { kind: "waiver", check: randomUUID(), reason: "accepted" });
  const deleted = randomUUID();
  await send("PUT", `/api/v1/scans/${deleted}`, {});
  await send("DELETE", `/api/v1/scans/${deleted}`);
  return { deleted };
}

/** What every GET of the tenant answers, by its path. */
async function readAll(gateway: TestGateway, as: string): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {};
  const get = async (path: string) => {
    const response = await gateway.request(path, { as });
    answers[path] = { status: response.status, etag: response.headers.get("etag"), body: await response.json() };
    return answers[path] as { readonly body: { readonly items?: readonly { readonly id: string }[] } };
  };
  for (const { id } of (await get("/api/v1/scans")).body.items ?? []) {
    for (const path of ["", "/findings?limit=200", "/report"]) await get(`/api/v1/scans/${id}${path}`);
  }
  for (const { id } of (await get("/api/v1/monitors")).body.items ?? []) {
    for (const path of ["", "/changes", "/findings"]) await get(`/api/v1/monitors/${id}${path}`);
  }
  for (const { id } of (await get("/api/v1/organizations")).body.items ?? []) {
    for (const path of [
      "",
      "/history?from=2026-11-01T00:00:00Z&to=2026-11-25T12:00:00Z",
      "/exposures?from=2026-11-01T00:00:00Z&to=2026-11-25T12:00:00Z",
    ])
      await get(`/api/v1/organizations/${id}${path}`);
  }
  return answers;
}

describe("the tenant", () => {
  let gateway: KeptGateway;
  let admin: string;

  beforeAll(async () => {
    gateway = await startKeptGateway(openPg, { RETENTION_DAYS: "90" });
    admin = `Api-Key ${gateway.acme.apiKey}`;
  });
  afterAll(() => gateway?.stop());

  const send = (method: string, json?: unknown, as = admin) =>
    gateway.request("/api/v1/tenant", json === undefined ? { method, as } : { method, as, json });

  test("PATCH renames it, for admins only, and the audit trail says who", async () => {
    const renamed = await send("PATCH", { name: "Acme Ltd." });
    expect(await renamed.json()).toMatchObject({ id: gateway.acme.id, name: "Acme Ltd." });
    expect(await (await send("GET")).json()).toMatchObject({ name: "Acme Ltd." });
    for (const name of ["", "  ", "a\nb", "x".repeat(201), 1, null]) {
      expect((await send("PATCH", { name })).status, JSON.stringify(name)).toBe(422);
    }
    for (const method of ["GET", "PATCH", "DELETE"]) {
      const json = method === "GET" ? undefined : { name: "Acme Ltd." };
      expect((await send(method, json, `Bearer ${gateway.acme.token}`)).status, method).toBe(403);
    }
    const other = await gateway.request("/api/v1/tenant", { as: `Api-Key ${gateway.globex.apiKey}` });
    expect(await other.json()).toMatchObject({ name: "Globex" });
    await send("PATCH", { name: "Acme" });
  });

  test("an exported tenant is the same in another gateway, however often it is imported", async () => {
    const { deleted } = await fill(gateway, gateway.acme);
    const before = await readAll(gateway, admin);
    const exported = await gateway.request("/api/v1/tenant/export", { as: admin });
    expect(exported.headers.get("content-type")).toBe("application/x-ndjson");
    const text = await exported.text();
    expect(text).not.toContain("hash");
    const file = join(directory, `${randomUUID()}.ndjson`);
    await writeFile(file, text);
    const whole = await openExportedFile(file, known);
    expect(whole.header).toMatchObject({ tenant_id: gateway.acme.id, name: "Acme" });
    expect(whole.counts).toMatchObject({ findings: 1400, scans: 2, scan_reports: 1, changes: 1, deleted_scans: 1 });

    // The embedded database of another folder, as the command finds it.
    const folder = await mkdtemp(join(directory, "other-"));
    const cwd = process.cwd();
    process.chdir(folder);
    const printed: string[] = [];
    const told: string[] = [];
    const terminal = { write: (line: string) => void told.push(line) };
    const io = { env: {}, stdout: (line: string) => void printed.push(line), terminal };
    try {
      expect(await importTenantCommand({ file, format: "text" }, io)).toBe(0);
      expect(printed.join("")).toContain("findings: 1400 new of 1400\n");
      expect(printed.join("")).toContain("api_keys: 1 in the file were not imported: create new ones\n");
      printed.length = 0;
      await expect(importTenantCommand({ file, format: "text" }, io)).rejects.toThrow(
        /exists already.*--into-existing/,
      );
      await importTenantCommand({ file, name: "Another", intoExisting: true, format: "json" }, io);
      expect(told.join("")).toContain("keeps its name");
      const { tables, ...imported } = JSON.parse(printed.join("")) as { readonly tables: readonly object[] };
      expect(imported).toEqual({ id: gateway.acme.id, name: "Acme" });
      expect(tables).toContainEqual({ name: "findings", in_file: 1400, created: 0 });
      // Another tenant's rows under a tenant of one's own.
      const forged = join(directory, "forged.ndjson");
      await writeFile(forged, text.replaceAll(gateway.acme.id, randomUUID()));
      told.length = 0;
      expect(await importTenantCommand({ file: forged, format: "text" }, io)).toBe(1);
      expect(told.join("")).toMatch(/^Not imported, because another tenant has them: decisions [0-9a-f-]{36}/);
    } finally {
      process.chdir(cwd);
    }
    const database = await openPgliteDatabase({ directory: join(folder, ".scanstream", "database") });
    const other = await startTestGateway({}, { database, issuerKey: gateway.issuerKey });
    try {
      const key = (await other.gateway.admin("api-key.create", {
        tenant: gateway.acme.id,
        name: "new",
        scopes: "read,publish,admin",
      })) as { api_key: string };
      const as = `Api-Key ${key.api_key}`;
      expect(await readAll(other, as)).toEqual(before);
      expect((await other.request(`/api/v1/scans/${deleted}`, { method: "PUT", as, json: {} })).status).toBe(410);
      const member = await other.request("/api/v1/scans", { as: `Bearer ${gateway.acme.token}` });
      expect(member.status, "a member is one there, too").toBe(200);
    } finally {
      await other.stop();
    }
  });

  test("an export that was cut, or was changed, is refused whole", async () => {
    const text = await (await gateway.request("/api/v1/tenant/export", { as: admin })).text();
    const lines = text.trimEnd().split("\n");
    const file = join(directory, "damaged.ndjson");
    const other = JSON.stringify({ table: "scans", row: { tenant_id: gateway.globex.id, id: randomUUID() } });
    const damaged: readonly (readonly [text: string, problem: RegExp])[] = [
      [lines.slice(0, -1).join("\n"), /its last line is missing/],
      [text.slice(0, text.length / 2), /expected a row of the tenant|its last line is missing/],
      [lines.toSpliced(1, 1).join("\n"), /0 rows of memberships where its last line says 1/],
      ["", /is empty/],
      ["{}", /line 1: expected the header/],
      [lines.toSpliced(1, 0, other).join("\n"), /line 2: expected a row of the tenant/],
      [
        lines.toSpliced(1, 0, JSON.stringify({ table: "x", row: { tenant_id: gateway.acme.id } })).join("\n"),
        /line 2: .*not "x"/,
      ],
      [`${text}{}`, /expected nothing after the last line/],
    ];
    for (const [damage, problem] of damaged) {
      await writeFile(file, damage);
      await expect(openExportedFile(file, known)).rejects.toThrow(problem);
    }
    await expect(openExportedFile(join(directory, "none"), known)).rejects.toThrow(/no such file/);
    expect(await readFile(file, "utf8")).toBe(`${text}{}`);
  });

  test("rows of another tenant are refused, whatever the header says", async () => {
    const row = { tenant_id: gateway.globex.id, id: randomUUID() };
    const args = { tenant: gateway.acme.id, table: "scans", rows: [row] };
    await expect(gateway.gateway.admin("tenant.import-rows", args)).rejects.toMatchObject({ code: "invalid" });
  });

  test("DELETE takes everything with it, in steps, and asks for the name", async () => {
    const tenant = await gateway.createTenant("Initech");
    await fill(gateway, tenant);
    await gateway.owner(
      `insert into findings (tenant_id, scan_id, fingerprint, "check", status, severity, resource_type, resource_id, resource_name, expected, actual, detail)
       select tenant_id, id, 'many' || n, 'c', 'FAIL', 'low', '', '', '', '', '', '' from scans, generate_series(1, 10000) as n where tenant_id = $1::uuid`,
      tenant.id,
    );
    const as = `Api-Key ${tenant.apiKey}`;
    const bystander = await seedTenant(gateway.opened.database, "bystander");
    const rowsOf = async (id: string) => {
      const tables = await gateway.owner(
        `select c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id'
         where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' order by 1`,
      );
      const counts: Record<string, unknown> = {};
      for (const [table] of tables) {
        const rows = await gateway.owner(`select count(*)::int from ${String(table)} where tenant_id = $1::uuid`, id);
        counts[String(table)] = rows[0]?.[0];
      }
      return counts;
    };
    const others = await rowsOf(bystander.id);
    expect(await problemOf(await send("DELETE", { name: "initech" }, as))).toMatchObject({ status: 422 });
    expect((await send("DELETE", {}, as)).status).toBe(422);
    expect((await rowsOf(tenant.id))["scans"]).toBe(2);
    const deleted = await send("DELETE", { name: "Initech" }, as);
    expect(deleted.status).toBe(204);
    expect(new Set(Object.values(await rowsOf(tenant.id)))).toEqual(new Set([0]));
    expect(await gateway.owner("select count(*)::int from tenants where id = $1::uuid", tenant.id)).toEqual([[0]]);
    expect(await rowsOf(bystander.id)).toEqual(others);
    expect((await send("GET", undefined, as)).status).toBe(401);
    expect(gateway.log.some((line) => line.includes('"a tenant was deleted"') && line.includes(tenant.id))).toBe(true);
  });

  test("an operator renames and deletes one by the command", async () => {
    const tenant = await gateway.createTenant("Umbrella");
    await createScan(gateway, tenant);
    const { gateway: running } = gateway;
    expect(await running.admin("tenant.rename", { tenant: tenant.id, name: "Umbrella 2" })).toEqual({
      id: tenant.id,
      name: "Umbrella 2",
    });
    const remove = (confirm: string) => running.admin("tenant.delete", { tenant: tenant.id, confirm, maxRows: 1000 });
    await expect(remove("Umbrella")).rejects.toMatchObject({ code: "invalid" });
    expect(await remove("Umbrella 2")).toEqual({ isGone: true });
    await expect(remove("Umbrella 2")).rejects.toMatchObject({ code: "not_found" });
  });
});
