import {
  array,
  assert,
  asyncProperty,
  constant,
  constantFrom,
  json,
  oneof,
  string,
  stringMatching,
  tuple,
  type Arbitrary,
} from "fast-check";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { createScan, openTestGateway } from "../support/test_gateway.ts";
import { anyText, fuzzed, mutated } from "./fuzzed.ts";
import { findingEvents } from "../support/published.ts";

/**
 * The whole gateway over sockets. Whatever is sent: never a 5xx, never a word of another tenant, never an answer that
 * somebody else's header line could have been put into.
 */

/** In what only Globex may read. */
const secretOfGlobex = "only-globex-may-read-this";

const gateway = await openTestGateway({ STREAM_TOKEN_SECRET: "stream-token-secret-of-32-bytes-!" });
const own = await createScan(gateway, gateway.acme);
const foreign = await createScan(gateway, gateway.globex, { client_id: secretOfGlobex });
const as = `Api-Key ${gateway.acme.apiKey}`;
const issued = await gateway.request("/api/v1/stream-tokens", { as, json: { scan_id: own.id } });
const { access_token: streamToken } = (await issued.json()) as { access_token: string };

interface Sent {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Sends bytes as they are, and holds the answer to what every answer promises. */
async function send({ method = "GET", path, headers = {}, body }: Sent): Promise<{ status: number; text: string }> {
  const { hostname, port } = new URL(gateway.url);
  const given = { host: "127.0.0.1", connection: "close", ...headers };
  const lines = Object.entries(body === undefined ? given : { ...given, "content-length": Buffer.byteLength(body) });
  const socket = connect(Number(port), hostname).setEncoding("latin1");
  socket.write(`${method} ${path} HTTP/1.1\r\n${lines.map((header) => `${header.join(": ")}\r\n`).join("")}\r\n`);
  if (body !== undefined) socket.write(body);
  let text = "";
  socket.on("data", (part: string) => {
    text += part;
    // A stream does not end.
    if (/\r\ncontent-type: text\/event-stream[^]*\r\n\r\n/i.test(text)) socket.destroy();
  });
  // A refused body may be cut off while it is being sent.
  socket.on("error", () => undefined);
  await new Promise((closed) => socket.once("close", closed));
  const [head = ""] = text.split("\r\n\r\n", 1);
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]);
  expect(status, text.slice(0, 400)).toBeLessThan(500);
  expect(text).not.toContain(secretOfGlobex);
  expect(text).not.toContain(gateway.globex.apiKey);
  expect(head).not.toMatch(/^x-injected:/im);
  if (status >= 400) expect(head).toMatch(/^content-type: application\/problem\+json$/im);
  return { status, text };
}

/** Anything but a line's end. */
const headerText = string({ unit: "binary-ascii" }).map((text) => text.replaceAll(/[\r\n]/g, " "));
/** Characters that HTTP forbids in a header's value never become a request. */
const isForbidden = (text: string) => /[^\t -~]/.test(text);
/** Text of a request line: no blank, no control character. */
const pathText = stringMatching(/^[!-~]{0,30}$/);

const good = (): Arbitrary<string> =>
  oneof(
    constant(`Api-Key ${gateway.acme.apiKey}`),
    constant(`Bearer ${gateway.acme.token}`),
    constant(`Bearer ${streamToken}`),
  );
const line = (text: Arbitrary<string>) => text.map((value) => value.replaceAll(/[^\t -~]/g, ""));

test("no Authorization header but a whole one opens anything", async () => {
  const value = oneof(
    line(mutated(good())),
    headerText,
    tuple(constantFrom("Bearer", "Api-Key", "bearer", "Basic", "DPoP"), headerText).map((parts) => parts.join(" ")),
    tuple(good(), good()).map(([one, other]) => `${one}, ${other}`),
  );
  await assert(
    asyncProperty(value, async (authorization) => {
      const [, credential = ""] = /^(?:bearer|api-key) +(\S+)$/i.exec(authorization.trim()) ?? [];
      const isWhole = credential === gateway.acme.apiKey || isSame(credential, gateway.acme.token);
      const { status } = await send({ path: `/api/v1/scans/${own.id}`, headers: { authorization } });
      if (!isWhole) expect(status, authorization).toBe(isForbidden(authorization) ? 400 : 401);
    }),
    fuzzed(80),
  );
});

