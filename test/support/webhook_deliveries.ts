import type { ClaimedDelivery } from "../../drizzle/across_tenants.ts";
import { createSecret } from "../../gateway/features/webhooks/signature.ts";

/** A delivery as it is claimed. */
export function claimedDelivery(given: Partial<ClaimedDelivery> = {}): ClaimedDelivery {
  return {
    id: crypto.randomUUID(),
    tenantId: crypto.randomUUID(),
    webhookId: crypto.randomUUID(),
    type: "scan.end",
    data: { status: "completed" },
    createdAt: "2026-11-22T09:30:00.000Z",
    attempts: 1,
    failures: 0,
    url: "https://hooks.example/",
    host: "hooks.example",
    format: "json",
    secrets: [createSecret()],
    ...given,
  };
}
