import { expect, test } from "vitest";
import { aChange } from "../../../support/change_builders.ts";
import { buildFinding, createProducer } from "../../../support/producers.ts";
import { reportUpload } from "../../../support/report_builders.ts";
import type { TestTenant } from "../../../support/operator.ts";
import { problemOf, openTestGateway } from "../../../support/test_gateway.ts";
import { seedTenant } from "../../../drizzle/seed.ts";

/** In the order of the file. */
const exportedNames = [
  "memberships",
  "api_keys",
  "organizations",
  "observations",
  "scans",
  "findings",
  "scan_reports",
  "monitors",
  "changes",
  "published",
  "decisions",
];

/** Scans with findings, reports and without, and a monitor with changes. */
async function fill({ apiKey }: TestTenant) {
  const producer = createProducer(gateway.url, apiKey);
  const findings = Array.from({ length: 700 }, (_, n) =>
    buildFinding({ actual: `é "quoted" \\ 😀 ${n}`, evaluation: `first\n→ ${n}` }),
  );
  await producer.scanned(findings);
  const { id } = await producer.scanned(findings);
  const as = `Api-Key ${apiKey}`;
  await gateway.request(`/api/v1/scans/${id}/report`, { ...reportUpload(id), as });
  await (await producer.follow()).store([aChange()]);
  await gateway.send("POST", "/decisions", { kind: "waiver", check: "c", reason: "accepted", expires: "never" }, as);
}

const gateway = await openTestGateway({ RETENTION_DAYS: "90" });
const admin = `Api-Key ${gateway.acme.apiKey}`;

const send = (method: string, json?: unknown, as = admin) => gateway.send(method, "/tenant", json, as);

test("PATCH renames the tenant, and no other", async () => {
  const renamed = await send("PATCH", { name: "Acme Ltd." });
  expect(await renamed.json()).toMatchObject({ id: gateway.acme.id, name: "Acme Ltd." });
  expect(await (await send("GET")).json()).toMatchObject({ name: "Acme Ltd." });
  for (const name of ["", "  ", "a\nb", "x".repeat(201), 1, null]) {
    expect((await send("PATCH", { name })).status, JSON.stringify(name)).toBe(422);
  }
  const other = await gateway.request("/api/v1/tenant", { as: `Api-Key ${gateway.globex.apiKey}` });
  expect(await other.json()).toMatchObject({ name: "Globex" });
  await send("PATCH", { name: "Acme" });
});

test("an export has every row of the tenant, no secret, and how many there are in its last line", async () => {
  await fill(gateway.acme);
  await fill(gateway.globex);
  const exported = await gateway.request("/api/v1/tenant/export", { as: admin });
  expect(exported.headers.get("content-type")).toBe("application/x-ndjson");
  const text = await exported.text();
  expect(text).not.toContain("hash");
  expect(text).not.toContain(gateway.globex.id);
  const [header, ...lines] = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
  expect(header).toMatchObject({ schema: "scanstream.export/1", tenant_id: gateway.acme.id, name: "Acme" });
  const last = lines.pop();
  const counts = Map.groupBy(lines, ({ table }) => String(table));
  expect(last).toEqual({
    end: true,
    rows: Object.fromEntries(exportedNames.map((name) => [name, counts.get(name)?.length ?? 0])),
  });
  expect(last).toMatchObject({ rows: { findings: 1400, scans: 2, scan_reports: 1, changes: 1, api_keys: 1 } });
  const fingerprints = new Set(counts.get("findings")?.map(({ row }) => JSON.stringify(row)));
  expect(fingerprints.size).toBe(1400);
});

test("DELETE takes everything of the tenant with it, in steps, and asks for the name", async () => {
  const tenant = await gateway.createTenant("Initech");
  await fill(tenant);
  await gateway.owner(
    `insert into findings (tenant_id, scan_id, fingerprint, "check", status, severity, resource_type, resource_id, resource_name, expected, actual, detail)
     select tenant_id, id, 'many' || n, 'c', 'FAIL', 'low', '', '', '', '', '', '' from runs, generate_series(1, 5100) as n where kind = 'scan' and tenant_id = $1::uuid`,
    tenant.id,
  );
  const as = `Api-Key ${tenant.apiKey}`;
  const bystander = await seedTenant(gateway.database, "bystander");
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
  expect((await rowsOf(tenant.id))["runs"]).toBe(3);
  const deleted = await send("DELETE", { name: "Initech" }, as);
  expect(deleted.status).toBe(204);
  expect(new Set(Object.values(await rowsOf(tenant.id)))).toEqual(new Set([0]));
  expect(await gateway.owner("select count(*)::int from tenants where id = $1::uuid", tenant.id)).toEqual([[0]]);
  expect(await rowsOf(bystander.id)).toEqual(others);
  expect((await send("GET", undefined, as)).status).toBe(401);
  expect(gateway.log.some((line) => line.includes('"a tenant was deleted"') && line.includes(tenant.id))).toBe(true);
});
