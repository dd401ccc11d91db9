import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  publishCredentials,
  createKeyPair,
  loadKeyPair,
  privateKeyFileName,
} from "../../practice_org/auth/credentials.ts";
import { createRawClient } from "./raw_client.ts";
import { startOrg } from "./start_org.ts";

let base: string;

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), "practice-org-"));
});

afterAll(async () => {
  await rm(base, { recursive: true });
});

test("publishCredentials writes the key for its owner only, and returns what a scan needs", async () => {
  const org = await startOrg();
  const directory = join(base, "state", "keys");
  const published = await publishCredentials(org, directory);
  expect(published.privateKeyFile).toBe(join(directory, privateKeyFileName));
  expect(published.environmentLines).toEqual([
    `IDP_ORG_URL=${org.url}`,
    `IDP_CLIENT_ID=${org.clientId}`,
    `IDP_PRIVATE_KEY_FILE=${published.privateKeyFile}`,
  ]);
  expect(await readFile(published.privateKeyFile, "utf8")).toBe(org.privateKeyPem);
  expect((await stat(published.privateKeyFile)).mode & 0o777).toBe(0o600);
  expect((await stat(directory)).mode & 0o777).toBe(0o700);
});

test("publishCredentials closes a key file that was readable by others, and leaves nothing else behind", async () => {
  const directory = join(base, "open");
  await mkdir(directory);
  await writeFile(join(directory, privateKeyFileName), "an older key", { mode: 0o644 });
  const { privateKeyFile } = await publishCredentials(await startOrg(), directory);
  expect((await stat(privateKeyFile)).mode & 0o777).toBe(0o600);
  expect(await readdir(directory)).toEqual(["address", privateKeyFileName]);
});

test("publishCredentials quotes a directory that a shell would take apart", async () => {
  const directory = join(base, "it's mine");
  const { environmentLines } = await publishCredentials(await startOrg(), directory);
  expect(environmentLines[2]).toBe(`IDP_PRIVATE_KEY_FILE='${base}/it'\\''s mine/${privateKeyFileName}'`);
});

test("loadKeyPair keeps a key over restarts: the old client still knows the new org", async () => {
  const directory = join(base, "kept");
  const first = await loadKeyPair(directory);
  const second = await loadKeyPair(directory);
  expect(second).toEqual(first);
  expect((await stat(join(directory, privateKeyFileName))).mode & 0o777).toBe(0o600);
  const before = await startOrg({ keyPair: first });
  const after = await startOrg({ keyPair: second });
  const client = await createRawClient({ ...after, clientId: before.clientId, privateKeyJwk: before.privateKeyJwk });
  expect(await client.logIn()).toEqual(expect.any(String));
});

test("loadKeyPair refuses a file that holds no key, names it, and does not show it", async () => {
  const directory = join(base, "broken");
  await mkdir(directory);
  await writeFile(join(directory, privateKeyFileName), "secret nonsense");
  const file = join(directory, privateKeyFileName);
  await expect(loadKeyPair(directory)).rejects.toThrow(
    `Cannot use "${file}": it is no RSA private key in PKCS#8 PEM; delete it to get a new one`,
  );
});

test("createKeyPair makes a new key each time, public part and all", async () => {
  const [one, two] = await Promise.all([createKeyPair(), createKeyPair()]);
  expect(one.privateKeyJwk.kid).not.toBe(two.privateKeyJwk.kid);
  expect(Object.keys(one.publicKeyJwk).sort()).toEqual(["e", "kid", "kty", "n"]);
  expect(one.publicKeyJwk.kid).toBe(one.privateKeyJwk.kid);
});
