import { randomUUID } from "node:crypto";
import type { NewChange } from "../../shared/schemas/change.ts";

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
  async function call(method: string, path: string, json?: object): Promise<void> {
    const response = await fetch(new URL(`/api/v1/monitors/${id}${path}`, gatewayUrl), {
      method,
      headers: { authorization: `Api-Key ${apiKey}`, "content-type": "application/json" },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    });
    if (!response.ok) throw new Error(`Cannot ${method} ${path}: ${response.status} ${await response.text()}`);
  }
  await call("PUT", "", { org_url: "https://acme.okta.com", interval_seconds: 10, checks_total: 29, ...body });
  const update = (report: object) => call("PATCH", "", report);
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
    store: (changes) => call("POST", "/changes", { changes }),
    delete: () => call("DELETE", ""),
  };
}
