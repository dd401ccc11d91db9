import { eq } from "drizzle-orm";
import { organizations } from "../../../drizzle/schema.ts";
import { readOne, type TenantDatabase } from "../../../drizzle/transactions.ts";
import type { OrganizationResource } from "../../../shared/schemas/organization.ts";
import { originOf } from "../../../shared/schemas/web_address.ts";
import type { Publisher } from "../../../shared/send_event.ts";
import type { ChannelEvent } from "../../streaming/published.ts";
import { announce, announcePaced, tenantChannel } from "../announce.ts";
import type { FeatureDependencies } from "../features.ts";
import { toOrganizationResource } from "./organization.ts";
import { selectOrganizationRows } from "./organization_store.ts";

const organizationEvents = ({ sendEvent }: Publisher) => ({
  publishUpdated: (channel: string, payload: OrganizationResource) =>
    sendEvent(channel, "organization.updated", payload),
  publishDeleted: (channel: string, payload: { readonly organization_id: string }) =>
    sendEvent(channel, "organization.deleted", payload),
});

interface Place {
  readonly tenantId: string;
  readonly orgUrl: string | null;
}

/** Tells the tenant's stream of an organization after something of it was stored. Resolves when it was published; never rejects. */
export async function announceOrganization(dependencies: FeatureDependencies, place: Place): Promise<void> {
  const { database, nowMs } = dependencies;
  const { tenantId, orgUrl } = place;
  if (orgUrl === null) return;
  await announcePaced(dependencies, `${tenantId} ${originOf(orgUrl)}`, () =>
    announce(dependencies, [tenantChannel(tenantId)], async (channel) => {
      const [row] = await readOne(database, { tenantId }, (db) => selectOfAddress(db, orgUrl));
      if (row !== undefined)
        await organizationEvents(dependencies).publishUpdated(channel, toOrganizationResource(row, nowMs()));
    }),
  );
}

/** Never rejects. */
export function announceOrganizationDeleted(dependencies: FeatureDependencies, tenantId: string, id: string) {
  const { publishDeleted } = organizationEvents(dependencies);
  return announce(dependencies, [tenantChannel(tenantId)], (channel) =>
    publishDeleted(channel, { organization_id: id }),
  );
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
