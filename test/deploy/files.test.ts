import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { parseConfig } from "../../gateway/config.ts";
import { parseTracesConfig } from "../../gateway/runtime/traces_config.ts";

const run = promisify(execFile);
const deploy = join(import.meta.dirname, "../../deploy");
const read = (path: string) => readFile(join(deploy, path), "utf8");

/** The variables that a gateway looks for. */
const variables = new Set<string>();
const environment = new Proxy<Record<string, unknown>>(
  {},
  { get: (_target, name) => void variables.add(String(name)) },
);
parseConfig(environment);
parseTracesConfig(environment);
const unknown = (names: readonly string[]) => names.filter((name) => !variables.has(name));

/** From SIGTERM to the exit, after the delay (docs/deploy.md). */
const leaveSeconds = 5;

test("the variables of a gateway are known to these tests", () => {
  expect(unknown(["PORT", "METRICS_PORT", "STREAM_TOKEN_SECRET", "AUTH_AUDIENCE", "OTEL_SERVICE_NAME"])).toEqual([]);
  expect(unknown(["NO_SUCH_VARIABLE"])).toEqual(["NO_SUCH_VARIABLE"]);
});

describe("the compose file", async () => {
  interface Service {
    readonly image: string;
    readonly command?: unknown;
    readonly environment?: Readonly<Record<string, string>>;
    readonly depends_on?: readonly string[] | Readonly<Record<string, unknown>>;
    readonly volumes?: readonly string[];
    readonly stop_grace_period?: string;
    readonly healthcheck?: { readonly test: readonly unknown[] };
  }
  const text = await read("compose.yml");
  const compose = parse(text, { merge: true }) as {
    readonly services: Readonly<Record<string, Service>>;
    readonly volumes: Readonly<Record<string, unknown>>;
  };
  const services = Object.entries(compose.services);

  test("names services, volumes and files that are there", async () => {
    const files = await readdir(deploy);
    for (const [name, { depends_on: dependsOn = [], volumes = [], healthcheck }] of services) {
      const others = Array.isArray(dependsOn) ? dependsOn : Object.keys(dependsOn);
      expect(
        others.filter((other) => compose.services[other] === undefined),
        name,
      ).toEqual([]);
      for (const volume of volumes) {
        const [source = ""] = volume.split(":");
        if (source.startsWith("./")) expect(files).toContain(source.slice(2));
        else expect(Object.keys(compose.volumes)).toContain(source);
      }
      expect(healthcheck?.test.every((part) => typeof part === "string") ?? true, name).toBe(true);
    }
  });

  test("gives its gateways variables that they know, and more time than they need to leave", () => {
    const gateways = services.filter(([name]) => name.startsWith("gateway-"));
    expect(gateways).toHaveLength(2);
    for (const [, gateway] of gateways) {
      expect(unknown(Object.keys(gateway.environment ?? {}))).toEqual([]);
      const delay = Number(gateway.environment?.["DRAIN_DELAY_SECONDS"]);
      expect(Number.parseInt(gateway.stop_grace_period ?? "", 10)).toBeGreaterThan(delay + leaveSeconds);
    }
  });

  test("holds no secret, and asks for each that it needs", () => {
    const secrets = text.match(/\$\{\w*(?:PASSWORD|SECRET)[^}]*\}/g) ?? [];
    expect(secrets.length).toBeGreaterThan(5);
    expect(secrets.filter((secret) => !secret.includes(":?"))).toEqual([]);
  });

  test("checks its gateways more often than they wait before they close their port", async () => {
    const [, seconds = ""] = /health_interval (\d+)s/.exec(await read("Caddyfile")) ?? [];
    const delay = Number(compose.services["gateway-1"]?.environment?.["DRAIN_DELAY_SECONDS"]);
    expect(delay).toBeGreaterThanOrEqual(2 * Number(seconds));
  });
});

