import { createNeonHttpDatabase } from "../../drizzle/databases/neon_http.ts";
import { startNeonProxy } from "../support/neon_proxy.ts";
import { describeOutages } from "./outage_suite.ts";

describeOutages("Neon's HTTP", {
  connect: (url, options) =>
    createNeonHttpDatabase(url, { ...options, endpoint: `http://127.0.0.1:${new URL(url).port}/sql` }),
  startFront: (postgresPort) => startNeonProxy({ host: "127.0.0.1", port: postgresPort }),
});
