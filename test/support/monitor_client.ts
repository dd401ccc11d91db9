import { randomUUID } from "node:crypto";
import type { Change, NewChange } from "../../shared/schemas/change.ts";
import type { Monitor } from "../../shared/schemas/monitor.ts";
import type { TestGateway } from "./test_gateway.ts";
import { changeEvents } from "./published.ts";

export const newMonitor = { org_url: "https://acme.okta.com", client_id: "0oa1", interval_seconds: 10 } as const;

/** The requests of one monitor, by default with the tenant's key. */
export function createMonitorClient(gateway: TestGateway, id: string = randomUUID()) {
  const path = `/monitors/${id}`;
  const send = (method: string, suffix = "", json?: unknown, as?: string) =>
    gateway.send(method, path + suffix, json, as);
  return {
    id,
    send,
    put: (body: unknown = newMonitor, as?: string) => send("PUT", "", body, as),
    patch: (body: unknown, as?: string) => send("PATCH", "", body, as),
    /** Publishes changes as a follower does. */
    post: (changes: readonly NewChange[], as?: string) =>
      gateway.send("POST", `/channels/monitor:${gateway.acme.id}:${id}/events`, changeEvents(id, changes), as),
    read: () => gateway.read<Monitor>(path),
    list: (suffix: string) => gateway.read<ChangePage>(path + suffix),
    stream: () => send("GET", "/event-stream"),
  };
}

export interface ChangePage {
  readonly items: readonly Change[];
  readonly next_cursor: string | null;
}