describe("the Helm chart", async () => {
  const folder = "helm/scanstream/templates";
  const names = await readdir(join(deploy, folder));
  const templates = await Promise.all(names.map(async (name) => [name, await read(`${folder}/${name}`)] as const));
  const all = templates.map(([, text]) => text).join("\n");
  const values = parse(await read("helm/scanstream/values.yaml")) as Readonly<Record<string, unknown>>;

  test("uses values that it has, and has none that it does not use", () => {
    const used = new Set([...all.matchAll(/\.Values((?:\.\w+)+)/g)].map(([, path = ""]) => path.slice(1)));
    const valueAt = (path: string) =>
      path.split(".").reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], values);
    expect([...used].filter((path) => valueAt(path) === undefined)).toEqual([]);
    const leaves = Object.entries(values).flatMap(([name, value]) => {
      const isGroup = typeof value === "object" && value !== null && !Array.isArray(value) && !used.has(name);
      return isGroup ? Object.keys(value).map((each) => `${name}.${each}`) : [name];
    });
    expect(leaves.filter((path) => !used.has(path))).toEqual([]);
  });

  test("includes parts that it defines", () => {
    const defined = [...all.matchAll(/define "([^"]+)"/g)].map(([, name = ""]) => name);
    const included = new Set([...all.matchAll(/include "([^"]+)"/g)].map(([, name = ""]) => name));
    expect([...included].toSorted()).toEqual(defined.toSorted());
  });

  test.each(templates)("%s closes each block that it opens", (_name, text) => {
    const opened = text.match(/\{\{-? (?:if|with|range|define) /g) ?? [];
    expect(text.match(/\{\{-? end \}\}/g) ?? []).toHaveLength(opened.length);
  });

  test("gives its pods variables that a gateway knows", () => {
    const own = [...all.matchAll(/- name: ([A-Z][A-Z_]+)$/gm)].map(([, name = ""]) => name);
    const { keys } = values["secret"] as { readonly keys: readonly string[] };
    expect(own).toContain("DRAIN_DELAY_SECONDS");
    expect(unknown([...own, ...keys, ...Object.keys(values["config"] as object)])).toEqual([]);
  });

  test("leaves its pods more time than they need to leave, and stops one at a time", () => {
    const [, more = ""] =
      /terminationGracePeriodSeconds: \{\{ add \.Values\.drainDelaySeconds (\d+) \}\}/.exec(all) ?? [];
    expect(Number(more)).toBeGreaterThan(leaveSeconds);
    expect(all).toContain("maxUnavailable: 0");
    // Not ready for at least two checks before the port is closed.
    const [, period = ""] = /path: \/readyz, port: http \}\s+periodSeconds: (\d+)/.exec(all) ?? [];
    expect(Number(values["drainDelaySeconds"])).toBeGreaterThanOrEqual(2 * Number(period));
  });
});

describe.runIf(process.platform === "linux")("the systemd unit", async () => {
  const path = join(deploy, "systemd/scanstream-gateway@.service");
  const unit = await readFile(path, "utf8");

  test("leaves the gateway more time than it needs to leave, by its default delay", () => {
    const [, seconds = ""] = /^TimeoutStopSec=(\d+)$/m.exec(unit) ?? [];
    expect(Number(seconds)).toBeGreaterThan(parseConfig({}).drainDelaySeconds + leaveSeconds);
  });

  test("is understood by systemd, and keeps little within reach", async () => {
    const { stderr } = await run("systemd-analyze", ["verify", path]).catch(
      (error: { readonly stderr: string }) => error,
    );
    // The program and its settings are not on this machine.
    expect(stderr.split("\n").filter((line) => line !== "" && !/is not executable|No such file/.test(line))).toEqual(
      [],
    );
    const { stdout } = await run("systemd-analyze", ["security", "--offline=true", "--threshold=12", path]);
    expect(stdout).toMatch(/Overall exposure level for \S+: [01]\.\d OK/);
  });
});
