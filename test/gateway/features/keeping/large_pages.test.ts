import { expect, test } from "vitest";
import { createProducer } from "../../../support/producers.ts";
import { openTestGateway } from "../../../support/test_gateway.ts";
import { stigRuleNames } from "../../../../shared/rule_names.ts";
import type { OrganizationHistory } from "../../../../shared/schemas/organization.ts";

const gateway = await openTestGateway();
const { id: monitorId } = await createProducer(gateway.url, gateway.acme.apiKey).follow();
const list = await gateway.read<{ readonly items: readonly [{ readonly id: string }] }>("/organizations");
const [organization] = list.items;
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
   select $1::uuid, $2::uuid, $3::uuid, 'monitor', now() - interval '500 days', at, at + interval '144 minutes', at,
     jsonb_set($4::jsonb, '{flapping}', jsonb_build_object('status', case n % 2 when 0 then 'PASS' else 'FAIL' end, 'severity', 'high', 'cause', 'log'))
   from generate_series(1, 5000) as n, lateral (select date_trunc('second', now()) - (5001 - n) * interval '144 minutes' as at) as times`,
  gateway.acme.id,
  organization.id,
  monitorId,
  results,
);

test("a history of more than one answer holds says from when on it is whole", async () => {
  const from = new Date(Date.now() - 400 * 86_400_000 + 60_000).toISOString();
  const history = await gateway.read<OrganizationHistory>(`/organizations/${organization.id}/history?from=${from}`);
  expect(Date.parse(history.from)).toBeGreaterThanOrEqual(Date.parse(from));
  expect(history.organizations[0]?.rules).toHaveLength(30);
  for (const { intervals } of history.organizations[0]?.rules ?? []) expect(intervals[0]?.status).not.toBe("UNKNOWN");
});
