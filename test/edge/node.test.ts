import { afterAll, expect, test } from "vitest";
import { nodeContract } from "../contract/contract.ts";
import { startNodeGateway } from "../support/server_process.ts";
import { describeGateway, startEdgeGateway, testLeaving } from "./edge_gateway.ts";

const gateway = await startEdgeGateway("Node");
afterAll(() => gateway.close());

describeGateway("the gateway on Node", nodeContract, () => gateway);

test("S9: no secret reached the log", () => {
  const output = gateway.output();
  expect(output).toContain("event-stream");
  for (const secret of gateway.backends.secrets) expect(output).not.toContain(secret);
});

testLeaving(() => gateway, startNodeGateway, "its time has passed");
