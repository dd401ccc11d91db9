import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { neon, neonConfig } from "@neondatabase/serverless";
import { expect, onTestFinished, test } from "vitest";
import { createNeonHttpDatabase } from "../../drizzle/databases/neon_http.ts";
import { scans } from "../../drizzle/schema.ts";
import { findApiKey } from "../../drizzle/across_tenants.ts";
import { withTenant } from "../../drizzle/with_tenant.ts";
import { openOnNeon } from "./open_databases.ts";
import { describeQueries } from "./query_suite.ts";
import { randomHash, seedTenant } from "./seed.ts";

const open = () => openOnNeon((url, endpoint) => createNeonHttpDatabase(url, { endpoint }));

describeQueries("Neon's HTTP", open);

test("over Neon's HTTP a statement of a tenant is one request", async () => {
  const opened = await open();
  const { database, proxy } = opened;
  const acme = await seedTenant(database);
  const requests = proxy.watch();
  await withTenant(database, acme.id, (db) => db.select().from(scans));
  expect(requests).toHaveLength(1);
  await findApiKey(database, randomHash());
  expect(requests).toHaveLength(2);
  await opened.close();
});

test("a URL that is none is refused without being quoted", () => {
  for (const url of ["", "hunter2", "https://u:hunter2@host/db", "postgres://host/hunter2", "postgres:/hunter2"]) {
    const created = () => createNeonHttpDatabase(url);
    expect(created, url).toThrow(TypeError);
    expect(created, url).toThrow(/^(?!.*hunter2).*postgres:\/\/user:password@host\/database$/);
  }
});

test("what is sent is what Neon's own driver sends", async () => {
  const { endpoint, requests } = await recordRequests();
  const url = "postgres://owner:secret@ep-name-1.eu-central-1.aws.neon.tech/main?sslmode=require";
  const statements = [
    { sql: "select set_config('role', $1, true)", params: ["scanstream_app"] },
    { sql: "select $1, $2, $3, $4, $5", params: [null, 7, true, ['a"b', "c"], '{"k":[1]}'] },
  ];
  const database = createNeonHttpDatabase(url, { endpoint });
  expect(await database.transact(statements)).toEqual({ columns: ["n"], rows: [[8]] });
  neonConfig.fetchEndpoint = endpoint;
  const driver = neon(url, { arrayMode: true, fullResults: true });
  await driver.transaction(statements.map(({ sql, params }) => driver.query(sql, params)));

  const [ours, drivers] = requests;
  // The driver writes the connection string anew, with its name.
  const comparable = (request: typeof ours) =>
    JSON.parse(
      JSON.stringify(request)
        .replace(/&application_name=[^"]*/, "")
        .replace("postgresql://", "postgres://"),
    );
  expect(comparable(ours)).toEqual(comparable(drivers));
  expect(ours?.headers["neon-connection-string"]).toBe(url);
  expect(JSON.stringify(ours?.body)).toContain('"7","true"');
});

test("statements go to the host that Neon's driver finds in the URL", async () => {
  const asked: string[] = [];
  const realFetch = globalThis.fetch;
  onTestFinished(() => void (globalThis.fetch = realFetch));
  globalThis.fetch = async (to) => {
    asked.push(to instanceof Request ? to.url : String(to));
    return Response.json({ results: [] });
  };
  const url = "postgresql://u:p@ep-name-1-pooler.eu-central-1.aws.neon.tech/main";
  await createNeonHttpDatabase(url).transact([]);
  expect(asked).toEqual(["https://api.eu-central-1.aws.neon.tech/sql"]);
});

interface RecordedRequest {
  readonly method: string | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

async function recordRequests() {
  const requests: RecordedRequest[] = [];
  const server = createServer((request, response) => void answer(request, response));
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const headers = Object.fromEntries(Object.entries(request.headers).filter(([name]) => name.startsWith("neon-")));
    requests.push({ method: request.method, headers, body: await json(request) });
    const result = { fields: [{ name: "n", dataTypeID: 23 }], rows: [["8"]], command: "SELECT", rowCount: 1 };
    response.end(JSON.stringify({ results: [result, result] }));
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { endpoint: `http://127.0.0.1:${port}/sql`, requests };
}
