import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openPg } from "../../../drizzle/open_databases.ts";
import { startKeptGateway, type KeptGateway } from "../../../support/keeping_gateways.ts";
import { stigRuleNames } from "../../../../shared/rule_names.ts";
import type { OrganizationHistory } from "../../../../shared/schemas/organization.ts";
import { createScan } from "../../../support/test_gateway.ts";

/** Twice as much as one answer of the database may hold: of a finding's texts, and of a change's events. */
const findingRows = 45;
const changeRows = 20;
const mebibyte = 1_048_576;

describe("pages of large rows", () => {
  let gateway: KeptGateway;
  let scanId: string;
  let organization: { readonly id: string };
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
      findingRows,
    );
    const text = "\u0001".repeat(2048);
    const actor = { id: text, type: text, login: text, name: text };
    const monitor = { org_url: "https://acme.okta.com", interval_seconds: 10 };
    await gateway.request(`/api/v1/monitors/${monitorId}`, { method: "PUT", as, json: monitor });
    await gateway.owner(
      `insert into changes (tenant_id, monitor_id, id, number, "check", fingerprint, resource_type, resource_id, resource_name, to_status, from_waived, to_waived, actual, rule_status, rule_severity, seen_at, cause, explained_by)
       select $1::uuid, $2::uuid, gen_random_uuid(), n, 'check', 'f' || n, '', '', '', 'FAIL', false, false, '', 'FAIL', 'low', now(), 'log',
         case when n % 7 = 0 then '[]' else $4::jsonb end
       from generate_series(1, $3::integer) as n`,
      gateway.acme.id,
      monitorId,
      changeRows,
      JSON.stringify(Array.from({ length: 20 }, () => ({ uuid: "u", event_type: "e", transaction_id: text, actor }))),
    );
    const list = await gateway.request("/api/v1/organizations", { as });
    ({
      items: [organization],
    } = (await list.json()) as { items: [{ id: string }] });
    const results = JSON.stringify(
      Object.fromEntries(
        stigRuleNames.map(({ check }) => [
          check,
          { status: "FAIL", severity: "high", cause: "log", actor: { login: "a" } },
        ]),
      ),
    );
    await gateway.owner(
      `insert into observations (tenant_id, organization_id, run_id, kind, began, known_from, known_to, moved_at, results)
       select $1::uuid, $2::uuid, $3::uuid, 'monitor', now() - interval '500 days', at, at + interval '0.1 days', at,
         case n % 2 when 0 then $4::jsonb else jsonb_set($4::jsonb, '{flapping}', '{"status": "PASS", "severity": "high", "cause": "log"}') end
       from generate_series(1, 5000) as n, lateral (select now() - (5001 - n) * interval '0.1 days' as at) as times`,
      gateway.acme.id,
      organization.id,
      monitorId,
      results,
    );
  });
  afterAll(() => gateway?.stop());

  test.each([
    ["/scans/SCAN/findings", findingRows],
    ["/monitors/MONITOR/changes", changeRows],
    ["/monitors/MONITOR/findings", changeRows],
  ])("%s has each row once, in pages of less than 10 MiB", async (path, rows) => {
    const read: string[] = [];
    const url = new URL(`/api/v1${path.replace("SCAN", scanId).replace("MONITOR", monitorId)}`, gateway.url);
    url.searchParams.set("limit", "200");
    for (let cursor: string | null = null; cursor !== null || read.length === 0;) {
      if (cursor !== null) url.searchParams.set("cursor", cursor);
      const response = await gateway.request(url.href, { as: `Api-Key ${gateway.acme.apiKey}` });
      const text = await response.text();
      expect(text.length).toBeLessThan(10 * mebibyte);
      const page = JSON.parse(text) as { items: { fingerprint: string }[]; next_cursor: string | null };
      read.push(...page.items.map(({ fingerprint }) => fingerprint));
      cursor = page.next_cursor;
    }
    expect(read).toHaveLength(rows);
    expect(new Set(read).size).toBe(rows);
  });

  test("the history of more than one answer holds says from when on it is whole", async () => {
    const from = new Date(Date.now() - 400 * 86_400_000 + 60_000).toISOString();
    const path = `/api/v1/organizations/${organization.id}/history?from=${from}`;
    const response = await gateway.request(path, { as: `Api-Key ${gateway.acme.apiKey}` });
    const history = (await response.json()) as OrganizationHistory;
    expect(Date.parse(history.from)).toBeGreaterThanOrEqual(Date.parse(from));
    expect(history.organizations[0]?.rules).toHaveLength(30);
    for (const { intervals } of history.organizations[0]?.rules ?? []) expect(intervals[0]?.status).not.toBe("UNKNOWN");
  });
});
