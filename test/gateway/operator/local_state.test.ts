import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeProtectedHeader, importJWK, jwtVerify } from "jose";
import { afterEach, beforeEach, expect, test } from "vitest";
import { UsageError } from "../../../shared/usage_error.ts";
import { createLocalState, developmentAudience, developmentIssuer } from "../../../gateway/operator/local_state.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "scanstream-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test("the secret is created once, also concurrently, and readable by this user only", async () => {
  const directory = join(folder, "state");
  const secrets = await Promise.all(Array.from({ length: 10 }, () => createLocalState(directory).streamTokenSecret()));
  expect(new Set(secrets).size).toBe(1);
  expect(secrets[0]).toMatch(/^[\w-]{43}$/);
  expect(await readdir(directory)).toEqual(["stream_token_secret"]);
  expect((await stat(directory)).mode & 0o777).toBe(0o700);
  const file = join(directory, "stream_token_secret");
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  // Its mode is restored at the next start.
  await chmod(file, 0o644);
  expect(await createLocalState(directory).streamTokenSecret()).toBe(secrets[0]);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test("the development key signs what its public half verifies, and stays the same", async () => {
  const first = await createLocalState(folder).developmentKey();
  const second = await createLocalState(folder).developmentKey();
  expect(second.publicJwk).toEqual(first.publicJwk);
  expect(first.publicJwk).not.toHaveProperty("d");
  const token = await first.sign({
    tenantClaim: "org",
    tenantId: "7c9e6679-7425-40de-944b-e07fc1f90ae7",
    sub: "alice",
    issuedAtSeconds: 100,
    expiresAtSeconds: 200,
  });
  expect(decodeProtectedHeader(token)).toEqual({ alg: "ES256", typ: "JWT", kid: first.publicJwk.kid });
  const { payload } = await jwtVerify(token, await importJWK(second.publicJwk, "ES256"), {
    currentDate: new Date(150_000),
  });
  expect(payload).toEqual({
    org: "7c9e6679-7425-40de-944b-e07fc1f90ae7",
    iss: developmentIssuer,
    aud: developmentAudience,
    sub: "alice",
    iat: 100,
    exp: 200,
  });
  expect(await readFile(join(folder, "development_key.json"), "utf8")).toContain('"d"');
});

test("an unwritable folder is a configuration error that names the variables to set instead", async () => {
  const file = join(folder, "file");
  await writeFile(file, "");
  const state = createLocalState(join(file, "state"));
  for (const want of [state.streamTokenSecret, state.developmentKey, state.makeDirectory]) {
    await expect(want()).rejects.toThrow(UsageError);
    await expect(want()).rejects.toThrow(/DATABASE_URL, STREAM_TOKEN_SECRET, AUTH_JWKS_URL: .*\(ENOTDIR\)/);
  }
});
