import { afterAll, beforeAll } from "vitest";
import { gatewayAppHarness } from "../../conformance/broker_adapters.ts";
import { describeBroker } from "../../conformance/describe_broker.ts";
import { startTestGateway, type TestGateway } from "../../support/test_gateway.ts";

// The whole gateway, with its hub, database and key check.
let server: TestGateway;
const channels: string[] = [];

beforeAll(async () => {
  server = await startTestGateway({ EVENTSTREAM_HEARTBEAT_SECONDS: "1" });
  for (let count = 0; count < 120; count += 1) {
    const response = await server.request("/api/v1/scans", {
      method: "POST",
      as: `Api-Key ${server.acme.apiKey}`,
      json: {},
    });
    channels.push(((await response.json()) as { readonly channel: string }).channel);
  }
});

afterAll(async () => {
  await server.stop();
});

describeBroker(
  "gateway (the whole application)",
  () =>
    gatewayAppHarness({
      url: server.url,
      apiKey: server.acme.apiKey,
      channels,
      streamCount: () => server.gateway.parts.streams.stats().streams,
    })(),
  { hasNetwork: true, isSequential: true },
);
