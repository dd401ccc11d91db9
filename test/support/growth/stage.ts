import { Client } from "pg";
import type { Database } from "../../../drizzle/database.ts";
import { createPgDatabase } from "../../../drizzle/databases/pg.ts";
import { createTestDatabase } from "../postgres.ts";
import { startTestGateway } from "../test_gateway.ts";
import { growthRequests, type Asked, type GrowthRequest } from "./requests.ts";
import { explainDatabase, type ExplainedDatabase, type StatementCost } from "./statement_costs.ts";
import {
  fillAll,
  fillApiKeys,
  fillAudit,
  fillChanges,
  fillDecisions,
  fillDeliveries,
  fillFindings,
  fillHistory,
  fillMembers,
  fillMonitors,
  fillPending,
  fillRunning,
  fillScans,
  fillTenants,
  type Fill,
} from "./stored_rows.ts";

/** Something that can grow. */
interface Growing {
  readonly fill: Fill;
  /** The names of the requests that read or write what grows; all others are only near it. */
  readonly concerns: readonly string[];
}

const scanLists = [
  "scans",
  "scans, from the middle",
  "one scan",
  "tenant stream with its snapshot",
  "scans that expire",
];
const monitorLists = [
  "findings of a monitor",
  "findings of a monitor, from the middle",
  "changes",
  "changes, from the middle",
];

export const growing: Readonly<Record<string, Growing>> = {
  "scans of a tenant, ten findings each": {
    fill: fillScans,
    concerns: [
      ...scanLists,
      "findings of a scan",
      "stream of a scan",
      "recheck of 100 scans",
      "retention, nothing is old",
      "retention, a step",
      "page of the export",
      "register a scan",
      "store 20 findings",
      "complete a scan",
      "delete a scan",
    ],
  },
  "scans of a tenant that run": {
    fill: fillRunning,
    concerns: [...scanLists, "recheck of 100 scans", "stream of a scan"],
  },
  "findings of one scan": {
    fill: fillFindings,
    concerns: ["findings of a scan", "findings of a scan, from the middle", "page of the export", "store 20 findings"],
  },
  tenants: {
    fill: (admin, range) => fillTenants(admin, range),
    concerns: [
      ...scanLists,
      "tenant stream",
      "recheck of 1,000 subjects",
      "retention, nothing is old",
      "retention, a step",
      "monitors that are stale",
      "webhook deliveries to send",
      "webhook backlog",
    ],
  },
  "members of a tenant": {
    fill: fillMembers,
    concerns: [
      "members",
      "members, from the middle",
      "tenant stream",
      "recheck of 1,000 subjects",
      "give a member a role",
    ],
  },
  "monitors of a tenant, twenty changes each": {
    fill: fillMonitors,
    concerns: [
      "monitors",
      "monitors, from the middle",
      "one monitor",
      ...monitorLists,
      "monitors that are stale",
      "tenant stream with its snapshot",
    ],
  },
  "changes of one monitor": {
    fill: fillChanges,
    concerns: [...monitorLists, "changes by check", "changes by finding"],
  },
  "API keys of a tenant": {
    fill: fillApiKeys,
    concerns: ["API keys", "API keys, from the middle", "audit trail", "audit trail by actor"],
  },
  "audit trail of a tenant": {
    fill: fillAudit,
    concerns: [
      "audit trail",
      "audit trail, from the middle",
      ...["action", "actor", "target", "time"].map((by) => `audit trail by ${by}`),
    ],
  },
  "deliveries of a webhook": {
    fill: fillDeliveries,
    concerns: ["deliveries", "deliveries, from the middle", "deliveries by status", "webhook deliveries to send"],
  },
  "deliveries that are due": {
    fill: fillPending,
    concerns: [
      "deliveries",
      "deliveries by status",
      "webhook deliveries to send",
      "webhook backlog",
      "complete a scan",
    ],
  },
  "history of an organization": {
    fill: fillHistory,
    concerns: ["organizations", "one organization", "history of a rule", "exposures that are open"],
  },
  "decisions of a tenant": {
    fill: fillDecisions,
    concerns: [
      "decisions",
      "decisions, from the middle",
      "decisions that hold",
      "decisions by kind",
      "decisions by check",
      "complete a scan",
    ],
  },
};

/** A gateway on a database of its own, in which one thing can grow. */
export interface GrowthStage extends Asked {
  readonly database: ExplainedDatabase;
  /** Fills up to so many. */
  grow(name: string, size: number): Promise<void>;
  requests(): Promise<readonly GrowthRequest[]>;
  explain(request: GrowthRequest): Promise<readonly StatementCost[]>;
  stop(): Promise<void>;
}

/** Of everything, before it grows. */
const baseRows = 100;
const baseTenants = 10;

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
  const sizes = new Map<string, number>();
  const stored = async (work: () => Promise<void>) => {
    // Only rows: nothing is checked, and nothing is told to webhooks.
    await admin.query("set session_replication_role = replica");
    await work();
    await admin.query("reset session_replication_role");
    await admin.query("vacuum analyze");
  };
  await stored(async () => {
    await fillAll(admin, { tenantIds: [tenant.id], from: 0, to: baseRows });
    await fillTenants(admin, { from: 0, to: baseTenants });
  });
  const asked = { admin, database, gateway, tenant };
  return {
    ...asked,
    async grow(name, size) {
      const from = sizes.get(name) ?? (name === "tenants" ? baseTenants : baseRows);
      const grown = growing[name];
      if (grown === undefined)
        throw new Error(`Cannot grow ${JSON.stringify(name)}: expected ${Object.keys(growing).join(", ")}`);
      const { fill } = grown;
      await stored(() => fill(admin, { tenantIds: [tenant.id], from, to: size }));
      sizes.set(name, size);
    },
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
