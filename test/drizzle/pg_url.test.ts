import { expect, test } from "vitest";
import { createPgDatabase, withExplicitTlsMode } from "../../drizzle/databases/pg.ts";
import { migrate } from "../../drizzle/migrate.ts";
import { UsageError } from "../../shared/usage_error.ts";

test.each([
  ["postgres://u:p@h/d?sslmode=require", "postgres://u:p@h/d?sslmode=verify-full"],
  [
    "postgres://u:p@h/d?a=b&sslmode=prefer&channel_binding=require",
    "postgres://u:p@h/d?a=b&sslmode=verify-full&channel_binding=require",
  ],
  ["postgres://u:p@h/d?sslmode=disable", "postgres://u:p@h/d?sslmode=disable"],
  ["postgres://u:p@h/d?uselibpqcompat=true&sslmode=require", "postgres://u:p@h/d?uselibpqcompat=true&sslmode=require"],
  ["postgres://u:sslmode=require@h/d", "postgres://u:sslmode=require@h/d"],
])("withExplicitTlsMode(%s)", (url, expected) => {
  expect(withExplicitTlsMode(url)).toBe(expected);
});

test.each([
  ["postgres://u:hunter2@127.0.0.1:99999/db", "Invalid URL"],
  ["postgres://u:hunter2@127.0.0.1/db?sslrootcert=/nonexistent", "ENOENT"],
])("a URL that cannot be used is refused when it is given, and not quoted: %s", async (url, reason) => {
  const expected = new RegExp(`^(?!.*hunter2)Cannot use the configuration: DATABASE_URL: .*${reason}`);
  expect(() => createPgDatabase(url)).toThrow(UsageError);
  expect(() => createPgDatabase(url)).toThrow(expected);
  await expect(migrate(url)).rejects.toThrow(expected);
});
