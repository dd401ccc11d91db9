import { neonConfig } from "@neondatabase/serverless";
import { createNeonHttpDatabase } from "../../drizzle/databases/neon_http.ts";
import { startNeonProxy } from "../support/neon_proxy.ts";
import { describeOutages, type Front } from "./outage_suite.ts";

describeOutages("Neon's HTTP", { connect: createNeonHttpDatabase, startFront });

async function startFront(postgresPort: number, breakablePort: () => number): Promise<Front> {
  const proxy = await startNeonProxy({ host: "127.0.0.1", port: postgresPort });
  neonConfig.fetchEndpoint = () => `http://127.0.0.1:${breakablePort()}/sql`;
  return proxy;
}
