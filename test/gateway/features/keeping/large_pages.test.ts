import { expect, test } from "vitest";
import { createProducer } from "../../../support/producers.ts";
import { openTestGateway } from "../../../support/test_gateway.ts";
import { stigRuleNames } from "../../../../shared/rule_names.ts";
import type { OrganizationHistory } from "../../../../shared/schemas/organization.ts";

const gateway = await openTestGateway();
const { id: monitorId } = await createProducer(gateway.url, gateway.acme.apiKey).follow();
const list = await gateway.read<{ readonly items: readonly [{ readonly id: string }] }>("/organizations");
const [organization] = list.items;
const result = { status: "FAIL", severity: "high", cause: "log", actor: { login: "a" } };

test.each([
  { observed: 5000, rules: stigRuleNames.map(({ check }) => check) },
  { observed: 400, rules: Array.from({ length: 199 }, (_, n) => `check_${n}`) },
])("a history of more than one answer holds says from when on it is whole: $observed", async ({ observed, rules }) => {
  await gateway.owner("delete from observations");
  await gateway.owner(
    `insert into observations (tenant_id, organization_id, run_id, kind, began, known_from, known_to, moved_at, results)
     select $1::uuid, $2::uuid, $3::uuid, 'monitor', now() - interval '500 days', at, at + interval '144 minutes', at,
       jsonb_set($4::jsonb, '{flapping}', jsonb_build_object('status', case n % 2 when 0 then 'PASS' else 'FAIL' end, 'severity', 'high', 'cause', 'log'))
     from generate_series(1, $5::int) as n, lateral (select date_trunc('second', now()) - ($5::int + 1 - n) * interval '144 minutes' as at) as times`,
    gateway.acme.id,
    organization.id,
    monitorId,
    JSON.stringify(Object.fromEntries(rules.map((rule) => [rule, result]))),
    observed,
  );
  const from = new Date(Date.now() - Math.min(400, observed / 10) * 86_400_000 + 60_000).toISOString();
  const path = `/organizations/${organization.id}/history?limit=200&from=${from}`;
  const history = await gateway.read<OrganizationHistory>(path);
  expect(Date.parse(history.from)).toBeGreaterThan(Date.parse(from));
  expect(history.organizations[0]?.rules).toHaveLength(rules.length + 1);
  for (const { intervals } of history.organizations[0]?.rules ?? []) expect(intervals[0]?.status).not.toBe("UNKNOWN");
});
