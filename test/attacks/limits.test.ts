import { randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { RequestAccount } from "../../gateway/limits.ts";
import { aReport, reportUpload } from "../support/report_builders.ts";
import { watchDatabase } from "../support/watched_database.ts";
import { createScan, openTestDatabase, openTestGateway, type TestGateway } from "../support/test_gateway.ts";

/** One tenant takes all that it may of a gateway; another one finds its own. */

/** Whose turns the lookups of keys took. */
const holders = new Set<string | undefined>();
const mebibyte = 1_048_576;

const database = watchDatabase(await openTestDatabase(), async (run, { settings: { holder }, queries }) => {
  try {
    return await run();
  } finally {
    if (queries.some(({ sql }) => sql.includes("find_api_key"))) holders.add(holder);
  }
});
const gateway = await openTestGateway({}, { database });

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

test("bodies that never end hold the tenant's quarter, and nobody else's", async () => {
  const { channel } = await createScan(gateway, gateway.acme);
  const { channel: other } = await createScan(gateway, gateway.globex);
  const head = `POST /api/v1/channels/${channel}/events HTTP/1.1\r\nhost: gateway\r\nauthorization: ${attacker()}\r\ncontent-type: application/json\r\ncontent-length: ${mebibyte}\r\n\r\n{`;
  const sockets = await Promise.all(Array.from({ length: 40 }, openSocket));
  for (const socket of sockets) socket.write(head);
  const refused = () => sockets.filter(({ text }) => text.startsWith("HTTP/1.1 429"));
  // A quarter of 128 MiB are 32 of them.
  await expect.poll(() => refused().length).toBe(8);
  expect(refused()[0]?.text).toMatch(/\r\nretry-after: \d+\r\n/i);
  const store = async (to: string, as: string) =>
    (await gateway.request(`/api/v1/channels/${to}/events`, { as, json: { more: "x".repeat(mebibyte / 2) } })).status;
  // It is read, and refused for its field.
  expect(await store(other, victim())).toBe(422);
  expect(await store(channel, attacker())).toBe(429);
  for (const socket of sockets) socket.destroy();
  await expect.poll(() => store(channel, attacker())).toBe(422);
});

/** The path of a report that is larger than the sockets between the two take. */
async function storeReport(as: string, tenant: TestGateway["acme"]): Promise<string> {
  const { id } = await createScan(gateway, tenant);
  const path = `/api/v1/scans/${id}/report`;
  const upload = reportUpload(id, aReport([]));
  const body = Buffer.concat([upload.body, randomBytes(7.5 * mebibyte)]);
  expect((await gateway.request(path, { ...upload, body, as })).status).toBe(201);
  return path;
}

async function fillOverview(_as: string, { id }: TestGateway["acme"]): Promise<string> {
  await gateway.owner(
    `insert into runs (tenant_id, kind, org_url)
     select $1::uuid, 'scan', 'https://acme.okta.com/' || repeat('€', 2000) from generate_series(1, 1000)`,
    id,
  );
  return "/api/v1/overview";
}

test.each([
  // One of them holds 1 MiB, and one that the kernel's buffers took whole makes room for the next.
  ["reports", storeReport, 32],
  ["overviews", fillOverview, 8],
] as const)("%s that nobody reads hold the tenant's quarter, and nobody else's", async (_name, store, atLeast) => {
  const path = await store(attacker(), gateway.acme);
  const others = await store(victim(), gateway.globex);
  const sockets = await Promise.all(Array.from({ length: 80 }, openSocket));
  const begun = (status: string) => sockets.filter(({ text }) => text.startsWith(`HTTP/1.1 ${status}`)).length;
  // A few at a time: more would wait for their turns at the database, and a slow machine refuses them for that with 503.
  for (let sent = 0; sent < 80 && begun("429") === 0; sent += 4) {
    for (const socket of sockets.slice(sent, sent + 4)) {
      socket.write(
        `GET ${path} HTTP/1.1\r\nhost: gateway\r\nauthorization: ${attacker()}\r\naccept-encoding: gzip\r\n\r\n`,
      );
      socket.once("data", () => socket.pause());
    }
    await expect.poll(() => begun("200") + begun("429") + begun("503")).toBe(sent + 4);
  }
  expect(begun("200")).toBeGreaterThanOrEqual(atLeast);
  expect(begun("429")).toBeGreaterThan(0);
  expect((await gateway.request(others, { as: victim(), method: "HEAD" })).status).toBe(200);
  for (const socket of sockets) socket.destroy();
  await expect.poll(async () => (await gateway.request(path, { as: attacker(), method: "HEAD" })).status).toBe(200);
});

test("a removed member takes no place of the tenant's", async () => {
  const { id } = await createScan(gateway, gateway.acme);
  const as = `Bearer ${await gateway.sign({ tenant_id: gateway.acme.id, sub: "eve" })}`;
  const paths = ["/api/v1/scans", "/api/v1/organizations", "/api/v1/event-stream", `/api/v1/scans/${id}/event-stream`];
  const belongsTo = vi.spyOn(RequestAccount.prototype, "belongsTo");
  onTestFinished(() => belongsTo.mockRestore());
  for (const path of paths) expect((await gateway.request(path, { as })).status).toBe(403);
  expect(belongsTo).not.toHaveBeenCalled();
});

test("guesses of keys take turns as one address, the streams' as well", async () => {
  holders.clear();
  const guess = () => `Api-Key ${gateway.acme.apiKey.slice(0, -8)}${randomBytes(4).toString("hex")}`;
  const paths = ["/api/v1/scans", "/api/v1/scans/event-stream"].flatMap((path) =>
    Array.from({ length: 20 }, () => path),
  );
  const statuses = await Promise.all(paths.map(async (path) => (await gateway.request(path, { as: guess() })).status));
  expect(new Set(statuses)).toEqual(new Set([401]));
  expect([...holders]).toEqual(["127.0.0.1"]);
});
