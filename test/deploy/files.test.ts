import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { parseConfig } from "../../gateway/config.ts";

const deploy = join(import.meta.dirname, "../../deploy");
const read = (path: string) => readFile(join(deploy, path), "utf8");

/** The variables that a gateway looks for. */
const variables = new Set<string>();
const environment = new Proxy<Record<string, unknown>>(
  {},
  { get: (_target, name) => void variables.add(String(name)) },
);
parseConfig(environment);

test("the compose file gives its two gateways variables that they know", async () => {
  const compose = parse(await read("compose.yml"), { merge: true }) as {
    readonly services: Readonly<Record<string, { readonly environment?: Readonly<Record<string, string>> }>>;
  };
  const gateways = Object.entries(compose.services).filter(([name]) => name.startsWith("gateway-"));
  expect(gateways).toHaveLength(2);
  for (const [, gateway] of gateways) {
    const names = Object.keys(gateway.environment ?? {});
    expect(names).toContain("DATABASE_URL");
    expect(names.filter((name) => !variables.has(name))).toEqual([]);
  }
});

test("the alerts are YAML, each with an expression", async () => {
  const { groups } = parse(await read("prometheus/alerts.yml")) as {
    readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[];
  };
  const rules = groups.flatMap(({ rules }) => rules);
  expect(rules).toHaveLength(10);
  for (const { alert, expr } of rules) expect(expr, alert).toContain('job="scanstream"');
});
