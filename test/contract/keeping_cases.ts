import assert from "node:assert/strict";
import { aCheckResult, aFinding, aReport } from "../support/report_builders.ts";
import { call, createScan, gatewayCase, keyOf, openStream, refused, type GatewayCase } from "./harness.ts";

/** Random, so that it does not compress: several parts in the database. */
function randomText(bytes: number): string {
  let text = "";
  for (let left = bytes; left > 0; left -= 48_000) {
    text += btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(Math.min(left, 48_000)))));
  }
  return text;
}

/** What is kept and what is deleted: reports, scans, and what the tenant can take with it. */
export const keepingCases: readonly GatewayCase[] = [
  gatewayCase("keeps the report of a scan, gives it back byte for byte, and takes no other", async (gateway) => {
    const as = keyOf(gateway.tenant);
    const { id } = await createScan(gateway);
    const path = `/api/v1/scans/${id}/report`;
    const toReport = (findingCount: number) => {
      const findings = Array.from({ length: findingCount }, (_, at) =>
        aFinding({ fingerprint: `f${at}`, actual: randomText(96_000) }),
      );
      const report = aReport([aCheckResult({ findings })]);
      return { ...report, scan: { ...report.scan, id } };
    };
    const json = toReport(24);
    const small = toReport(1);
    await refused(await call(gateway, path, { as }), 404);
    await refused(await call(gateway, path, { method: "PUT", as, json: { ...small, schema: "x" } }), 422);
    const another = { ...small, scan: { ...small.scan, id: crypto.randomUUID() } };
    await refused(await call(gateway, path, { method: "PUT", as, json: another }), 422);
    assert.equal((await call(gateway, path, { method: "PUT", as, json })).status, 201);
    assert.equal((await call(gateway, path, { method: "PUT", as, json })).status, 200);
    await refused(await call(gateway, path, { method: "PUT", as, json: small }), 409);
    const read = await call(gateway, path, { as });
    const etag = read.headers.get("etag") ?? "";
    assert.equal((await read.text()) === JSON.stringify(json), true);
    const again = await call(gateway, path, { as, headers: { "if-none-match": etag } });
    assert.equal(again.status, 304);
    const stranger = `Api-Key ${gateway.strangerApiKey}`;
    await refused(await call(gateway, path, { as: stranger }), 404);
  }),
  gatewayCase("deletes a scan that runs: its stream ends, and the tenant's says so", async (gateway) => {
    const as = keyOf(gateway.tenant);
    const id = crypto.randomUUID();
    const path = `/api/v1/scans/${id}`;
    const created = await call(gateway, path, { method: "PUT", as, json: {} });
    const scan = (await created.json()) as { readonly event_stream: string };
    const [own, tenant] = [
      await openStream(gateway, scan.event_stream, as),
      await openStream(gateway, "/api/v1/event-stream", as),
    ];
    assert.equal((await call(gateway, path, { method: "DELETE", as })).status, 204);
    assert.match(await own.untilEnd(), /event: scan\.end\ndata: \{[^\n]*"status":"cancelled"/);
    const text = await tenant.until(`event: scan.deleted\ndata: {"scan_id":"${id}"`);
    tenant.leave();
    assert.match(
      text,
      new RegExp(`event: scan\\.end\\ndata: \\{"scan_id":"${id}","status":"cancelled"[^]*scan\\.deleted`),
    );
    await refused(await call(gateway, path, { as }), 404);
    await refused(await call(gateway, path, { method: "DELETE", as }), 404);
  }),
  gatewayCase("exports the tenant with a last line that counts what it has", async (gateway) => {
    const as = keyOf(gateway.tenant);
    const { id } = await createScan(gateway);
    const exported = await call(gateway, "/api/v1/tenant/export", { as });
    assert.equal(exported.status, 200);
    const lines = (await exported.text())
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    assert.equal(lines[0]?.["schema"], "scanstream.export/1");
    const scans = lines.filter(({ table }) => table === "scans").map(({ row }) => (row as { id: string }).id);
    assert.equal(scans.includes(id), true);
    const { rows } = lines.at(-1) as { readonly rows: Record<string, number> };
    assert.equal(rows["scans"], scans.length);
  }),
];
