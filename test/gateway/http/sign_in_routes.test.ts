import { afterAll, beforeAll, expect, test } from "vitest";
import { createStaticFiles } from "../../../gateway/runtime/static_files.ts";
import { freePort } from "../../support/free_port.ts";
import { startTestGateway, type TestGateway } from "../../support/test_gateway.ts";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Answers about signing in before anybody has: with no issuer, and with one that is away. */
let without: TestGateway;
let away: TestGateway;
let issuer: string;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "scanstream-web-"));
  await writeFile(join(folder, "index.html"), "<!doctype html>");
  const webAssets = createStaticFiles(folder);
  issuer = `http://127.0.0.1:${await freePort()}`;
  without = await startTestGateway({}, { webAssets });
  away = await startTestGateway({ AUTH_ISSUER: issuer, OIDC_CLIENT_ID: "page" }, { webAssets });
});
afterAll(async () => {
  await Promise.all([without.stop(), away.stop()]);
  await rm(folder, { recursive: true, force: true });
});

test("without a client there is no provider and no callback, and the page reaches nothing but its gateway", async () => {
  expect(await (await without.request("/sign-in")).json()).toEqual({ is_demo: false, provider: null });
  expect((await without.request("/callback")).status).toBe(404);
  const policy = (await without.request("/")).headers.get("content-security-policy");
  expect(policy).toContain("connect-src 'self';");
  expect(policy).toContain("frame-src 'none';");
});

test("an issuer that cannot be reached is named, without endpoints", async () => {
  expect(await (await away.request("/sign-in")).json()).toEqual({
    is_demo: false,
    provider: {
      issuer,
      client_id: "page",
      scopes: "openid profile email",
      audience: "scanstream-test",
      tenant_claim: "tenant_id",
      endpoints: null,
    },
  });
  const policy = (await away.request("/callback")).headers.get("content-security-policy");
  expect(policy).toContain("connect-src 'self';");
});
