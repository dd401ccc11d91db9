import { eq, type SQL } from "drizzle-orm";
import { organizations } from "../../../drizzle/schema.ts";
import type { Database } from "../../../drizzle/database.ts";
import { readOne, type TenantDatabase } from "../../../drizzle/transactions.ts";
import type { OrganizationResource } from "../../../shared/schemas/organization.ts";
import { originOf } from "../../../shared/schemas/web_address.ts";
import type { Publisher } from "../../../shared/send_event.ts";
import type { ChannelEvent } from "../../streaming/published.ts";
import { announce, type AnnounceOptions, type Send } from "../announce.ts";
import { createPacedUpdates } from "../paced_updates.ts";
import { tenantChannel } from "../tenant_events.ts";
import { toOrganizationResource, type OrganizationRow } from "./organization.ts";
import { selectOrganizationRows } from "./organization_store.ts";

/** Tells the tenant's stream of its organizations. Neither rejects. */
export interface OrganizationAnnouncer {
  /** Resolves when what this call has to publish was published. */
  updated(tenantId: string, of: { readonly orgUrl: string | null }): Promise<void>;
  deleted(tenantId: string, id: string): Promise<void>;
}

interface Parts extends AnnounceOptions {
  readonly database: Database;
  readonly nowMs?: () => number;
}

/** Scans and monitors change the same organizations, and share their pace. */
const announcers = new WeakMap<Parts, OrganizationAnnouncer>();

export function organizationAnnouncerOf(parts: Parts): OrganizationAnnouncer {
  const announcer = announcers.get(parts) ?? createAnnouncer(parts);
  announcers.set(parts, announcer);
  return announcer;
}

const organizationEvents = ({ sendEvent }: Publisher) => ({
  publishUpdated: (channel: string, payload: OrganizationResource) =>
    sendEvent(channel, "organization.updated", payload),
  publishDeleted: (channel: string, payload: { readonly organization_id: string }) =>
    sendEvent(channel, "organization.deleted", payload),
});

function createAnnouncer({ database, nowMs = Date.now, ...options }: Parts): OrganizationAnnouncer {
  const { publishUpdated, publishDeleted } = organizationEvents(options);
  const updates = createPacedUpdates(nowMs);

  return {
    async updated(tenantId, { orgUrl }) {
      if (orgUrl === null) return;
      const condition = eq(organizations.orgUrl, originOf(orgUrl));
      await publish(tenantId, async (channel) => {
        const row = await read(tenantId, condition);
        if (row === null) return;
        await updates.run(row.stored.id, async (isLate) => {
          const current = isLate ? await read(tenantId, eq(organizations.id, row.stored.id)) : row;
          if (current !== null) await publishUpdated(channel, toOrganizationResource(current, nowMs()));
        });
      });
    },

    deleted: (tenantId, id) => publish(tenantId, (channel) => publishDeleted(channel, { organization_id: id })),
  };

  async function read(tenantId: string, condition: SQL): Promise<OrganizationRow | null> {
    const [row] = await readOne(database, { tenantId }, (db) => selectOrganizationRows(db, { condition, limit: 1 }));
    return row ?? null;
  }

  function publish(tenantId: string, send: Send): Promise<void> {
    return announce(options, [tenantChannel(tenantId)], send);
  }
}

/** The organization as a transaction has left it, for the tenant's stream; none without an organization. */
export async function organizationUpdated(
  db: TenantDatabase,
  { tenantId, orgUrl }: { readonly tenantId: string; readonly orgUrl: string },
): Promise<readonly ChannelEvent[]> {
  const condition = eq(organizations.orgUrl, originOf(orgUrl));
  const rows = await selectOrganizationRows(db, { condition, limit: 1 });
  const channel = tenantChannel(tenantId);
  return rows.map((row) => ({
    channel,
    type: "organization.updated",
    payload: toOrganizationResource(row, Date.now()),
  }));
}
