import { after, test } from "node:test";
import { createGateway, serve } from "scanstream/gateway";
import { runContract } from "scanstream/gateway/contract";
import { memory } from "scanstream/gateway/memory";
import { openTestDatabase } from "scanstream/gateway/testing";
import { features, jobChannel } from "./features.ts";

const database = await openTestDatabase({ features });
const bounds = { heartbeatSeconds: 1, recheckSeconds: 2 };
const gateway = await createGateway({ features, database, broker: memory(), bounds });
const { url, stop } = await serve(gateway, { port: 0 });
const [acme, globex] = [await database.createTenant("Acme"), await database.createTenant("Globex")];
// Also after a promise that is not kept: the test ends only when the port is closed.
after(() => stop().then(() => database.close()));

runContract({
  gateway: {
    url,
    async createResource(apiKey) {
      const headers = { authorization: `Api-Key ${apiKey}` };
      const response = await fetch(`${url}/api/v1/jobs`, { method: "POST", headers });
      const job = (await response.json()) as { readonly id: string; readonly tenantId: string };
      return { channel: jobChannel(job), path: `/api/v1/jobs/${job.id}/event-stream` };
    },
  },
  keys: { own: acme.apiKey, other: globex.apiKey },
  revoke: () => globex.revoke(),
  stop,
  test,
});
