import { afterAll, beforeAll } from "vitest";
import { createChannels, gatewayHarness, type GatewayWithChannels } from "../../broker_contract/broker_adapters.ts";
import { describeBroker } from "../../broker_contract/describe_broker.ts";
import { startTestGateway, type TestGateway } from "../../support/test_gateway.ts";

let server: TestGateway;
let gateway: GatewayWithChannels;

beforeAll(async () => {
  server = await startTestGateway({ EVENTSTREAM_HEARTBEAT_SECONDS: "1" });
  gateway = await createChannels(server.url, server.acme.apiKey);
});

afterAll(() => server.stop());

describeBroker("gateway", () => gatewayHarness(gateway)(), { hasNetwork: true });
