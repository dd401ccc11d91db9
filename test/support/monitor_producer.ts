import { randomUUID } from "node:crypto";
import { createGatewayClient, openGateway } from "../../shared/client/gateway_client.ts";
import type { NewChange } from "../../shared/schemas/change.ts";
import type { MonitorUpdate, NewMonitor } from "../../shared/schemas/monitor.ts";
import { changeEvents } from "./published.ts";

/** A follower at a gateway, step by step, with an API key. */
export interface ProducedMonitor {
  readonly id: string;
  update(body: MonitorUpdate): Promise<void>;
  store(changes: readonly NewChange[]): Promise<void>;
  delete(): Promise<void>;
}

const never = new AbortController().signal;

/** A monitor that has just polled, with an interval of 10 s. */
export async function produceMonitor(
  url: string,
  apiKey: string,
  body: Partial<NewMonitor> = {},
): Promise<ProducedMonitor> {
  const id = randomUUID();
  const options = { url, apiKey, timeoutMs: 60_000 };
  const client = createGatewayClient(options);
  const monitor = { org_url: "https://acme.okta.com", interval_seconds: 10, checks_total: 29, ...body };
  const { channel } = await client.putMonitor(id, monitor, never);
  const update = (report: MonitorUpdate) => client.updateMonitor(id, report, never);
  const lastLook = { last_look_at: new Date().toISOString(), lag_seconds: 1, log_status: "reading" } as const;
  await update({ ...lastLook, pass: 27, fail: 1, manual: 1 });
  return {
    id,
    update,
    store: async (changes) => void (await client.publish(channel, changeEvents(id, changes).events, never)),
    delete: async () => void (await openGateway(options).send("DELETE", `/api/v1/monitors/${id}`)),
  };
}
