import { sql } from "drizzle-orm";
import { check, index, jsonb, pgTable, primaryKey, text, unique, uuid } from "drizzle-orm/pg-core";
import type { Results } from "../../shared/history/observation.ts";
import { tenantPolicies } from "../policies.ts";
import { goesWith, instant, type RunKind } from "./columns.ts";
import { ofTenant } from "./people.ts";

/** Registered with its first scan or monitor. Its state and its history are computed from `observations` when they are read. */
export const organizations = pgTable(
  "organizations",
  {
    tenantId: ofTenant(),
    id: uuid("id").notNull().defaultRandom(),
    /** The origin, in lower case. */
    orgUrl: text("org_url").notNull(),
    createdAt: instant("created_at").notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ name: "organizations_pkey", columns: [table.tenantId, table.id] }),
    unique("organizations_org_url").on(table.tenantId, table.orgUrl),
    index("organizations_of_tenant").on(table.tenantId, table.createdAt, table.id),
    ...tenantPolicies("organizations", table.tenantId),
  ],
);

/** Results of an organization's rules that a run knew from one time to another, written in the transaction that stores their source. */
export const observations = pgTable(
  "observations",
  {
    tenantId: uuid("tenant_id").notNull(),
    organizationId: uuid("organization_id").notNull(),
    /** The scan or the monitor, which may be deleted since. */
    runId: uuid("run_id").notNull(),
    kind: text("kind").$type<RunKind>().notNull(),
    benchmark: text("benchmark"),
    /** When the run first saw anything. */
    began: instant("began").notNull(),
    knownFrom: instant("known_from").notNull(),
    /** Grows while a monitor polls and no result moves. */
    knownTo: instant("known_to").notNull(),
    /** Results of all rules that the run has evaluated, whether they moved or not. */
    results: jsonb("results").$type<Results>().notNull(),
    /** When a result of the run moved last: one that arrives late counts from then on. */
    movedAt: instant("moved_at").notNull(),
  },
  (table) => [
    primaryKey({ name: "observations_pkey", columns: [table.tenantId, table.runId, table.knownFrom] }),
    goesWith(
      "observations_organization",
      [table.tenantId, table.organizationId],
      [organizations.tenantId, organizations.id],
    ),
    index("observations_by_time").on(table.tenantId, table.organizationId, table.knownTo),
    // The last scan and the last monitor of each organization of a list.
    index("observations_of_kind").on(table.tenantId, table.organizationId, table.kind, table.knownTo),
    // In the order in which they are deleted once they are old.
    index("observations_due").on(table.knownTo),
    check("observations_times", sql`${table.knownFrom} <= ${table.knownTo}`),
    ...tenantPolicies("observations", table.tenantId),
  ],
);
