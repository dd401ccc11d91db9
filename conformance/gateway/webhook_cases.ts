import assert from "node:assert/strict";
import { Webhook } from "standardwebhooks";
import { startReceiver } from "../../test/support/webhook_receiver.ts";
import {
  call,
  createScan,
  eventually,
  gatewayCase,
  given,
  keyOf,
  refused,
  type ConformanceTenant,
  type GatewayCase,
  type GatewayUnderTest,
} from "./harness.ts";

interface CreatedWebhook {
  readonly id: string;
  readonly secret: string;
}

async function createWebhook(
  gateway: GatewayUnderTest,
  url: string,
  tenant: Pick<ConformanceTenant, "apiKey"> = gateway.tenant,
): Promise<CreatedWebhook> {
  const json = { url, events: ["scan.end"] };
  const response = await call(gateway, "/api/v1/webhooks", { as: keyOf(tenant), json });
  const text = await response.text();
  assert.equal(response.status, 201, text);
  return JSON.parse(text) as CreatedWebhook;
}

/** Webhooks: what other systems are told. */
export const webhookCases: readonly GatewayCase[] = [
  gatewayCase(
    "keeps a webhook for its tenant alone, and shows its secret when it is made and never again",
    ["stranger"],
    async (gateway) => {
      const { id, secret } = await createWebhook(gateway, "https://hooks.example/scanstream");
      const path = `/api/v1/webhooks/${id}`;
      const as = keyOf(gateway.tenant);
      for (const read of [path, "/api/v1/webhooks"]) {
        const text = await (await call(gateway, read, { as })).text();
        assert.ok(text.includes(id) && !text.includes(secret.slice(6)), "only the webhook is shown");
      }
      const stranger = `Api-Key ${given(gateway.strangerApiKey, "stranger")}`;
      for (const method of ["GET", "DELETE"]) {
        await refused(await call(gateway, path, { as: stranger, method }), 404, [secret]);
      }
      const changed = await call(gateway, path, { as, method: "PATCH", json: { enabled: false } });
      assert.equal(((await changed.json()) as { enabled: boolean }).enabled, false);
      await refused(await call(gateway, `${path}/test`, { as, method: "POST" }), 409);
      const json = { url: "https://user:password@hooks.example/", events: ["scan.end"] };
      await refused(await call(gateway, "/api/v1/webhooks", { as, json }), 422, ["password@"]);
      assert.equal((await call(gateway, path, { as, method: "DELETE" })).status, 204);
      await refused(await call(gateway, path, { as }), 404);
    },
  ),
  {
    name: "tells a receiver of a scan's end, signed, and again after 5 s when that failed",
    // A receiver on this machine, and a gateway that was started with WEBHOOK_ALLOW_PRIVATE=1.
    needs: ["control"],
    async run(gateway) {
      const tenant = await given(gateway.control, "control").createTenant("Told");
      const as = keyOf(tenant);
      let answers = 0;
      await using receiver = await startReceiver({
        answer: (response) => response.writeHead((answers += 1) === 1 ? 503 : 204).end(),
      });
      const { id, secret } = await createWebhook(gateway, receiver.url, tenant);
      const scan = await createScan(gateway, tenant);
      const path = `/api/v1/scans/${scan.id}`;
      const ended = await call(gateway, path, { as, method: "PATCH", json: { status: "cancelled" } });
      assert.equal(ended.status, 200, await ended.text());
      const [failed, taken] = await receiver.waitFor(2);
      assert.equal(failed?.headers["webhook-id"], taken?.headers["webhook-id"]);
      for (const { body, headers } of receiver.received) {
        const message = new Webhook(secret).verify(body, headers as Record<string, string>);
        assert.deepEqual(Object.keys(message as object), ["type", "timestamp", "data"]);
        assert.equal((message as { data: { scan_id: string } }).data.scan_id, scan.id);
      }
      await eventually(async () => {
        const listed = await call(gateway, `/api/v1/webhooks/${id}/deliveries?status=delivered`, { as });
        return ((await listed.json()) as { items: unknown[] }).items.length === 1;
      }, "the delivery is listed as delivered");
    },
  },
];
