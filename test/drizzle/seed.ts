import { randomUUID } from "node:crypto";
import { audit } from "../../drizzle/audit.ts";
import type { Database } from "../../drizzle/database.ts";
import {
  apiKeys,
  changes,
  decisions,
  findings,
  memberships,
  monitors,
  observations,
  organizations,
  published,
  scanReports,
  scans,
  tenants,
} from "../../drizzle/schema.ts";
import { everyTenant, write } from "../../drizzle/transactions.ts";

/** A tenant with at least two rows in every table, none of them shared with another tenant (but one row of its own in `tenants`). */
export interface SeededTenant {
  readonly id: string;
  readonly scanIds: readonly string[];
  readonly hashes: readonly string[];
}

export async function seedTenant(database: Database, name = "acme"): Promise<SeededTenant> {
  const id = randomUUID();
  const subs = [`one@${id}`, `two@${id}`];
  const scanIds = [randomUUID(), randomUUID()];
  const monitorIds = [randomUUID(), randomUUID()];
  const organizationIds = [randomUUID(), randomUUID()];
  const hashes = [randomHash(), randomHash()];
  await write(database, everyTenant, async (db) => {
    await db.insert(tenants).values({ id, name });
    await db.insert(memberships).values(subs.map((userId) => ({ tenantId: id, userId })));
    await db.insert(apiKeys).values(hashes.map((hash) => ({ tenantId: id, name: "ci", prefix: "ss_1234", hash })));
    await db.insert(scans).values(scanIds.map((scanId) => ({ id: scanId, tenantId: id })));
    await db.insert(findings).values(scanIds.map((scanId) => ({ ...findingValues, tenantId: id, scanId })));
    await db.insert(scanReports).values(scanIds.map((scanId) => ({ ...reportValues, tenantId: id, scanId })));
    await db
      .insert(monitors)
      .values(monitorIds.map((monitorId) => ({ ...monitorValues, id: monitorId, tenantId: id })));
    await db.insert(changes).values(monitorIds.map((monitorId) => ({ ...changeValues, tenantId: id, monitorId })));
    await db
      .insert(published)
      .values(scanIds.map((scanId) => ({ tenantId: id, channel: `scan:${id}:${scanId}`, producer: scanId, lastN: 1 })));
    await db
      .insert(organizations)
      .values(organizationIds.map((each, n) => ({ id: each, tenantId: id, orgUrl: `https://seeded-${n}.okta.com` })));
    await db.insert(observations).values(
      organizationIds.map((organizationId) => ({
        ...observationValues,
        tenantId: id,
        organizationId,
        runId: organizationId,
      })),
    );
    await audit(
      db,
      subs.map((sub) => ({ tenantId: id, action: "member.created", targetId: sub, detail: {} })),
    );
    await db.insert(decisions).values(subs.map((sub) => ({ ...decisionValues, tenantId: id, resource: sub })));
  });
  return { id, scanIds, hashes };
}

export const findingValues = {
  fingerprint: "f1",
  check: "user_inactivity_automation_35d_enabled",
  status: "FAIL",
  severity: "medium",
  resourceType: "policy",
  resourceId: "p1",
  resourceName: "Inactivity",
  expected: "35 days",
  actual: "90 days",
  detail: "Policy Inactivity allows 90 days where 35 are expected.",
} as const;

const reportValues = { body: new Uint8Array([31, 139]), sha256: "d", sizeBytes: 2 } as const;
const decisionValues = {
  kind: "waiver",
  check: findingValues.check,
  reason: "Moves in January",
  authorKind: "user",
  authorId: "ada",
  authorName: "ada",
} as const;

const monitorValues = {
  orgUrl: "https://acme.okta.com",
  origin: "https://acme.okta.com",
  intervalSeconds: 10,
} as const;

const changeValues = {
  id: "5a0f4f0e-8c8f-4f0e-9d7a-3f6f7f3f2b10",
  number: 1,
  check: findingValues.check,
  fingerprint: findingValues.fingerprint,
  resourceType: findingValues.resourceType,
  resourceId: findingValues.resourceId,
  resourceName: findingValues.resourceName,
  fromStatus: "PASS",
  fromWaived: false,
  toWaived: false,
  toStatus: "FAIL",
  actual: findingValues.actual,
  ruleStatus: "FAIL",
  ruleSeverity: "medium",
  seenAt: new Date("2026-11-22T09:30:00Z"),
  cause: "log",
  explainedBy: [],
} as const;

const { seenAt } = changeValues;
const observationValues = {
  kind: "monitor",
  began: seenAt,
  knownFrom: seenAt,
  knownTo: seenAt,
  movedAt: seenAt,
  results: {},
} as const;

export function randomHash(): string {
  return (randomUUID() + randomUUID()).replaceAll("-", "");
}
