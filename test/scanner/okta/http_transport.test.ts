import type { Duplex } from "node:stream";
import net, { createServer as createTcpServer, connect as connectTcp, type Server } from "node:net";
import { createServer } from "node:http";
import { gzipSync } from "node:zlib";
import { expect, onTestFinished, test, vi } from "vitest";
import { NetworkError, unreachableError } from "../../../scanner/okta/network_error.ts";
import {
  ForbiddenRequest,
  createHttpTransport,
  type HttpTransportOptions,
  type HttpRequest,
} from "../../../scanner/okta/http_transport.ts";
import { rejectionOf } from "../../support/errors.ts";
import { listen } from "../../support/listen.ts";
import { freePort } from "../../support/free_port.ts";
import { setUpIdp, type IdpSetUp } from "../../support/idp_connection.ts";
import type { ScriptedIdp } from "../../support/scripted_idp.ts";

const never = new AbortController().signal;
test.each([
  ["GET", "https://evil.example/api/v1/apps"],
  ["GET", "//evil.example/api/v1/apps"],
  ["GET", "/\\evil.example/api/v1/apps"],
  ["GET", "\\\\evil.example/api/v1/apps"],
  ["GET", "/api/v1/policies/../../../login/signout"],
  ["GET", "/api/v1/policies/%2e%2e/%2e%2e/%2e%2e/login/signout"],
  ["GET", "/api/v2/apps"],
  ["GET", "/api/v1/apps#fragment"],
  ["GET", "/oauth2/v1/token"],
  ["POST", "/oauth2/v1/token?x=1"],
  ["POST", "/oauth2/v1/revoke"],
  ["POST", "/api/v1/apps"],
  ["DELETE", "/api/v1/apps/1"],
])("refuses %s %s, and sends nothing", async (method, path) => {
  const idp = await scripted();
  const request = { method: method as "GET", path, headers: {} };
  await expect(open(idp.url).send(request, never)).rejects.toBeInstanceOf(ForbiddenRequest);
  expect(idp.requests).toHaveLength(0);
});

test("returns a redirect and does not follow it", async () => {
  const other = await scripted();
  const idp = await scripted();
  idp.on("GET", "/api/v1/apps", { status: 302, headers: { location: `${other.url}/api/v1/apps` } });
  idp.on("POST", "/oauth2/v1/token", { status: 307, headers: { location: `${other.url}/oauth2/v1/token` } });
  const http = open(idp.url);
  expect((await http.send(get("/api/v1/apps"), never)).status).toBe(302);
  const form = new URLSearchParams({ client_assertion: "secret" });
  expect((await http.send({ method: "POST", path: "/oauth2/v1/token", headers: {}, form }, never)).status).toBe(307);
  expect(other.requests).toHaveLength(0);
});

test("bounds the decompressed size and an endless body", async () => {
  const server = createServer((request, response) => {
    if (request.url === "/api/v1/bomb") {
      response.setHeader("content-encoding", "gzip");
      response.end(gzipSync(Buffer.alloc(50_000)));
      return;
    }
    const pour = () => {
      while (response.write(Buffer.alloc(16_384, 0x20)) && !response.destroyed);
    };
    response.on("drain", pour);
    pour();
  });
  const http = open(await listening(server), { maxBodyBytes: 40_000 });
  await expect(http.send(get("/api/v1/bomb"), never)).rejects.toMatchObject({ kind: "too_large" });
  await expect(http.send(get("/api/v1/endless"), never)).rejects.toMatchObject({ kind: "too_large" });
});

test("the timeout covers headers and body", async () => {
  const server = createServer((request, response) => {
    if (request.url === "/api/v1/half") response.write("[");
  });
  const http = open(await listening(server), { timeoutMs: 60 });
  await expect(http.send(get("/api/v1/none"), never)).rejects.toMatchObject({ kind: "timeout" });
  await expect(http.send(get("/api/v1/half"), never)).rejects.toMatchObject({ kind: "timeout" });
});

test("distinguishes refused, reset, cut off and unknown hosts", async () => {
  const idp = await scripted();
  idp.on("GET", "/api/v1/reset", { fault: "reset" });
  idp.on("GET", "/api/v1/cut", { fault: "cut", body: [{ id: "a" }, { id: "b" }] });
  idp.on("GET", "/api/v1/packed", { body: "not packed at all", headers: { "content-encoding": "br" } });
  const http = open(idp.url);
  await expect(http.send(get("/api/v1/reset"), never)).rejects.toMatchObject({ kind: "reset" });
  await expect(http.send(get("/api/v1/cut"), never)).rejects.toMatchObject({ kind: "reset" });
  await expect(http.send(get("/api/v1/packed"), never)).rejects.toThrow("decompressed");
  expect(await failure(`http://127.0.0.1:${await freePort()}`)).toMatchObject({ kind: "refused" });
  expect((await failure("https://no-such-host.invalid")).kind).toMatch(/dns|network/);
});

test("waits longer for an address than a satellite link takes", async () => {
  const connecting = vi.spyOn(net, "connect");
  onTestFinished(() => connecting.mockRestore());
  await failure(`http://127.0.0.1:${await freePort()}`);
  expect(connecting.mock.lastCall?.[0]).toMatchObject({ autoSelectFamilyAttemptTimeout: 2500 });
});

