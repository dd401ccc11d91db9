import { expect, test } from "vitest";
import { startCommand, temporaryFolder, type Running } from "../../support/command_line.ts";

let apiKey: string;

async function startServe(folder: string): Promise<{ readonly serve: Running; readonly url: string }> {
  const env = { PORT: "0", DRAIN_DELAY_SECONDS: "15" };
  const serve = startCommand(["serve"], { cwd: folder, env });
  const [url] = await serve.until("stdout", /http:\/\/127\.0\.0\.1:\d+/);
  [apiKey] = await serve.until("stdout", /scs_\w+/);
  return { serve, url };
}

/** On a connection of its own, as a load balancer's health check may be. */
function send(url: string, path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { authorization: `Api-Key ${apiKey}`, "content-type": "application/json", connection: "close" };
  return fetch(`${url}${path}`, { ...init, headers });
}

async function openStream(url: string): Promise<Response> {
  const registered = await send(url, "/api/v1/scans", { method: "POST", body: "{}" });
  expect(registered.status).toBe(201);
  const { event_stream: path } = (await registered.json()) as { event_stream: string };
  const stream = await send(url, path);
  expect(stream.status).toBe(200);
  return stream;
}

const isReady = async (url: string) => (await send(url, "/readyz")).status;

test("SIGTERM makes the gateway not ready for the delay, then closes the port and the streams", async () => {
  await using folder = await temporaryFolder();
  const { serve, url } = await startServe(folder.path);
  const early = await openStream(url);
  serve.process.kill("SIGTERM");
  await serve.until("stderr", /"draining"/);
  const notReady = await send(url, "/readyz");
  expect(notReady.status).toBe(503);
  expect(await notReady.json()).toMatchObject({ checks: { database: "ok", broker: "ok", draining: true } });
  expect((await send(url, "/healthz")).status).toBe(200);
  const late = await openStream(url);
  expect(await isReady(url)).toBe(503);

  await expect.poll(() => isReady(url).catch(() => "refused"), { timeout: 60_000 }).toBe("refused");
  for (const stream of [early, late]) expect(await stream.text()).toMatch(/retry: \d{4}\n: close drain\n $/);
  expect((await serve.finished).code).toBe(0);
});
