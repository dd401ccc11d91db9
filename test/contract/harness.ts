import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { call } from "../../gateway/library/contract_client.ts";
import type { TestOperator, TestTenant } from "../support/operator.ts";
import type { Scan } from "../../shared/schemas/scan.ts";
import { numbered } from "../support/published.ts";

export {
  call,
  eventually,
  openStream,
  refused,
  type CallOptions,
  type StreamReader,
} from "../../gateway/library/contract_client.ts";

/**
 * A running gateway, started by whoever runs the cases. They know an address and credentials, and nothing of the runtime; what cannot be
 * done from outside is in `control`.
 */
export interface GatewayUnderTest {
  /** Without a slash at its end. */
  readonly url: string;
  readonly tenant: TestTenant;
  /** An API key of another tenant. */
  readonly strangerApiKey: string;
  readonly control: GatewayControl;
}

/** Actions that only the operator of the gateway can take. */
export interface GatewayControl extends TestOperator {
  /** As the gateway was configured. */
  readonly maxStreamsPerTenant: number;
  /** Publishes past the gateway, no matter what the message is. */
  publishRaw(channel: string, message: string): Promise<void>;
  /** How many subscriptions the broker has for the channel. */
  subscriptionCount(channel: string): Promise<number>;
}

/** By what each shows. */
export type GatewayCases = Readonly<Record<string, (gateway: GatewayUnderTest) => Promise<void>>>;

export const keyOf = ({ apiKey }: Pick<TestTenant, "apiKey">): string => `Api-Key ${apiKey}`;

/** Makes a key for its caller, who is a person: no key makes keys. */
export async function createKey(
  gateway: Pick<GatewayUnderTest, "url">,
  as: string,
  json: object,
): Promise<{ readonly id: string; readonly as: string }> {
  const response = await call(gateway, "/api/v1/api-keys", { as, json });
  const text = await response.text();
  assert.equal(response.status, 201, text);
  const { id, api_key: apiKey } = JSON.parse(text) as { readonly id: string; readonly api_key: string };
  return { id, as: keyOf({ apiKey }) };
}

/** Tries again, as a client does, where the gateway is overloaded and says when to come back. */
export async function createScan(
  gateway: Pick<GatewayUnderTest, "url"> & { readonly tenant?: Pick<TestTenant, "apiKey"> },
  { apiKey = gateway.tenant?.apiKey ?? "" }: Partial<Pick<TestTenant, "apiKey">> = {},
  json: unknown = {},
): Promise<Scan> {
  const create = () => call(gateway, "/api/v1/scans", { as: keyOf({ apiKey }), json });
  let response = await create();
  for (let tries = 1; response.status === 503 && tries < 4; tries += 1) {
    const seconds = Number(response.headers.get("retry-after"));
    assert.ok(seconds >= 1 && seconds <= 60, "a 503 says when to come back");
    await response.body?.cancel();
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    response = await create();
  }
  const text = await response.text();
  assert.equal(response.status, 201, text);
  return JSON.parse(text) as Scan;
}

/** Publishes what the gateway has to take. */
export async function send(
  gateway: GatewayUnderTest,
  scan: Pick<Scan, "channel">,
  event: { readonly type: string; readonly data: Readonly<Record<string, unknown>> },
  tenant: Pick<TestTenant, "apiKey"> = gateway.tenant,
): Promise<void> {
  const path = `/api/v1/channels/${scan.channel}/events`;
  const response = await call(gateway, path, { as: keyOf(tenant), json: numbered([event]) });
  assert.equal(response.status, 202, await response.text());
}

/** Updates a scan of the gateway's tenant. */
export async function patch(gateway: GatewayUnderTest, { id }: Pick<Scan, "id">, json: unknown): Promise<void> {
  const response = await call(gateway, `/api/v1/scans/${id}`, { method: "PATCH", as: keyOf(gateway.tenant), json });
  assert.equal(response.status, 200, await response.text());
}

/** Opens an event stream on a socket and, once it is open, never takes another byte from it. Over plain HTTP only. */
export async function openStuckReader({ url }: GatewayUnderTest, path: string, credential: string): Promise<Socket> {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  // However the gateway gets rid of it.
  socket.on("error", () => undefined);
  socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\nauthorization: ${credential}\r\n\r\n`);
  let head = "";
  while (!head.includes(": open\n")) {
    const [bytes] = (await once(socket, "data")) as [Buffer];
    head += bytes.toString("latin1");
    if (/^HTTP\/1\.1 [345]/.test(head)) assert.fail(`Cannot open the stream: ${head}`);
  }
  socket.pause();
  return socket;
}
