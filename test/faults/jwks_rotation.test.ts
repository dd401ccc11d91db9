import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { exportJWK, generateKeyPair, SignJWT, type JWK } from "jose";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createGatewayBroker } from "../../shared/brokers/gateway_broker.ts";
import { callCommand } from "../support/called_command.ts";
import { startCommand, temporaryFolder, type Running } from "../support/command_line.ts";
import { openReader } from "./stream_reader.ts";
import { startTraffic, type Traffic } from "./traffic.ts";

/** An issuer that changes its keys under a running `serve`: without a restart, and without too many requests to the issuer. */

const issuer = "https://issuer.test";
const audience = "scanstream";

interface IssuerKey {
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
}

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let jwks: Server;
let serve: Running;
let url: string;
let published: readonly IssuerKey[];
let jwksRequests = 0;
let tenantId: string;
let apiKey: string;
let first: IssuerKey;
let second: IssuerKey;
let third: IssuerKey;
let steps = 0;

beforeAll(async () => {
  folder = await temporaryFolder();
  [first, second, third] = await Promise.all([createKey("first"), createKey("second"), createKey("third")]);
  published = [first];
  jwks = createServer((_, response) => {
    jwksRequests += 1;
    const keys = published.map(({ publicJwk }) => publicJwk);
    response.setHeader("content-type", "application/json").end(JSON.stringify({ keys }));
  });
  await once(jwks.listen(0, "127.0.0.1"), "listening");
  tenantId = (await admin("tenant", "create", "--name", "Acme"))["id"] ?? "";
  await admin("user", "create", "--tenant", tenantId, "--sub", "ann");
  apiKey = (await admin("api-key", "create", "--tenant", tenantId, "--name", "ci"))["api_key"] ?? "";
  serve = startCommand(["serve"], {
    cwd: folder.path,
    env: {
      PORT: "0",
      AUTH_JWKS_URL: `http://127.0.0.1:${(jwks.address() as AddressInfo).port}/jwks`,
      AUTH_ISSUER: issuer,
      AUTH_AUDIENCE: audience,
      NODE_OPTIONS: `--import=${join(import.meta.dirname, "../support/movable_clock_child.ts")}`,
    },
  });
  [url] = await serve.until("stdout", /http:\/\/127\.0\.0\.1:\d+/);
});
afterAll(async () => {
  await serve.stop();
  jwks.close();
  await folder[Symbol.asyncDispose]();
});

async function createKey(kid: string): Promise<IssuerKey> {
  const { privateKey, publicKey } = await generateKeyPair("ES256");
  return { kid, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg: "ES256", use: "sig" } };
}

async function admin(...args: readonly string[]): Promise<Record<string, string>> {
  const { code, stdout, stderr } = await callCommand(["admin", ...args, "--format", "json"], { cwd: folder.path });
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as Record<string, string>;
}

/** No two are the same. */
async function sign(key: IssuerKey, lifetimeSeconds = 3600, kid = key.kid): Promise<string> {
  const exp = Math.floor(Date.now() / 1000) + lifetimeSeconds;
  return new SignJWT({ iss: issuer, aud: audience, sub: "ann", tenant_id: tenantId, exp, jti: crypto.randomUUID() })
    .setProtectedHeader({ alg: "ES256", kid })
    .sign(key.privateKey);
}

async function statusOf(token: string): Promise<number> {
  const response = await fetch(`${url}/api/v1/scans`, { headers: { authorization: `Bearer ${token}` } });
  await response.body?.cancel();
  return response.status;
}

async function startTrafficOnScan(): Promise<{
  readonly traffic: Traffic;
  readonly channel: string;
  readonly streamUrl: string;
}> {
  const headers = { authorization: `Api-Key ${apiKey}`, "content-type": "application/json" };
  const response = await fetch(`${url}/api/v1/scans`, { method: "POST", headers, body: "{}" });
  const { id, channel } = (await response.json()) as { readonly id: string; readonly channel: string };
  const traffic = startTraffic(createGatewayBroker({ url, apiKey }), { channels: [channel], everyMs: 20 });
  return { traffic, channel, streamUrl: `${url}/api/v1/scans/${id}/event-stream` };
}

/** Moves the gateway's clock by 61 s, so many times. */
async function moveClock(count: number): Promise<void> {
  for (let moved = 0; moved < count; moved += 1) {
    steps += 1;
    serve.process.kill("SIGUSR2");
    await serve.until("stderr", new RegExp(`clock is ${steps} steps ahead`));
  }
}

test("a rotation: the new key counts with its first token, streams live on until exp, unknown keys ask once, and a withdrawn key ends", async () => {
  const { traffic, channel, streamUrl } = await startTrafficOnScan();
  const short = await openReader(streamUrl, `Bearer ${await sign(first, 5)}`);
  const long = await openReader(streamUrl, `Bearer ${await sign(first)}`);
  const known = await sign(first);
  expect([short.status, long.status, await statusOf(known)]).toEqual([200, 200, 200]);
  expect(jwksRequests).toBe(1);

  // The new key, beside the old one: with the first token that names it, without a restart.
  published = [first, second];
  expect(await statusOf(await sign(second))).toBe(200);
  expect(jwksRequests).toBe(2);

  // Hundreds of tokens that name unknown keys, and good keys under others' names.
  const strangers = await Promise.all([
    ...Array.from({ length: 300 }, (_, index) => sign(first, 3600, `unknown-${index}`)),
    ...Array.from({ length: 20 }, () => sign(third)),
    ...Array.from({ length: 20 }, () => sign(third, 3600, "first")),
  ]);
  for (let from = 0; from < strangers.length; from += 50) {
    const statuses = await Promise.all(strangers.slice(from, from + 50).map(statusOf));
    expect(new Set(statuses)).toEqual(new Set([401]));
  }
  expect(jwksRequests).toBe(2);

  // The old key is withdrawn. Open streams end with their token and not before.
  published = [second];
  await short.closed;
  expect(short.closeReason).toBe("expired");
  expect(traffic.gapIn(channel, short)).toBeNull();

  // A minute later one token of an unknown key is enough to look again, and what was verified before is forgotten.
  await moveClock(1);
  const again = await Promise.all(strangers.slice(0, 100).map(statusOf));
  expect(new Set(again)).toEqual(new Set([401]));
  expect(jwksRequests).toBe(3);
  expect(await statusOf(known)).toBe(401);
  expect(await statusOf(await sign(first))).toBe(401);
  expect(await statusOf(await sign(second))).toBe(200);
  expect((await openReader(streamUrl, `Bearer ${await sign(first)}`)).status).toBe(401);

  // Without any hint, ten minutes after the keys were fetched.
  published = [third];
  const kept = await sign(second);
  expect(await statusOf(kept)).toBe(200);
  await moveClock(8);
  expect(await statusOf(kept)).toBe(200);
  expect(jwksRequests).toBe(3);
  await moveClock(2);
  expect(await statusOf(kept)).toBe(401);
  expect(await statusOf(await sign(third))).toBe(200);
  // Once for their age, and once because a token named a key that was no longer among them.
  expect(jwksRequests).toBeLessThanOrEqual(5);

  await long.until(traffic.newest(channel));
  expect(traffic.gapIn(channel, long)).toBeNull();
  expect(long.isClosed).toBe(false);
  long.leave();
  await traffic.stop();
});
