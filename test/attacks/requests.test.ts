import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { watchDatabase } from "../support/watched_database.ts";
import { requestText, sendRaw } from "../support/raw_http_client.ts";
import {
  createScan,
  openSharedDatabase,
  readStream,
  startTestGateway,
  type TestGateway,
  type TestScan,
} from "../support/test_gateway.ts";
import { numbered } from "../support/published.ts";

/** Trials of strangers on the gateway's own port. Forged tokens are in gateway/jwt.test.ts. */

let shared: Awaited<ReturnType<typeof openSharedDatabase>>;
let gateway: TestGateway;
let scan: TestScan;
/** Lookups of API keys; the gateway's own tasks ask for other things meanwhile. */
let lookups = 0;
const maxStreamsOfTenant = 5;

beforeAll(async () => {
  shared = await openSharedDatabase();
  const database = watchDatabase(shared.database, async (run, { queries }) => {
    const answer = run();
    await answer.catch(() => undefined);
    if (queries.some(({ sql }) => sql.includes("find_api_key"))) lookups += 1;
    return answer;
  });
  gateway = await startTestGateway(
    { EVENTSTREAM_MAX_STREAMS_PER_TENANT: String(maxStreamsOfTenant), CORS_ORIGINS: "https://app.test" },
    { database },
  );
  scan = await createScan(gateway, gateway.acme);
});
afterAll(async () => {
  await gateway.stop();
  await shared.close();
});

const key = () => `Api-Key ${gateway.acme.apiKey}`;
const port = () => Number(new URL(gateway.url).port);

describe("guessing API keys", () => {
  test("a guess that is no key is refused before the database is asked", async () => {
    const before = lookups;
    for (const guess of ["x", "scs_", gateway.acme.apiKey.slice(0, -1), `${gateway.acme.apiKey}0`, "scs_%_%", "'--"]) {
      expect((await gateway.request("/api/v1/scans", { as: `Api-Key ${guess}` })).status).toBe(401);
    }
    expect(lookups).toBe(before);
  });
});

describe("caches between us and clients", () => {
  test("the location of a new scan follows the request's path, not a Host or forwarded header", async () => {
    const created = await sendRaw({
      port: port(),
      method: "POST",
      path: "/api/v1/scans",
      headers: { host: "evil.test", "x-forwarded-host": "evil.test", authorization: key(), "content-length": "0" },
    });
    await created.until(() => created.raw().includes("\r\n\r\n") && created.body().length > 0);
    expect(created.status()).toBe(201);
    expect(created.raw()).not.toContain("evil.test");
    created.socket.destroy();
  });
});

describe("header injection", () => {
  test("two requests in one, separated by two lengths, are refused", async () => {
    for (const lines of [
      "content-length: 5\r\ntransfer-encoding: chunked\r\n",
      "content-length: 5\r\ncontent-length: 6\r\n",
      "transfer-encoding: chunked, identity\r\n",
      "transfer-encoding : chunked\r\n",
    ]) {
      const smuggled = "0\r\n\r\nGET /api/v1/scans HTTP/1.1\r\nhost: x\r\n\r\n";
      const answers = await exchange(
        `POST /api/v1/scans HTTP/1.1\r\nhost: x\r\nauthorization: ${key()}\r\n${lines}\r\n${smuggled}`,
      );
      expect(answers, lines).toMatch(/^HTTP\/1\.1 400 /);
      expect(answers.match(/HTTP\/1\.1 /g), lines).toHaveLength(1);
    }
  });
});

/** Everything that comes back for these bytes until the server closes. */
async function exchange(bytes: string): Promise<string> {
  const socket = connect(port(), "127.0.0.1");
  let received = "";
  socket.on("data", (chunk: Buffer) => void (received += chunk.toString("latin1")));
  socket.on("error", () => undefined);
  socket.write(bytes);
  await once(socket, "close");
  return received;
}

describe("too much", () => {
  test("a head of 16 KiB is answered, a larger one is 431", async () => {
    const head = (size: number) => {
      const text = requestText({ port: port(), path: "/healthz", headers: { connection: "close", "x-fill": "" } });
      return text.replace("x-fill: ", `x-fill: ${"x".repeat(size - text.length)}`);
    };
    expect(await exchange(head(15_000))).toMatch(/^HTTP\/1\.1 200 /);
    expect(await exchange(head(17_000))).toMatch(/^HTTP\/1\.1 431 /);
    expect(await exchange(`GET /${"x".repeat(20_000)} HTTP/1.1\r\n`)).toMatch(/^HTTP\/1\.1 (?:414|431) /);
  });

  test("JSON a hundred thousand levels deep is refused without harm to other requests", async () => {
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    const routes = ["/api/v1/scans", "/api/v1/stream-tokens", `/api/v1/channels/${scan.channel}/events`];
    for (const path of routes) {
      for (const body of [deep, `{"type":"scan.delta","data":{"a":${deep}}}`]) {
        const { status } = await gateway.request(path, {
          method: "POST",
          as: key(),
          body,
          headers: { "content-type": "application/json" },
        });
        expect([413, 422], path).toContain(status);
      }
    }
    expect((await gateway.request("/healthz")).status).toBe(200);
  });
});

test("a tenant that opens all the streams it may, and asks for more without end, starves no other", async () => {
  const streams = await Promise.all(
    Array.from({ length: maxStreamsOfTenant }, () => gateway.request(scan.event_stream, { as: key() })),
  );
  expect(streams.map(({ status }) => status)).toEqual(streams.map(() => 200));
  const storm = Promise.all(Array.from({ length: 100 }, () => gateway.request(scan.event_stream, { as: key() })));
  const other = await createScan(gateway, gateway.globex);
  const as = `Api-Key ${gateway.globex.apiKey}`;
  const stream = await gateway.request(other.event_stream, { as });
  expect(stream.status).toBe(200);
  for (const refused of await storm) {
    expect(refused.status).toBe(429);
    expect(refused.headers.get("retry-after")).toMatch(/^\d+$/);
    await refused.body?.cancel();
  }
  const heard = readStream(stream, "scan.start");
  await gateway.request(`/api/v1/channels/${other.channel}/events`, {
    as,
    json: numbered([{ type: "scan.start", data: { scan_id: other.id, checks_total: 1 } }]),
  });
  expect(await heard).toContain("event: scan.start");
  for (const { body } of streams) await body?.cancel();
});
