import { randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { Database } from "../../drizzle/database.ts";
import { boundsFor, Budget } from "../../gateway/http/budget.ts";
import { aCheckResult, aReport, reportUpload } from "../support/report_builders.ts";
import { watchDatabase } from "../support/watched_database.ts";
import { createScan, openTestDatabase, startTestGateway, type TestGateway } from "../support/test_gateway.ts";

/** One tenant takes all that it can get of what a gateway of 1 GiB has; another one finds its own. */

let gateway: TestGateway;
/** Transactions that run or wait, of the tenant that attacks. */
let underWay = 0;
let mostUnderWay = 0;
/** Whose turns the lookups of keys took. */
const holders = new Set<string | undefined>();
const mebibyte = 1_048_576;

beforeAll(async () => {
  const database = await openTestDatabase();
  gateway = await startTestGateway({}, { database: counted(database), budget: new Budget(boundsFor(1024 * mebibyte)) });
});
afterAll(() => gateway.stop());

function counted(database: Database): Database {
  return watchDatabase(database, async (run, { settings: { tenantId, holder }, queries }) => {
    const isAttacker = tenantId === gateway?.acme.id;
    if (isAttacker) underWay += 1;
    mostUnderWay = Math.max(mostUnderWay, underWay);
    try {
      return await run();
    } finally {
      if (isAttacker) underWay -= 1;
      if (queries.some(({ sql }) => sql.includes("find_api_key"))) holders.add(holder);
    }
  });
}

const attacker = () => `Api-Key ${gateway.acme.apiKey}`;
const victim = () => `Api-Key ${gateway.globex.apiKey}`;

async function openSocket(): Promise<Socket & { text: string }> {
  const { hostname, port } = new URL(gateway.url);
  const socket = Object.assign(connect({ host: hostname, port: Number(port) }), { text: "" });
  socket.on("data", (chunk: Buffer) => (socket.text += chunk.toString("latin1")));
  socket.on("error", () => undefined);
  onTestFinished(() => void socket.destroy());
  await new Promise((done) => socket.once("connect", done));
  return socket;
}

const statusesOf = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status);
const get = (path: string, more = "") =>
  `GET ${path} HTTP/1.1\r\nhost: gateway\r\nauthorization: ${attacker()}\r\n${more}\r\n`;

test("requests of one connection begin one after the other, and far too many end it", async () => {
  mostUnderWay = 0;
  const patient = await openSocket();
  patient.write(get("/api/v1/scans").repeat(15));
  await expect.poll(() => statusesOf(patient.text)).toEqual(Array.from({ length: 15 }, () => "200"));
  expect(mostUnderWay).toBe(1);
  const greedy = await openSocket();
  greedy.write(get("/api/v1/scans").repeat(400));
  await expect.poll(() => greedy.destroyed).toBe(true);
});

test("requests whose clients left while they waited are not answered, and hold no place", async () => {
  const begun = gateway.log.length;
  const sockets = await Promise.all(Array.from({ length: 400 }, openSocket));
  for (const socket of sockets) {
    socket.write(get("/api/v1/scans"));
    socket.destroy();
  }
  expect((await gateway.request("/api/v1/scans", { as: attacker() })).status).toBe(200);
  const answered = gateway.log.slice(begun).filter((line) => line.includes('"route":"/api/v1/scans"'));
  expect(answered.length).toBeLessThan(100);
});

