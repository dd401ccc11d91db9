import { stat } from "node:fs/promises";
import { join } from "node:path";
import { decodeJwt } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runAdmin } from "../../../gateway/operator/call_admin.ts";
import type { AdminArguments, AdminOperation } from "../../../gateway/operator/operations.ts";
import { parseConfig } from "../../../gateway/config.ts";
import { silentLog } from "../../../gateway/observability/log.ts";
import { nodeHttp } from "../../../gateway/runtime/node_http.ts";
import { placeEmbeddedDatabase } from "../../support/pglite.ts";
import { temporaryFolder } from "../../support/temporary_folder.ts";
import { startGateway, type RunningGateway } from "../../../gateway/runtime/start_gateway.ts";

let gateway: RunningGateway;
const never = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
const folder = await temporaryFolder();
const directory = join(folder.path, ".scanstream");

beforeAll(async () => {
  await placeEmbeddedDatabase(folder.path);
  await runAdmin({}, "tenant.create", { name: "one" }, { directory });
  gateway = await start();
  expect(await admin("tenant.list")).toMatchObject([{ name: "one" }]);
});
afterAll(async () => {
  await gateway.stop({ drainMs: 0 });
  await folder[Symbol.asyncDispose]();
});

const start = () => startGateway({ http: nodeHttp, config: parseConfig({ PORT: "0" }), directory, log: silentLog });

/** On the database that the gateway has open. */
async function admin<Result = Record<string, string>>(
  operation: AdminOperation,
  args: AdminArguments = {},
): Promise<Result> {
  return (await gateway.admin(operation, args)) as Result;
}

const statusAs = async (authorization: string) =>
  (await fetch(new URL("/api/v1/scans", gateway.url), { headers: { authorization } })).status;

describe("while a gateway runs", () => {
  test("a key is shown once, and revoked for good", async () => {
    const tenant = await admin("tenant.create", { name: "Keys" });
    const key = await admin("api-key.create", { tenant: tenant["id"], name: "ci" });
    const api_key = expect.stringMatching(/^scs_[0-9a-f]{8}_[0-9a-f]{64}$/) as string;
    expect(key).toMatchObject({ tenant_id: tenant["id"], name: "ci", scopes: ["read", "publish"], api_key });
    const revoked = await admin("api-key.revoke", { id: key["id"] });
    expect(revoked).toMatchObject({ id: key["id"], revoked_at: expect.any(String) });
    // The first time counts.
    expect(await admin("api-key.revoke", { id: key["id"] })).toEqual(revoked);
    const listed = await admin<readonly Record<string, unknown>[]>("api-key.list", { tenant: tenant["id"] });
    expect(listed).toEqual([revoked]);
    expect(JSON.stringify(listed)).not.toContain(key["api_key"]?.slice(13));
  });

  test("a tenant is renamed, and deleted by its name", async () => {
    const { id: tenant } = await admin("tenant.create", { name: "Umbrella" });
    expect(await admin("tenant.rename", { tenant, name: "Umbrella 2" })).toEqual({ id: tenant, name: "Umbrella 2" });
    await expect(admin("tenant.delete", { tenant, confirm: "Umbrella" })).rejects.toMatchObject({ code: "invalid" });
    expect(await admin("tenant.delete", { tenant, confirm: "Umbrella 2" })).toMatchObject({ deleted: true });
  });

  test("a token expires after its --ttl", async () => {
    const tenant = await admin("tenant.create", { name: "  Ttl  " });
    expect(tenant["name"]).toBe("Ttl");
    const token = await admin("token.create", { tenant: tenant["id"], sub: "a", ttl: "900" });
    const { iat = 0, exp = 0 } = decodeJwt(String(token["access_token"]));
    expect(exp - iat).toBe(900);
    expect(token["expires_at"]).toBe(new Date(exp * 1000).toISOString());
  });

  test("a wrong argument is refused by its name, and what is not there as such", async () => {
    const wrong: readonly (readonly [AdminOperation, AdminArguments, string, RegExp])[] = [
      ["tenant.create", { name: " " }, "invalid", /--name/],
      ["tenant.create", { name: "a".repeat(201) }, "invalid", /1 to 200/],
      ["user.create", { tenant: "acme", sub: "a" }, "invalid", /--tenant/],
      ["user.create", { tenant: never, sub: "a".repeat(256) }, "invalid", /--sub/],
      ["user.remove", { tenant: never, sub: "a" }, "not_found", /not a member/],
      ["api-key.create", { tenant: never, name: "x" }, "not_found", /tenant/],
      ["api-key.revoke", { id: never }, "not_found", /no key/],
      ["token.create", { tenant: never, sub: "a", ttl: "0" }, "invalid", /--ttl/],
    ];
    for (const [operation, args, code, message] of wrong) {
      const refused = expect(admin(operation, args), `${operation} ${JSON.stringify(args)}`).rejects;
      await refused.toMatchObject({ code, message: expect.stringMatching(message) });
    }
  });
});

test("the embedded gateway is one at a time, keeps its state private, and between starts", async () => {
  const tenant = (await admin("tenant.create", { name: "Kept" }))["id"];
  await admin("user.create", { tenant, sub: "alice" });
  const token = await admin("token.create", { tenant, sub: "alice" });
  const refusal = /DATABASE_URL: unset, and the embedded database .* is open in a gateway/;
  const refused = [start(), runAdmin({}, "tenant.list", {}, { directory })];
  await Promise.all(refused.map((attempt) => expect(attempt).rejects.toThrow(refusal)));
  await gateway.stop({ drainMs: 0 });
  const issuer = { AUTH_JWKS_URL: "https://x.test/jwks" };
  await expect(runAdmin(issuer, "token.create", { tenant, sub: "a" }, { directory })).rejects.toMatchObject({
    code: "conflict",
    message: expect.stringContaining("AUTH_JWKS"),
  });
  expect((await stat(directory)).mode & 0o777).toBe(0o700);
  for (const name of ["development_key.json", "stream_token_secret"]) {
    expect((await stat(join(directory, name))).mode & 0o777).toBe(0o600);
  }
  gateway = await start();
  expect(await statusAs(`Bearer ${token["access_token"]}`)).toBe(200);
});
