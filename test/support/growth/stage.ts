import { Client } from "pg";
import type { Database } from "../../../drizzle/database.ts";
import { createPgDatabase } from "../../../drizzle/databases/pg.ts";
import { createTestDatabase } from "../postgres.ts";
import { startTestGateway } from "../test_gateway.ts";
import { growthRequests, type Asked, type GrowthRequest } from "./requests.ts";
import { explainDatabase, type ExplainedDatabase, type StatementCost } from "./statement_costs.ts";
import { fillAll, fillLarge, fillTenants } from "./stored_rows.ts";

/** A gateway with a separate database, in which everything that is stored can grow. */
export interface GrowthStage extends Asked {
  readonly database: ExplainedDatabase;
  /** Fills up to this many rows of everything, and this many tenants. */
  grow(sizes: GrowthSizes): Promise<void>;
  requests(): Promise<readonly GrowthRequest[]>;
  explain(request: GrowthRequest): Promise<readonly StatementCost[]>;
  stop(): Promise<void>;
}

export interface GrowthSizes {
  readonly rows: number;
  readonly tenants: number;
}

export async function openGrowthStage(adminUrl: string): Promise<GrowthStage> {
  const testDatabase = await createTestDatabase(adminUrl);
  const other = new Client({ connectionString: testDatabase.ownerUrl });
  await other.connect();
  const database = explainDatabase(createPgDatabase(testDatabase.ownerUrl), other);
  const url = new URL(adminUrl);
  url.pathname = `/${testDatabase.name}`;
  const admin = new Client({ connectionString: url.href });
  await admin.connect();
  const gateway = await startTestGateway({}, { database: withoutBackground(database) });
  const tenant = gateway.acme;
  let filled: GrowthSizes = { rows: 0, tenants: 0 };
  const grow = async (sizes: GrowthSizes) => {
    // Only rows: nothing is checked, and nothing is told to webhooks.
    await admin.query("set session_replication_role = replica");
    const range = { tenantIds: [tenant.id], from: filled.rows, to: sizes.rows };
    await fillAll(admin, range);
    await fillLarge(admin, range);
    await fillTenants(admin, { from: filled.tenants, to: sizes.tenants });
    await admin.query("reset session_replication_role");
    await admin.query("vacuum analyze");
    filled = sizes;
  };
  await grow({ rows: 100, tenants: 10 });
  const asked = { admin, database, gateway, tenant };
  return {
    ...asked,
    grow,
    requests: () => growthRequests(asked),
    async explain(request) {
      await request.prepare?.();
      return database.explain(() => request.run());
    },
    async stop() {
      await gateway.stop();
      await admin.end();
      await other.end();
      await testDatabase.drop();
    },
  };
}

/** What the gateway does by itself every few seconds is asked for by the requests, and would be among what they cost. */
function withoutBackground(database: Database): Database {
  const background = /scanstream\.(claim_webhook_deliveries|mark_stale_monitors|expire_stale_scans)/;
  return {
    ...database,
    transact: async (statements) =>
      background.test(statements.at(-1)?.sql ?? "") ? { columns: [], rows: [] } : database.transact(statements),
  };
}
