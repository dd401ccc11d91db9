import { neonConfig } from "@neondatabase/serverless";
import { createNeonHttpDatabase } from "../../drizzle/databases/neon_http.ts";
import { createNeonWebsocketDatabase } from "../../drizzle/databases/neon_websocket.ts";
import { startNeonProxy } from "../support/neon_proxy.ts";
import { describeOutages, type Front } from "./outage_suite.ts";

describeOutages("Neon's HTTP", { connect: createNeonHttpDatabase, startFront });
describeOutages("Neon's WebSocket", { connect: createNeonWebsocketDatabase, startFront });

async function startFront(postgresPort: number, breakablePort: () => number): Promise<Front> {
  const proxy = await startNeonProxy({ host: "127.0.0.1", port: postgresPort });
  neonConfig.fetchEndpoint = () => `http://127.0.0.1:${breakablePort()}/sql`;
  neonConfig.wsProxy = () => `127.0.0.1:${breakablePort()}/v2`;
  neonConfig.useSecureWebSocket = false;
  neonConfig.pipelineConnect = false;
  return proxy;
}
