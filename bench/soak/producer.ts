import { pause } from "../../shared/abortable.ts";
import type { Broker } from "../../shared/broker.ts";
import { encodeEvent, toMessage } from "../../shared/event.ts";
import type { SoakTenant } from "./environment.ts";

/** A scan whose events 1, 2, 3, … are published straight to the broker, so that no fault of the gateway holds them up. */
export interface ProducedScan {
  readonly tenant: SoakTenant;
  readonly scanId: string;
  /** The last one whose request was sent; 0 before the first. */
  last(): number;
  /** Null: an event of somebody else. */
  numberOf(type: string, data: Readonly<Record<string, unknown>>): number | null;
  publish(perSecond: number, signal: AbortSignal): Promise<void>;
}

export interface Producer {
  readonly broker: Broker;
  readonly gatewayUrl: string;
}

/** Registers a scan at the gateway. Each event has this number of bytes of padding. */
export async function createProducedScan(
  { broker, gatewayUrl }: Producer,
  tenant: SoakTenant,
  paddingBytes = 0,
): Promise<ProducedScan> {
  const { id, channel } = (await call("POST", "/api/v1/scans", {})) as {
    readonly id: string;
    readonly channel: string;
  };
  const padding = "x".repeat(paddingBytes);
  let last = 0;
  return {
    tenant,
    scanId: id,
    last: () => last,
    numberOf: (type, { scan_id: scanId, number }) =>
      type === "scan.delta" && scanId === id && typeof number === "number" ? number : null,
    async publish(perSecond, stopped) {
      let aliveUntilMs = performance.now() + keepAliveMs;
      while (!stopped.aborted) {
        last += 1;
        await broker.publish(channel, toMessage(encodeEvent("scan.delta", { scan_id: id, number: last, padding })));
        await pause(1000 / perSecond, [stopped]);
        if (performance.now() < aliveUntilMs) continue;
        // The gateway ends a scan whose producer shows no sign of life. A refused sign is sent again after the next event.
        await call("PATCH", `/api/v1/scans/${id}`, { status: "running" }).then(
          () => (aliveUntilMs = performance.now() + keepAliveMs),
          () => undefined,
        );
      }
    },
  };

  async function call(method: string, path: string, body: object): Promise<unknown> {
    const response = await fetch(new URL(path, gatewayUrl), {
      method,
      headers: { authorization: `Api-Key ${tenant.apiKey}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${method} ${path} was answered with ${response.status}`);
    return response.json();
  }
}

const keepAliveMs = 60_000;
