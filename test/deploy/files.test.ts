import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseConfig } from "../../gateway/config.ts";

/** The variables that a gateway looks for. */
const variables = new Set<string>();
const environment = new Proxy<Record<string, unknown>>(
  {},
  { get: (_target, name) => void variables.add(String(name)) },
);
parseConfig(environment);

const deployed = (name: string) => readFile(join(import.meta.dirname, "../../deploy", name), "utf8");

test("a query, which may hold a token or a code, is in no line that a proxy writes about an error", async () => {
  expect((await deployed("nginx.conf")).match(/^ *error_log .*/gm)).toEqual([
    expect.stringMatching(/^ {4}error_log \S+ crit;$/),
  ]);
  expect(await deployed("Caddyfile")).toMatch(/request>uri regexp \\\?\.\* /);
});

// nginx counts the 503 that it passes to the next gateway as a failure, and takes the gateway from all requests.
test("a stream that every gateway refuses leaves nginx all of them", async () => {
  const servers = (await deployed("nginx.conf")).match(/^ *server 127.*/gm);
  expect(servers).toEqual([expect.stringContaining("max_fails=0"), expect.stringContaining("max_fails=0")]);
});

// A gateway that is given a misspelled DATABASE_URL starts with an embedded database.
test("the compose file gives its gateways variables that they know", async () => {
  const compose = await deployed("compose.yml");
  const [gateway = ""] = compose.split(/^services:$/m);
  const names = [...gateway.matchAll(/^ {4}([A-Z_]+):/gm)].map(([, name = ""]) => name);
  expect(names).toContain("DATABASE_URL");
  expect(names.filter((name) => !variables.has(name))).toEqual([]);
});
