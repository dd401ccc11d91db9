import { randomUUID } from "node:crypto";
import type { NewChange } from "../../shared/schemas/change.ts";
import { changeEvents } from "./published.ts";

/** What a follower does at a gateway, step by step, over HTTP and with an API key. */
export interface ProducedMonitor {
  readonly id: string;
  update(body: object): Promise<void>;
  store(changes: readonly NewChange[]): Promise<void>;
  delete(): Promise<void>;
}

/** A monitor that has just looked, with an interval of 10 s. */
export async function produceMonitor(gatewayUrl: string, apiKey: string, body: object = {}): Promise<ProducedMonitor> {
  const id = randomUUID();
  const call = (method: string, json?: object) => request(method, `/api/v1/monitors/${id}`, json);
  async function request(method: string, path: string, json?: object): Promise<Readonly<Record<string, unknown>>> {
    const response = await fetch(new URL(path, gatewayUrl), {
      method,
      headers: { authorization: `Api-Key ${apiKey}`, "content-type": "application/json" },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    });
    if (!response.ok) throw new Error(`Cannot ${method} ${path}: ${response.status} ${await response.text()}`);
    return response.status === 204 ? {} : ((await response.json()) as Readonly<Record<string, unknown>>);
  }
  const registered = await call("PUT", {
    org_url: "https://acme.okta.com",
    interval_seconds: 10,
    checks_total: 29,
    ...body,
  });
  const update = async (report: object) => void (await call("PATCH", report));
  await update({
    last_look_at: new Date().toISOString(),
    lag_seconds: 1,
    log_status: "reading",
    pass: 27,
    fail: 1,
    manual: 1,
  });
  return {
    id,
    update,
    async store(changes) {
      const path = `/api/v1/channels/${encodeURIComponent(String(registered["channel"]))}/events`;
      await request("POST", path, changeEvents(id, changes));
    },
    delete: async () => void (await call("DELETE")),
  };
}
