import type { ClaimedDelivery } from "../../../drizzle/across_tenants.ts";
import { toSlackMessage } from "./slack.ts";

/** The body of a delivery: the same in every attempt. `data` is as it was when it happened. */
export function toBody({
  type,
  createdAt,
  data,
  format,
}: Pick<ClaimedDelivery, "type" | "createdAt" | "data" | "format">) {
  return JSON.stringify(format === "slack" ? toSlackMessage(type, data) : { type, timestamp: createdAt, data });
}
