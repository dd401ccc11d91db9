import { afterAll, expect, test } from "vitest";
import { openGrowthStage, type GrowthSizes, type GrowthStage } from "../support/growth/stage.ts";
import type { StatementCost } from "../support/growth/statement_costs.ts";
import { suitePostgres } from "../support/suite_postgres.ts";

const server = await suitePostgres();
afterAll(() => server.stop());

/** From the smaller size on every page of a list is full. Tenants grow separately, because PostgreSQL plans for the average one. */
test.each<[what: string, few: GrowthSizes, many: GrowthSizes]>([
  ["of everything that a tenant has", { rows: 500, tenants: 10 }, { rows: 5000, tenants: 10 }],
  ["tenants", { rows: 100, tenants: 30 }, { rows: 100, tenants: 300 }],
])("ten times as many %s, and no request reads more of the database", async (_, few, many) => {
  const stage = await openGrowthStage(server.adminUrl);
  try {
    await stage.grow(few);
    const before = await costsOf(stage);
    await stage.grow(many);
    const grown: string[] = [];
    for (const [request, { rows, costs }] of await costsOf(stage)) {
      const was = pagesOf(before.get(request)?.costs ?? []);
      const is = pagesOf(costs);
      // A tree is deeper by a page, and what was read in a row is read by an index.
      if (is > Math.max(1.5 * was + 40, 3 * rows))
        grown.push(`${request}: ${was} pages, then ${is}: ${plansOf(costs)}`);
      const scanned = scannedOf(before.get(request)?.costs ?? []);
      // A table of a few pages is read whole, whatever its indexes.
      if (scannedOf(costs) > Math.max(2 * scanned + Math.max(many.rows, many.tenants) / 2, 3 * rows, 500))
        grown.push(`${request}: tables are read from end to end: ${scanned} rows, then ${scannedOf(costs)}`);
    }
    expect(grown).toEqual([]);
    expect(before.size).toBeGreaterThan(50);
  } finally {
    await stage.stop();
  }
});

test("a statement asks once for its tenant, not for each row", async () => {
  const stage = await openGrowthStage(server.adminUrl);
  try {
    for (const request of await stage.requests()) {
      for (const { plan, text } of await stage.explain(request)) {
        // The policies' question is a step before the first row; it would else be part of what is asked of each.
        const loops = [...plan.matchAll(/"Parent Relationship":"InitPlan"[^}]*?"Actual Loops":(\d+)/g)].map(
          ([, count]) => Number(count),
        );
        expect(Math.max(0, ...loops), text).toBeLessThan(2);
        expect(plan, text).not.toMatch(/"Filter":"[^"]*current_setting/);
      }
    }
  } finally {
    await stage.stop();
  }
});

interface RequestCosts {
  readonly rows: number;
  readonly costs: readonly StatementCost[];
}

async function costsOf(stage: GrowthStage): Promise<ReadonlyMap<string, RequestCosts>> {
  const found = new Map<string, RequestCosts>();
  for (const request of await stage.requests()) {
    found.set(request.name, { rows: request.rows ?? 0, costs: await stage.explain(request) });
  }
  return found;
}

function pagesOf(costs: readonly StatementCost[]): number {
  return costs.reduce((sum, { buffers }) => sum + buffers, 0);
}

function plansOf(costs: readonly StatementCost[]): string {
  return costs.map(({ text, plan }) => `${text}\n${plan}`).join("\n");
}

function scannedOf(costs: readonly StatementCost[]): number {
  return costs.reduce((sum, { scannedRows }) => sum + scannedRows, 0);
}
