import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createStaticFiles } from "../../../gateway/runtime/static_files.ts";
import { freePort } from "../../support/free_port.ts";
import { temporaryFolder } from "../../support/temporary_folder.ts";
import { openTestGateway } from "../../support/test_gateway.ts";

/** Answers about signing in before anybody has: with no issuer, and with one that is away. */
const folder = await temporaryFolder();
afterAll(() => folder[Symbol.asyncDispose]());
await writeFile(join(folder.path, "index.html"), "<!doctype html>");
const webAssets = createStaticFiles(folder.path);
const issuer = `http://127.0.0.1:${await freePort()}`;
const without = await openTestGateway({}, { webAssets });
const away = await openTestGateway({ AUTH_ISSUER: issuer, OIDC_CLIENT_ID: "page" }, { webAssets });

test("without a client there is no provider and no callback, and the page reaches nothing but its gateway", async () => {
  expect(await (await without.request("/sign-in")).json()).toEqual({ is_demo: false, provider: null });
  expect((await without.request("/callback")).status).toBe(404);
  const policy = (await without.request("/")).headers.get("content-security-policy");
  expect(policy).toContain("connect-src 'self';");
  expect(policy).toContain("frame-src 'none';");
});

test("an issuer that cannot be reached is named, without endpoints", async () => {
  expect(await (await away.request("/sign-in")).json()).toMatchObject({
    provider: { issuer, client_id: "page", audience: "scanstream-test", endpoints: null },
  });
  const policy = (await away.request("/callback")).headers.get("content-security-policy");
  expect(policy).toContain("connect-src 'self';");
});
