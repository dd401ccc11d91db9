import { once } from "node:events";
import { createServer } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { parseConfig } from "../../../gateway/config.ts";
import { UsageError } from "../../../shared/usage_error.ts";
import { silentLog } from "../../../gateway/observability/log.ts";
import { nodeHttp } from "../../../gateway/runtime/node_http.ts";
import { startGateway } from "../../../gateway/runtime/start_gateway.ts";
import { createStaticFiles } from "../../../gateway/runtime/static_files.ts";
import { listen } from "../../support/listen.ts";
import { temporaryFolder } from "../../support/temporary_folder.ts";
import { createScan, openSharedDatabase, readStream, startTestGateway } from "../../support/test_gateway.ts";

const shared = await openSharedDatabase();
const folder = await temporaryFolder();
afterAll(async () => {
  await shared.close();
  await folder[Symbol.asyncDispose]();
});

test("stop cuts off a client that sends half a request", async () => {
  const gateway = await startTestGateway({}, { database: shared.database });
  const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1");
  const closed = once(socket, "close");
  socket.on("error", () => {});
  const head = `POST /api/v1/scans HTTP/1.1\r\nhost: x\r\nauthorization: Api-Key ${gateway.acme.apiKey}\r\n`;
  socket.write(`${head}content-length: 9\r\n\r\n{`);
  await gateway.request("/healthz");
  await gateway.gateway.stop({ drainMs: 0 });
  await closed;
  await gateway.stop();
});

test("from the announced drain on an answer closes its connection, and a stream goes on", async () => {
  const gateway = await startTestGateway({}, { database: shared.database });
  const connections = async () => (await gateway.request("/api/v1/scans")).headers.get("connection");
  expect(await connections()).not.toBe("close");
  gateway.gateway.parts.announceDrain();
  expect(await connections()).toBe("close");
  const as = `Api-Key ${gateway.acme.apiKey}`;
  const stream = await gateway.request("/api/v1/event-stream", { as });
  await createScan(gateway, gateway.acme);
  expect(await readStream(stream, "scan.created")).toContain(": open");
  await gateway.stop();
});

test("a port that another program or another gateway has is one clear error", async () => {
  const other = await listen(createServer());
  const gateway = await startTestGateway({}, { database: shared.database });
  const ports = [String(other.port), new URL(gateway.url).port];
  for (const environment of ports.flatMap((port) => [{ PORT: port }, { PORT: "0", METRICS_PORT: port }])) {
    const config = parseConfig(environment);
    const options = { http: nodeHttp, config, directory: folder.path, log: silentLog, database: shared.database };
    const refused = startGateway(options);
    await expect(refused).rejects.toThrow(UsageError);
    await expect(refused).rejects.toThrow(/PORT: expected a free port: another program listens on 127\.0\.0\.1:\d+/);
  }
  await gateway.stop();
  await other.close();
});

test("static files never lead out of their folder", async () => {
  const files = createStaticFiles(join(import.meta.dirname, "../../.."));
  expect(await files.read("package.json")).toBeInstanceOf(Uint8Array);
  for (const path of [
    "../package.json",
    "/etc/passwd",
    "test/../package.json",
    ".oxlintrc.json",
    "test",
    "none.json",
    "LICENSE",
    "a\\..\\b.json",
    "package.json\0.js",
    "",
  ]) {
    expect(await files.read(path)).toBeNull();
  }
});
