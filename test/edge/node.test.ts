import { afterAll } from "vitest";
import { nodeContract } from "../contract/contract.ts";
import { startNodeGateway } from "../support/server_process.ts";
import { describeGateway, startEdgeGateway, testLeaving } from "./edge_gateway.ts";

const gateway = await startEdgeGateway("Node");
afterAll(() => gateway.close());

describeGateway("the gateway on Node", nodeContract, gateway);

testLeaving(gateway, startNodeGateway, "its time has passed");
