import { expect, test } from "vitest";
import { withExplicitTlsMode } from "../../drizzle/databases/pg.ts";

test.each([
  ["postgres://u:p@h/d?sslmode=require", "postgres://u:p@h/d?sslmode=verify-full"],
  [
    "postgres://u:p@h/d?a=b&sslmode=prefer&channel_binding=require",
    "postgres://u:p@h/d?a=b&sslmode=verify-full&channel_binding=require",
  ],
  ["postgres://u:p@h/d?sslmode=verify-ca", "postgres://u:p@h/d?sslmode=verify-full"],
  ["postgres://u:p@h/d?sslmode=disable", "postgres://u:p@h/d?sslmode=disable"],
  ["postgres://u:p@h/d?sslmode=no-verify", "postgres://u:p@h/d?sslmode=no-verify"],
  ["postgres://u:p@h/d?uselibpqcompat=true&sslmode=require", "postgres://u:p@h/d?uselibpqcompat=true&sslmode=require"],
  ["postgres://u:sslmode=require@h/d", "postgres://u:sslmode=require@h/d"],
])("withExplicitTlsMode(%s)", (url, expected) => {
  expect(withExplicitTlsMode(url)).toBe(expected);
});
