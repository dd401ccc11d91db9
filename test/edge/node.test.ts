import { afterAll, beforeAll, expect, test } from "vitest";
import { parseConfig } from "../../gateway/config.ts";
import { createLog } from "../../gateway/observability/log.ts";
import { nodeHttp } from "../../gateway/runtime/node_http.ts";
import { startGateway, type RunningGateway } from "../../gateway/runtime/start_gateway.ts";
import { createStaticFiles } from "../../gateway/runtime/static_files.ts";
import { nodeContract } from "../contract/contract.ts";
import type { GatewayUnderTest } from "../contract/harness.ts";
import { builtPackage } from "../support/command_line.ts";
import { startEdgeBackends, type EdgeBackends } from "../support/edge_backends.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";
import { describeGateway, smallBounds, toGatewayUnderTest } from "./gateway_under_test.ts";

let backends: EdgeBackends;
let gateway: RunningGateway;
let underTest: GatewayUnderTest;
const log: string[] = [];
const folder = await temporaryFolder();

beforeAll(async () => {
  backends = await startEdgeBackends();
  gateway = await startGateway({
    http: nodeHttp,
    config: parseConfig({ PORT: "0", ...smallBounds, ...backends.processEnvironment }),
    directory: folder.path,
    log: createLog({ level: "debug", write: (line) => log.push(line) }),
    webAssets: createStaticFiles(`${builtPackage}/web`),
  });
  underTest = await toGatewayUnderTest(backends, gateway.url);
});

afterAll(async () => {
  await gateway.stop({ drainMs: 0 });
  await backends.close();
  await folder[Symbol.asyncDispose]();
});

describeGateway("the gateway on Node", nodeContract, () => underTest);

test("S9: no secret reached the log", () => {
  const output = log.join("");
  expect(output).toContain("event-stream");
  for (const secret of backends.secrets()) expect(output).not.toContain(secret);
});
