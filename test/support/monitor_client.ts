import { randomUUID } from "node:crypto";
import type { Change, NewChange } from "../../shared/schemas/change.ts";
import type { Monitor } from "../../shared/schemas/monitor.ts";
import type { TestGateway } from "./test_gateway.ts";
import { changeEvents } from "./published.ts";

export const newMonitor = { org_url: "https://acme.okta.com", client_id: "0oa1", interval_seconds: 10 } as const;

/** The requests of one monitor, by default with the tenant's key. */
export function createMonitorClient(gateway: TestGateway, id: string = randomUUID()) {
  const key = `Api-Key ${gateway.acme.apiKey}`;
  const path = `/api/v1/monitors/${id}`;
  const send = (method: string, suffix = "", json?: unknown, as = key) =>
    gateway.request(path + suffix, { method, as, ...(json === undefined ? {} : { json }) });
  return {
    id,
    path,
    send,
    put: (body: unknown = newMonitor, as = key) => send("PUT", "", body, as),
    patch: (body: unknown, as = key) => send("PATCH", "", body, as),
    /** Publishes changes as a follower does. */
    post: (changes: readonly NewChange[], as = key, tenant = gateway.acme) =>
      gateway.request(`/api/v1/channels/monitor:${tenant.id}:${id}/events`, { json: changeEvents(id, changes), as }),
    read: async () => (await (await send("GET")).json()) as Monitor,
    list: async (suffix: string) => (await (await send("GET", suffix)).json()) as ChangePage,
    stream: () => send("GET", "/event-stream"),
  };
}

export interface ChangePage {
  readonly items: readonly Change[];
  readonly next_cursor: string | null;
}
