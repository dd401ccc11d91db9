import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openPg } from "../../../drizzle/open_databases.ts";
import { startKeptGateway, type KeptGateway } from "../../../support/keeping_gateways.ts";
import { createScan } from "../../../support/test_gateway.ts";

const rows = 45;
const mebibyte = 1_048_576;

describe("pages of large rows", () => {
  let gateway: KeptGateway;
  let scanId: string;
  const monitorId = randomUUID();

  beforeAll(async () => {
    gateway = await startKeptGateway(openPg);
    const as = `Api-Key ${gateway.acme.apiKey}`;
    ({ id: scanId } = await createScan(gateway, gateway.acme));
    await gateway.owner(
      `insert into findings (tenant_id, scan_id, fingerprint, "check", status, severity, resource_type, resource_id, resource_name, expected, actual, detail, notes)
       select $1::uuid, $2::uuid, 'f' || n, 'check', 'FAIL', 'low', '', '', '', text, text, text, jsonb_build_object('evaluation', text)
       from generate_series(1, $3::integer) as n, repeat(case n % 3 when 0 then 'x' when 1 then chr(1) else '€' end, case when n % 7 = 0 then 1 else 65536 end) as text`,
      gateway.acme.id,
      scanId,
      rows,
    );
    const text = "\u0001".repeat(2048);
    const actor = { id: text, type: text, login: text, name: text };
    const monitor = { org_url: "https://acme.okta.com", interval_seconds: 10 };
    await gateway.request(`/api/v1/monitors/${monitorId}`, { method: "PUT", as, json: monitor });
    await gateway.owner(
      `insert into changes (tenant_id, monitor_id, id, number, "check", fingerprint, resource_type, resource_id, resource_name, to_status, actual, seen_at, cause, explained_by)
       select $1::uuid, $2::uuid, gen_random_uuid(), n, 'check', 'f' || n, '', '', '', 'FAIL', '', now(), 'log',
         case when n % 7 = 0 then '[]' else $4::jsonb end
       from generate_series(1, $3::integer) as n`,
      gateway.acme.id,
      monitorId,
      rows,
      JSON.stringify(Array.from({ length: 20 }, () => ({ uuid: "u", event_type: "e", transaction_id: text, actor }))),
    );
  });
  afterAll(() => gateway?.stop());

  test.each(["/scans/SCAN/findings", "/monitors/MONITOR/changes", "/monitors/MONITOR/findings"])(
    "%s has each row once, and the database answers with less than Neon's bound",
    async (path) => {
      const read: string[] = [];
      const url = new URL(`/api/v1${path.replace("SCAN", scanId).replace("MONITOR", monitorId)}`, gateway.url);
      url.searchParams.set("limit", "200");
      for (let cursor: string | null = null; cursor !== null || read.length === 0;) {
        if (cursor !== null) url.searchParams.set("cursor", cursor);
        const response = await gateway.request(url.href, { as: `Api-Key ${gateway.acme.apiKey}` });
        const page = (await response.json()) as { items: { fingerprint: string }[]; next_cursor: string | null };
        read.push(...page.items.map(({ fingerprint }) => fingerprint));
        cursor = page.next_cursor;
      }
      expect(read).toHaveLength(rows);
      expect(new Set(read).size).toBe(rows);
      expect(gateway.largestTransaction()).toBeLessThan(10 * mebibyte);
    },
  );
});