/** The same bytes: the last letter of a base64url signature has bits that mean nothing (RFC 4648, 3.5). */
function isSame(given: string, whole: string): boolean {
  const [header, payload, signature = "", ...rest] = given.split(".");
  const expected = whole.split(".");
  if (header !== expected[0] || payload !== expected[1] || rest.length > 0 || !/^[\w-]+$/.test(signature)) return false;
  return Buffer.from(signature, "base64url").equals(Buffer.from(expected[2] ?? "", "base64url"));
}

test("no matter what path and query say, a tenant's credentials show nothing of another's", async () => {
  const ids = constantFrom(own.id, foreign.id, gateway.globex.id, foreign.channel, "..", "%2e%2e", "%00", "null", "");
  const segment = oneof(ids, constantFrom("api", "v1", "scans", "findings", "event-stream", "channels"), pathText);
  const path = oneof(
    array(segment, { maxLength: 6 }).map((segments) => `/${segments.join("/")}`),
    tuple(ids, constantFrom("", "/findings", "/event-stream")).map(([id, rest]) => `/api/v1/scans/${id}${rest}`),
    constant("/api/v1/scans"),
  );
  const name = oneof(constantFrom("cursor", "limit", "tenant_id", "access_token", "__proto__", "limit[]"), pathText);
  const value = oneof(ids, pathText, constantFrom("-1", "1e9", "0x10", "NaN", "[]", "%ff", "'--", "9".repeat(400)));
  const query = array(tuple(name, value), { maxLength: 4 }).map((pairs) =>
    pairs.map((pair) => pair.join("=")).join("&"),
  );
  await assert(
    asyncProperty(path, query, good(), async (pathname, search, authorization) => {
      const target = `${pathname}?${search}`.replaceAll("#", "");
      const { text } = await send({ path: target, headers: { authorization } });
      if (!target.includes(foreign.id)) expect(text).not.toContain(foreign.id);
    }),
    fuzzed(100),
  );
});

test("no matter what body is sent to whichever route, the answer is a document and the foreign scan is as it was", async () => {
  const before = await stateOfForeign();
  const route = constantFrom(
    ["POST", "/api/v1/scans"],
    ["PATCH", `/api/v1/scans/${own.id}`],
    ["PATCH", `/api/v1/scans/${foreign.id}`],
    ["POST", `/api/v1/scans/${foreign.id}/cancel`],
    ["POST", "/api/v1/stream-tokens"],
    ["POST", `/api/v1/channels/${own.channel}/events`],
    ["POST", `/api/v1/channels/${foreign.channel}/events`],
  );
  const examples = [
    { checks_total: 3 },
    { scan_id: foreign.id },
    findingEvents(own.id, [{ fingerprint: "f", check: "c", status: "FAIL" }]),
    { type: "scan.progress", data: { scan_id: own.id, checks_done: 1 } },
    { tenant_id: gateway.globex.id, status: "failed", id: foreign.id },
  ].map((example) => JSON.stringify(example));
  const body = oneof(constantFrom(...examples), mutated(constantFrom(...examples)), json(), anyText());
  await assert(
    asyncProperty(route, body, good(), async ([method = "", path = ""], sent, authorization) => {
      const headers = { authorization, "content-type": "application/json" };
      const { status } = await send({ method, path, headers, body: sent.toWellFormed() });
      if (path.includes(foreign.id)) expect(status).toBeGreaterThanOrEqual(400);
    }),
    fuzzed(100),
  );
  expect(await stateOfForeign()).toEqual(before);
});

async function stateOfForeign(): Promise<unknown> {
  const as = `Api-Key ${gateway.globex.apiKey}`;
  const scan = await gateway.request(`/api/v1/scans/${foreign.id}`, { as });
  const findings = await gateway.request(`/api/v1/scans/${foreign.id}/findings`, { as });
  return [await scan.json(), await findings.json()];
}
