import { inArray, sql } from "drizzle-orm";
import type { Database } from "../../../drizzle/database.ts";
import { findDueTenant } from "../../../drizzle/across_tenants.ts";
import { monitors } from "../../../drizzle/schema.ts";
import { write } from "../../../drizzle/transactions.ts";
import { announce, type AnnounceOptions } from "../announce.ts";
import { organizationAnnouncerOf } from "../organizations/announce_updates.ts";
import type { Task } from "../features.ts";
import { tenantChannel } from "../tenant_events.ts";
import { monitorChannel, monitorEvents } from "./events.ts";
import { toMonitorUpdated, type MonitorRow } from "./monitor.ts";

export interface MarkStaleOptions extends AnnounceOptions {
  readonly database: Database;
  readonly nowMs?: () => number;
}

/** This many are published concurrently: one slow answer of the broker does not delay the others. */
const publishedAtOnce = 50;

/**
 * Publishes `monitor.updated` for each running monitor whose producer went silent, once until it reports again, however
 * many gateways call it at once. Returns how many; never rejects, because nothing awaits it.
 */
export async function markStale(options: MarkStaleOptions): Promise<number> {
  let count = 0;
  try {
    for (;;) {
      const stale = await markStaleMonitors(options.database);
      if (stale.length === 0) return count;
      count += stale.length;
      for (let start = 0; start < stale.length; start += publishedAtOnce) {
        const batch = stale.slice(start, start + publishedAtOnce);
        await Promise.all(batch.map((monitor) => announceStale(monitor, options)));
      }
      options.log.info({ count: stale.length }, "monitors without a producer are stale");
    }
  } catch (error) {
    options.log.warn({ error }, "stale monitors could not be marked");
    return count;
  }
}

/** Marks at most a thousand of one tenant, each once until its next heartbeat. None: another caller does it, or none is due. */
async function markStaleMonitors(database: Database): Promise<readonly MonitorRow[]> {
  const tenantId = await findDueTenant(database, "mark", 0);
  if (tenantId === null) return [];
  return write(database, { tenantId }, (db) => {
    const stale = db
      .select({ id: monitors.id })
      .from(monitors)
      // Written out as the index has it.
      .where(sql`${monitors.status} = 'running' and ${monitors.staleAt} is null and ${monitors.staleFrom} <= now()`)
      .orderBy(monitors.staleFrom)
      .limit(1000)
      .for("update", { skipLocked: true });
    return db
      .update(monitors)
      .set({ staleAt: sql`now()` })
      .where(inArray(monitors.id, stale))
      .returning();
  });
}

async function announceStale(row: MonitorRow, options: MarkStaleOptions) {
  const { id, tenantId } = row;
  const { publishMonitorUpdated } = monitorEvents(options);
  const payload = { ...toMonitorUpdated(row), status: "stale" } as const;
  await announce(
    {
      publish: [monitorChannel(tenantId, id), tenantChannel(tenantId)].map(
        (channel) => () => publishMonitorUpdated(channel, payload),
      ),
      failure: { fields: { monitor_id: id }, message: "that a monitor is stale could not be published" },
    },
    options,
  );
  await organizationAnnouncerOf(options).updated(tenantId, row);
}

/** No monitor is stale sooner; after an outage of the gateway itself every producer has that time to come back. */
export const markingStale: Task = { firstAfterMs: 60_000, everyMs: 15_000, run: markStale };