test("bodies that never end hold the tenant's share of the memory, and nobody else's", async () => {
  const { id } = await createScan(gateway, gateway.acme);
  const { id: other } = await createScan(gateway, gateway.globex);
  const head = `POST /api/v1/scans/${id}/findings HTTP/1.1\r\nhost: gateway\r\nauthorization: ${attacker()}\r\ncontent-type: application/json\r\ncontent-length: ${8 * mebibyte}\r\n\r\n{`;
  const sockets: (Socket & { text: string })[] = [];
  for (let n = 0; n < 20; n += 1) {
    const socket = await openSocket();
    socket.write(head);
    sockets.push(socket);
  }
  const refused = () => sockets.filter(({ text }) => text.startsWith("HTTP/1.1 429"));
  // 80 % of 128 MiB are twelve of them.
  await expect.poll(() => refused().length).toBe(8);
  expect(refused()[0]?.text).toMatch(/\r\nretry-after: [1-4]\r\n/i);
  const store = (scan: string, as: string) =>
    gateway.request(`/api/v1/scans/${scan}/findings`, { as, json: { findings: [], more: "x".repeat(7 * mebibyte) } });
  // It is read, and refused for its field.
  expect((await store(other, victim())).status).toBe(422);
  expect((await store(id, attacker())).status).toBe(429);
  for (const socket of sockets) socket.destroy();
  await expect.poll(async () => (await store(id, attacker())).status).toBe(422);
});

test("reports that nobody reads hold the tenant's share of answers, and nobody else's", async () => {
  const stored = async (as: string, tenant: TestGateway["acme"]) => {
    const { id } = await createScan(gateway, tenant);
    const path = `/api/v1/scans/${id}/report`;
    // Decompressed it is more than the sockets between the two take.
    const upload = reportUpload(id, aReport([aCheckResult({ title: "x".repeat(32 * mebibyte) })]));
    expect((await gateway.request(path, { ...upload, as })).status).toBe(201);
    return path;
  };
  const path = await stored(attacker(), gateway.acme);
  const others = await stored(victim(), gateway.globex);
  const sockets = await Promise.all(Array.from({ length: 40 }, openSocket));
  for (const socket of sockets) {
    socket.write(get(path, "accept-encoding: identity\r\n"));
    socket.once("data", () => socket.pause());
  }
  const begun = (status: string) => sockets.filter(({ text }) => statusesOf(text)[0] === status).length;
  await expect.poll(() => begun("200") + begun("429")).toBe(40);
  // 80 % of 128 MiB are twenty-five of 4 MiB.
  expect(begun("429")).toBeGreaterThanOrEqual(15);
  const response = await gateway.request(others, { as: victim() });
  expect(response.status).toBe(200);
  expect((await response.text()).length).toBeGreaterThan(20 * mebibyte);
  for (const socket of sockets) socket.destroy();
  await expect.poll(async () => (await gateway.request(path, { as: attacker(), method: "GET" })).status).toBe(200);
});

test("guesses of keys take turns as one address, the streams' as well", async () => {
  holders.clear();
  const guess = () => `Api-Key ${gateway.acme.apiKey.slice(0, -8)}${randomBytes(4).toString("hex")}`;
  const paths = ["/api/v1/scans", "/api/v1/scans/event-stream"].flatMap((path) =>
    Array.from({ length: 20 }, () => path),
  );
  const statuses = await Promise.all(paths.map(async (path) => (await gateway.request(path, { as: guess() })).status));
  expect(new Set(statuses)).toEqual(new Set([401]));
  expect([...holders].filter((holder) => holder !== "")).toEqual(["address:127.0.0.1"]);
});

test("a body that was refused is not read to its end", async () => {
  const socket = await openSocket();
  socket.write(
    `POST /api/v1/scans HTTP/1.1\r\nhost: gateway\r\nauthorization: ${attacker()}\r\ncontent-length: ${512 * mebibyte}\r\n\r\n`,
  );
  await expect.poll(() => statusesOf(socket.text)).toEqual(["413"]);
  let taken = 0;
  const chunk = Buffer.alloc(mebibyte);
  const write = () => {
    taken += 1;
    if (taken < 512 && !socket.destroyed)
      socket.write(chunk, (error) => (error instanceof Error ? undefined : write()));
  };
  write();
  await expect.poll(() => socket.destroyed).toBe(true);
  expect(taken).toBeLessThan(64);
});
