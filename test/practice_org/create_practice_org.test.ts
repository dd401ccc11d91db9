import { connect } from "node:net";
import { expect, test } from "vitest";
import { signedIn } from "./raw_client.ts";
import { startOrg } from "./start_org.ts";

const document = "/.well-known/okta-organization";

test("createPracticeOrg listens on loopback, on the port that it is given", async () => {
  const free = await startOrg();
  expect(free.url).toMatch(/^http:\/\/127\.0\.0\.1:[0-9]+$/);
  const port = Number(new URL(free.url).port);
  await free.stop();
  const again = await startOrg({ port });
  expect(again.url).toBe(free.url);
  expect((await fetch(`${again.url}${document}`)).status).toBe(200);
});

test("createPracticeOrg names a port that is taken", async () => {
  const port = Number(new URL((await startOrg()).url).port);
  await expect(startOrg({ port })).rejects.toThrow(
    `Cannot listen on 127.0.0.1:${port}: another program uses it; choose another port, or 0 for any free one`,
  );
});

test("createPracticeOrg leaves no server behind when the org cannot be made", async () => {
  let url = "";
  const options = {
    profile: (site: { readonly url: string }) => {
      url = site.url;
      throw new Error("no such org");
    },
  };
  await expect(startOrg(options)).rejects.toThrow("no such org");
  await expect(fetch(`${url}${document}`)).rejects.toThrow("fetch failed");
});

test("stop ends the org, open connections included, and may be called twice", async () => {
  const org = await startOrg();
  const { hostname, port } = new URL(org.url);
  const socket = connect(Number(port), hostname);
  const closed = new Promise((resolve) => socket.once("close", resolve));
  await new Promise((resolve) => socket.once("connect", resolve));
  // Half a request: a connection that waits for more.
  socket.write("GET /api/v1/zones HTTP/1.1\r\n");
  socket.on("error", () => undefined);
  await expect.poll(() => socket.bytesWritten).toBeGreaterThan(0);
  await org.stop();
  await closed;
  await org.stop();
  await expect(fetch(`${org.url}${document}`)).rejects.toThrow("fetch failed");
});

test("latencyMs delays every answer", async () => {
  const org = await startOrg({ latencyMs: 150 });
  const before = performance.now();
  await fetch(`${org.url}${document}`);
  expect(performance.now() - before).toBeGreaterThanOrEqual(149);
});

test("A request that is longer than any of this API is cut off", async () => {
  const org = await startOrg();
  const post = (bytes: number) =>
    fetch(`${org.url}/oauth2/v1/token`, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: "x".repeat(bytes),
    });
  expect((await post(1_048_576)).status).toBe(400);
  await expect(post(1_048_577)).rejects.toThrow("fetch failed");
});

test("A client that disconnects while it sends does no harm", async () => {
  const org = await startOrg();
  const { hostname, port } = new URL(org.url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  socket.write("POST /oauth2/v1/token HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf");
  await expect.poll(() => org.requests.length).toBe(1);
  socket.resetAndDestroy();
  expect((await fetch(`${org.url}${document}`)).status).toBe(200);
});

test("A restart ends the tokens of the org before", async () => {
  const before = await startOrg();
  const { token } = await signedIn(before);
  await before.stop();
  const after = await startOrg({ port: Number(new URL(before.url).port) });
  expect((await (await signedIn(after)).call(token, "/api/v1/zones")).status).toBe(401);
});

test("Two orgs are strangers: ids may be the same, tokens are not", async () => {
  const [one, two] = await Promise.all([startOrg(), startOrg()]);
  expect(one.clientId).toBe(two.clientId);
  const session = await signedIn(one);
  const there = await session.call(session.token, `${two.url}/api/v1/zones`);
  expect(there.status).toBe(401);
});
