import type { MonitorEvents } from "../../../shared/schemas/monitor.ts";
import type { Publisher } from "../../../shared/send_event.ts";
import type { Log } from "../../observability/log.ts";
import { announce } from "../announce.ts";
import { tenantChannel } from "../tenant_events.ts";
import { monitorChannel, monitorEvents } from "./events.ts";
import type { MonitorRow } from "./monitor.ts";

export type Publish = (channel: string) => Promise<void>;

/** Publishes what was stored of a monitor, on its channel and on its tenant's. */
export function createMonitorAnnouncer({ sendEvent, log }: Publisher & { readonly log: Log }) {
  const { publishMonitorEnd } = monitorEvents({ sendEvent });
  return { publishStored, publishEnd };

  /** The tenant's stream hears of a deletion when it is done: `announceDeleted`. */
  function publishEnd(row: Pick<MonitorRow, "id" | "tenantId">, reason: MonitorEvents["monitor.end"]["reason"]) {
    const end: Publish = (channel) => publishMonitorEnd(channel, { monitor_id: row.id, reason });
    return publishStored(row, [end], { isForTenant: reason === "ended" });
  }

  /** Stored before published: a client that reads the resource after an event finds what the event said. */
  async function publishStored(
    { id, tenantId }: Pick<MonitorRow, "id" | "tenantId">,
    publish: readonly Publish[],
    { waitMs, isForTenant = true }: { readonly waitMs?: number | undefined; readonly isForTenant?: boolean } = {},
  ): Promise<void> {
    if (publish.length === 0) return;
    const channels = [monitorChannel(tenantId, id), ...(isForTenant ? [tenantChannel(tenantId)] : [])];
    await announce(
      {
        publish: channels.flatMap((channel) => publish.map((each) => () => each(channel))),
        failure: { fields: { monitor_id: id }, message: "events of a monitor could not be published" },
      },
      { log, waitMs },
    );
  }
}
