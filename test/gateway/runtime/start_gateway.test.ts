import { once } from "node:events";
import { createServer } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, expect, test } from "vitest";
import { parseConfig } from "../../../gateway/config.ts";
import { UsageError } from "../../../shared/usage_error.ts";
import { silentLog } from "../../../gateway/observability/log.ts";
import { nodeHttp } from "../../../gateway/runtime/node_http.ts";
import { startGateway } from "../../../gateway/runtime/start_gateway.ts";
import { createStaticFiles } from "../../../gateway/runtime/static_files.ts";
import { listen } from "../../support/listen.ts";
import { temporaryFolder } from "../../support/temporary_folder.ts";
import { openSharedDatabase, startTestGateway } from "../../support/test_gateway.ts";

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

test("a proxy's request on a connection that it keeps is answered after the port has closed", async () => {
  const gateway = await startTestGateway({}, { database: shared.database });
  const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1");
  const answers = text(socket);
  socket.write("GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n");
  await once(socket, "readable");
  const stopped = gateway.gateway.stop({ drainMs: 9000 });
  await expect.poll(() => gateway.request("/healthz").catch(() => null)).toBeNull();
  socket.write("GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n");
  const heads = (await answers).match(/HTTP\/1\.1 \d+|connection: .*/gi);
  expect(heads).toEqual(["HTTP/1.1 200", "Connection: keep-alive", "HTTP/1.1 200", "Connection: close"]);
  await stopped;
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
  const outside = ["../package.json", "/etc/passwd", "test/../package.json", "a\\..\\b.json", "package.json\0.js"];
  const unknown = [".oxlintrc.json", "test", "none.json", "LICENSE", ""];
  for (const path of [...outside, ...unknown]) expect(await files.read(path)).toBeNull();
});
