import { eq } from "drizzle-orm";
import { organizations } from "../../../drizzle/schema.ts";
import { readOne, type TenantDatabase } from "../../../drizzle/transactions.ts";
import type { OrganizationResource } from "../../../shared/schemas/organization.ts";
import { originOf } from "../../../shared/schemas/web_address.ts";
import type { Publisher } from "../../../shared/send_event.ts";
import type { ChannelEvent } from "../../streaming/published.ts";
import { announceThrottled, tenantChannel } from "../announce.ts";
import type { FeatureDependencies } from "../features.ts";
import { toOrganizationResource } from "./organization.ts";
import { selectOrganizationRows } from "./organization_store.ts";

/** The events of organizations on their tenant's stream, each after it was stored. */
export const organizationEvents = ({ sendEvent }: Publisher) => ({
  publishOrganizationUpdated: (channel: string, payload: OrganizationResource) =>
    sendEvent(channel, "organization.updated", payload),
  publishOrganizationDeleted: (channel: string, payload: { readonly organization_id: string }) =>
    sendEvent(channel, "organization.deleted", payload),
});

interface Place {
  readonly tenantId: string;
  readonly orgUrl: string | null;
}

/** Tells the tenant's stream of an organization after something of it was stored. Resolves when it was published; never rejects. */
export async function announceOrganization(
  dependencies: FeatureDependencies,
  { tenantId, orgUrl }: Place,
): Promise<void> {
  if (orgUrl === null) return;
  await announceThrottled(dependencies, `${tenantId} ${originOf(orgUrl)}`, async () => {
    const [row] = await readOne(dependencies.database, { tenantId }, (db) => selectOfAddress(db, orgUrl));
    if (row === undefined) return;
    const { publishOrganizationUpdated } = organizationEvents(dependencies);
    await publishOrganizationUpdated(tenantChannel(tenantId), toOrganizationResource(row, dependencies.nowMs()));
  });
}

/** The organization as a transaction has left it, for the tenant's stream; none without an organization. */
export async function organizationUpdated(
  db: TenantDatabase,
  { tenantId, orgUrl }: { readonly tenantId: string; readonly orgUrl: string },
): Promise<readonly ChannelEvent[]> {
  const rows = await selectOfAddress(db, orgUrl);
  const channel = tenantChannel(tenantId);
  return rows.map((row) => ({
    channel,
    type: "organization.updated",
    payload: toOrganizationResource(row, Date.now()),
  }));
}

function selectOfAddress(db: TenantDatabase, orgUrl: string) {
  return selectOrganizationRows(db, { condition: eq(organizations.orgUrl, originOf(orgUrl)), limit: 1 });
}
