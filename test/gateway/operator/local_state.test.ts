import { chmod, chown, mkdir, readdir, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ownFolder } from "../../support/clean_up.ts";
import { UsageError } from "../../../shared/usage_error.ts";
import { createLocalState } from "../../../gateway/operator/local_state.ts";

// `call_admin.test.ts` has its mode, and that of the folder.
test("the secret is created once, also concurrently, and its mode is restored at the next start", async () => {
  const folder = await ownFolder();
  const directory = join(folder, "state");
  const secrets = await Promise.all(Array.from({ length: 10 }, () => createLocalState(directory).streamTokenSecret()));
  expect(new Set(secrets).size).toBe(1);
  expect(secrets[0]).toMatch(/^[\w-]{43}$/);
  expect(await readdir(directory)).toEqual(["stream_token_secret"]);
  const file = join(directory, "stream_token_secret");
  await chmod(file, 0o644);
  expect(await createLocalState(directory).streamTokenSecret()).toBe(secrets[0]);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test("an unwritable folder is a configuration error that names the variables to set instead", async () => {
  const folder = await ownFolder();
  const file = join(folder, "file");
  await writeFile(file, "");
  const state = createLocalState(join(file, "state"));
  for (const want of [state.streamTokenSecret, state.developmentKey, state.makeDirectory]) {
    await expect(want()).rejects.toThrow(UsageError);
    await expect(want()).rejects.toThrow(
      /DATABASE_URL, STREAM_TOKEN_SECRET, AUTH_JWKS_URL or AUTH_JWKS: .*\(ENOTDIR\)/,
    );
  }
});

test("a secret that is empty or cut is a configuration error that says what to delete", async () => {
  const folder = await ownFolder();
  const state = createLocalState(folder);
  for (const [name, want, cut] of [
    ["stream_token_secret", state.streamTokenSecret, ""],
    ["development_key.json", state.developmentKey, '{"kty":"EC"'],
  ] as const) {
    await writeFile(join(folder, name), cut);
    await expect(want()).rejects.toThrow(UsageError);
    await expect(want()).rejects.toThrow(`${join(folder, name)} is damaged: delete it`);
  }
});

test("another user's database is refused, and the folder is left as it was", async () => {
  const folder = await ownFolder();
  const database = join(folder, "database");
  if (process.getuid?.() === 0) {
    await mkdir(database);
    await chown(database, 65_534, 65_534);
  } else await symlink("/", database);
  await expect(createLocalState(folder).makeDirectory()).rejects.toThrow(
    /is another user's: run the command as user \d+$/,
  );
  expect(await readdir(folder)).toEqual(["database"]);
});