test("recognizes servers without HTTP and without TLS", async () => {
  const tcp = createTcpServer((socket) => socket.resume().end("SSH-2.0-OpenSSH\r\n"));
  expect(await failure(await listening(tcp))).toMatchObject({ kind: "not_http" });
  const plain = await scripted();
  const error = await failure(plain.url.replace("http:", "https:"));
  expect(error).toMatchObject({ kind: "tls_failed" });
  expect(unreachableError(error, plain.url).code).toBe("tls_failed");
});

test("a self-signed certificate is refused, and the remedy names NODE_EXTRA_CA_CERTS", async () => {
  const idp = await scripted({ tls: true });
  const error = await failure(idp.url);
  expect(error).toMatchObject({ kind: "tls_untrusted" });
  expect(unreachableError(error, idp.url)).toMatchObject({
    code: "tls_failed",
    remedy: expect.stringContaining("NODE_EXTRA_CA_CERTS") as string,
  });
  expect(idp.requests).toHaveLength(0);
});

test("uses HTTPS_PROXY by CONNECT, except for the hosts of NO_PROXY", async () => {
  const idp = await scripted({ tls: true });
  const { url: httpsProxy, targets } = await proxy(Number(new URL(idp.url).port));
  // That the tunnel was used shows in the self-signed certificate at its end.
  expect((await failure("https://acme.okta.test", { proxy: { httpsProxy, noProxy: "" } })).kind).toBe("tls_untrusted");
  expect(targets).toEqual(["acme.okta.test:443"]);
  const direct = await failure("https://acme.okta.test", { proxy: { httpsProxy, noProxy: ".okta.test" } });
  expect(direct).toMatchObject({ kind: expect.stringMatching(/dns|network/) as string });
  expect(targets).toHaveLength(1);
});

test("an http:// organization, which is on this machine, never goes through a proxy", async () => {
  const idp = await scripted();
  idp.on("GET", "/api/v1/x", { body: {} });
  const { url: httpsProxy, targets } = await proxy(1);
  expect((await open(idp.url, { proxy: { httpsProxy, noProxy: "" } }).send(get("/api/v1/x"), never)).status).toBe(200);
  expect(targets).toEqual([]);
});

test("an error names a proxy that refuses, but not its password", async () => {
  const refusing = createServer();
  refusing.on("connect", (_, socket) => socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"));
  const address = new URL(await listening(refusing));
  address.username = "me";
  address.password = "hunter2";
  const error = await failure("https://acme.okta.test", { proxy: { httpsProxy: address.href, noProxy: "" } });
  const loginError = unreachableError(error, "https://acme.okta.test");
  expect(loginError.message).toContain(`the proxy ${address.host} of HTTPS_PROXY refused the connection with 407`);
  expect(loginError).toMatchObject({ code: "unreachable", remedy: expect.stringContaining("HTTPS_PROXY") as string });
  expect(`${loginError.message}${loginError.remedy}${String(error.stack)}`).not.toContain("hunter2");
});

test.each<[string, string, (socket: Duplex) => void]>([
  ["cannot be reached", "refused", () => undefined],
  ["closes the connection", "reset", (socket) => socket.end()],
  ["is silent", "timeout", () => undefined],
  ["leads to a web page", "tls_failed", (socket) => socket.end("HTTP/1.1 200 OK\r\n\r\n<html>")],
  ["cannot reach the organization", "network", (socket) => socket.end("HTTP/1.1 503 Unavailable\r\n\r\n")],
])("an error names a proxy that %s", async (_, kind, answer) => {
  const leading = createServer();
  leading.on("connect", (_request, socket) => {
    onTestFinished(() => void socket.destroy());
    answer(socket);
  });
  const httpsProxy = kind === "refused" ? `http://127.0.0.1:${await freePort()}` : await listening(leading);
  const error = await failure("https://acme.okta.test", { timeoutMs: 300, proxy: { httpsProxy, noProxy: "" } });
  expect(error.kind).toBe(kind);
  expect(error.message).toContain(`the proxy ${new URL(httpsProxy).host} of HTTPS_PROXY`);
  expect(unreachableError(error, "https://acme.okta.test").remedy).toMatch(
    error.isTransient ? /^Check HTTPS_PROXY/ : /^Check the scheme/,
  );
});

function get(path: string): HttpRequest {
  return { method: "GET", path, headers: {} };
}

function open(orgUrl: string, options: Partial<HttpTransportOptions> = {}) {
  const http = createHttpTransport({
    orgUrl,
    timeoutMs: 5000,
    maxBodyBytes: 100_000,
    proxy: { httpsProxy: null, noProxy: "" },
    ...options,
  });
  onTestFinished(() => http.close());
  return http;
}

function failure(orgUrl: string, options: Partial<HttpTransportOptions> = {}): Promise<NetworkError> {
  return rejectionOf(NetworkError, open(orgUrl, options).send(get("/api/v1/x"), never));
}

async function scripted(options: IdpSetUp = {}): Promise<ScriptedIdp> {
  return (await setUpIdp(options)).idp;
}

/** A CONNECT proxy that leads every tunnel to one local port. */
async function proxy(port: number): Promise<{ readonly url: string; readonly targets: readonly string[] }> {
  const targets: string[] = [];
  const server = createServer();
  server.on("connect", (request, socket) => {
    targets.push(request.url ?? "");
    const upstream = connectTcp(port, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      socket.pipe(upstream).pipe(socket);
    });
    upstream.on("error", () => socket.destroy());
    socket.on("error", () => upstream.destroy());
  });
  return { url: await listening(server), targets };
}

async function listening(server: Server): Promise<string> {
  const { url, close } = await listen(server);
  onTestFinished(close);
  return url;
}
