import { createNeonDatabase, createNeonPoolDatabase } from "../../drizzle/databases/neon.ts";
import { startNeonProxy } from "../support/neon_proxy.ts";
import { describeOutages } from "./outage_suite.ts";

for (const [name, create] of [
  ["Neon, a connection a transaction", createNeonDatabase],
  ["Neon, with kept connections", createNeonPoolDatabase],
] as const) {
  describeOutages(name, {
    connect: (url, options) => create(url, { ...options, endpoint: `http://127.0.0.1:${new URL(url).port}/sql` }),
    startFront: (postgresPort) => startNeonProxy({ host: "127.0.0.1", port: postgresPort }),
  });
}
