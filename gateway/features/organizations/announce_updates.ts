import { eq, sql, type SQL } from "drizzle-orm";
import { organizations } from "../../../drizzle/schema.ts";
import type { Database } from "../../../drizzle/database.ts";
import { readOne } from "../../../drizzle/transactions.ts";
import type { OrganizationResource } from "../../../shared/schemas/organization.ts";
import { originOf } from "../../../shared/schemas/web_address.ts";
import type { Publisher } from "../../../shared/send_event.ts";
import { announce, type AnnounceOptions } from "../announce.ts";
import { createPacedUpdates } from "../paced_updates.ts";
import { tenantChannel } from "../tenant_events.ts";
import { toOrganizationResource, type OrganizationRow } from "./organization.ts";
import { selectOrganizationRows } from "./organization_store.ts";

/** How an organization is named by what changed it. */
type Subject = { readonly orgUrl: string | null } | { readonly monitorId: string };

/** Tells the tenant's stream of its organizations. Neither rejects. */
export interface OrganizationAnnouncer {
  /** Resolves when what this call has to publish was published. */
  updated(tenantId: string, subject: Subject): Promise<void>;
  deleted(tenantId: string, id: string): Promise<void>;
}

const notPublished = "a change of an organization could not be published";

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
    async updated(tenantId, subject) {
      const condition = conditionOf(subject);
      if (condition === null) return;
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

  function publish(tenantId: string, send: (channel: string) => Promise<void>): Promise<void> {
    return announce(
      {
        publish: [() => send(tenantChannel(tenantId))],
        failure: { fields: { tenant_id: tenantId }, message: notPublished },
      },
      options,
    );
  }
}

/** Null: it names none. */
function conditionOf(subject: Subject): SQL | null {
  if ("monitorId" in subject) {
    return sql`${organizations.orgUrl} = (select origin from monitors where monitors.id = ${subject.monitorId}::uuid)`;
  }
  return subject.orgUrl === null ? null : eq(organizations.orgUrl, originOf(subject.orgUrl));
}
