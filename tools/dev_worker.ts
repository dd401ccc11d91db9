import { once } from "node:events";
import { startEdgeBackends } from "../test/support/edge_backends.ts";
import { startWranglerDev } from "../test/support/server_process.ts";

// `npm run dev:worker`: PostgreSQL with the tables, Neon's HTTP and Upstash's REST before real servers, a tenant with a
// user and a key, and `wrangler dev` over them. Nothing of it stays when it ends.
const closeGraceMs = 5000;
const stopping = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stopping.abort());

const opened: (() => Promise<unknown>)[] = [];
try {
  console.log("Starting PostgreSQL, Redis and what Neon and Upstash put before them");
  const backends = await startEdgeBackends();
  opened.push(() => backends.close());
  const tenant = await backends.createTenant("Demo");
  const token = await backends.sign({ tenant_id: tenant.id, sub: tenant.sub }, 24 * 3600);
  console.log("Starting wrangler dev");
  const port = Number(process.env["PORT"] ?? 8787);
  const worker = await startWranglerDev({ environment: backends.workerEnvironment, port });
  opened.push(() => worker.stop());
  process.stdout.write(worker.output.stdout);
  worker.process.stdout?.pipe(process.stdout);
  worker.process.stderr?.pipe(process.stderr);
  console.log(`
The live page    ${worker.url}/
Tenant           ${tenant.id}
User token       ${token}
API key          ${tenant.apiKey}

To see a scan on the page, run \`npm run -s scanstream -- practice-org\` elsewhere, and with the three variables that it prints:

  SCANSTREAM_URL=${worker.url} SCANSTREAM_API_KEY=${tenant.apiKey} npm run -s scanstream -- scan

Stop with Ctrl+C.`);
  if (!stopping.signal.aborted) await Promise.race([worker.finished, once(stopping.signal, "abort")]);
} catch (error) {
  if (!stopping.signal.aborted) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
} finally {
  // Ctrl+C has reached every process of the terminal: what has ended already cannot be closed in good order.
  const closed = (async () => {
    for (const close of opened.toReversed()) await close().catch(() => undefined);
  })();
  await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, closeGraceMs))]);
}
process.exit();
