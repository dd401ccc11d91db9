import { createServer, type ServerResponse } from "node:http";
import { afterAll, beforeEach, expect, test } from "vitest";
import { createSignIn } from "../../../gateway/auth/sign_in.ts";
import { listen } from "../../support/listen.ts";

/** Discovery at an issuer that may be anything. */
let respond: (response: ServerResponse) => void;
let requested: string[];
let nowMs: number;
let warnings: unknown[];

const server = createServer((request, response) => {
  requested.push(request.url ?? "");
  respond(response);
});
const { url, close } = await listen(server);
afterAll(close);
const issuer = `${url}/tenant`;
beforeEach(() => {
  requested = [];
  nowMs = 0;
  warnings = [];
  respond = (response) => void response.end(JSON.stringify(document()));
});

function document(changed: object = {}): Readonly<Record<string, unknown>> {
  return {
    issuer,
    authorization_endpoint: "https://login.issuer.test/authorize",
    token_endpoint: "https://api.issuer.test/token",
    end_session_endpoint: "https://login.issuer.test/logout",
    authorization_response_iss_parameter_supported: true,
    ...changed,
  };
}

function createReader(address = issuer) {
  const config = { issuer: address, clientId: "page", scopes: "openid", audience: "a", tenantClaim: "tenant_id" };
  return createSignIn(config, { warn: ({ error }) => void warnings.push(error) }, () => nowMs);
}

test("reads the endpoints where OpenID Connect has them, once in ten minutes", async () => {
  const signIn = createReader();
  const { issuer: _issuer, ...expected } = document();
  expect(await signIn.endpoints()).toEqual(expected);
  nowMs = 599_999;
  expect(await signIn.endpoints()).toEqual(expected);
  expect(requested).toEqual(["/tenant/.well-known/openid-configuration"]);
  nowMs = 600_000;
  respond = (response) => void response.end(JSON.stringify(document({ end_session_endpoint: undefined })));
  expect((await signIn.endpoints())?.end_session_endpoint).toBeNull();
});

test("an issuer that is away at first is asked again after a second", async () => {
  const signIn = createReader();
  respond = (response) => void response.destroy();
  expect(await signIn.endpoints()).toBeNull();
  nowMs = 999;
  expect(await signIn.endpoints()).toBeNull();
  expect(requested).toHaveLength(1);
  respond = (response) => void response.end(JSON.stringify(document()));
  nowMs = 1000;
  expect(await signIn.endpoints()).not.toBeNull();
});

const stating = (changed: object) => (response: ServerResponse) => response.end(JSON.stringify(document(changed)));

test.each<readonly [string, (response: ServerResponse) => void]>([
  ["names another issuer", stating({ issuer: "https://evil.test" })],
  ["redirects", (r) => r.writeHead(302, { location: "https://evil.test/" }).end()],
  ["has its token endpoint without TLS", stating({ token_endpoint: "http://a.test/" })],
  ["has a script for an endpoint", stating({ authorization_endpoint: "javascript:1" })],
  ["breaks out of a policy", stating({ token_endpoint: "https://a.test; script-src *" })],
  ["is no JSON", (r) => r.end("<html>")],
  ["is too long", stating({ more: "x".repeat(300_000) })],
  ["is an error", (r) => r.writeHead(500).end(JSON.stringify(document()))],
])("nobody is sent to an issuer whose document %s", async (_what, answer) => {
  respond = answer;
  expect(await createReader().endpoints()).toBeNull();
  expect(warnings, "the log says why").toEqual([expect.any(Error)]);
});
