import type { Publisher } from "../../../shared/broker.ts";
import type { TenantEvents } from "../../../shared/schemas/tenant_events.ts";
import { sendEvent } from "../../../shared/send_event.ts";

/** What a tenant's stream says of its decisions, each after it was stored. */

/** No channel has it: decisions are published on their tenant's. */
export const decisionPrefix = "decision";

export function publishDecisionCreated(
  publisher: Publisher,
  channel: string,
  payload: TenantEvents["decision.created"],
): Promise<void> {
  return sendEvent(publisher, channel, "decision.created", payload);
}

export function publishDecisionUpdated(
  publisher: Publisher,
  channel: string,
  payload: TenantEvents["decision.updated"],
): Promise<void> {
  return sendEvent(publisher, channel, "decision.updated", payload);
}
