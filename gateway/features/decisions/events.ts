import type { Decision } from "../../../shared/schemas/decision.ts";
import type { Publisher } from "../../../shared/send_event.ts";

/** No channel has it: decisions are published on their tenant's. */
export const decisionPrefix = "decision";

/** The events of decisions on a tenant's stream, each after it was stored. */
export const decisionEvents = ({ sendEvent }: Publisher) => ({
  publishDecisionCreated: (channel: string, payload: Decision) => sendEvent(channel, "decision.created", payload),
  publishDecisionUpdated: (channel: string, payload: Decision) => sendEvent(channel, "decision.updated", payload),
});
