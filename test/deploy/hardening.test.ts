import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");
const chart = join(root, "deploy/helm/scanstream");
const read = (file: string) => readFile(join(chart, file), "utf8");

type Values = Readonly<Record<string, unknown>>;

describe("the chart's network policy", async () => {
  const template = await read("templates/network_policy.yaml");
  const values = parse(await read("values.yaml")) as Values & { readonly networkPolicy: Values };
  const policyOf = (changed: Values) => {
    const text = render(template, { ...values, networkPolicy: { ...values.networkPolicy, ...changed } });
    return parse(text) as { readonly spec: Values } | null;
  };
  const everybody = { ports: [{ port: "http" }] };
  const prometheus = {
    ports: [{ port: "metrics" }],
    from: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "monitoring" } } }],
  };

  test("by default lets everybody to the port of HTTP, and only the monitoring namespace to the metrics", () => {
    expect(policyOf({})?.spec).toEqual({
      podSelector: { matchLabels: { app: "selected" } },
      policyTypes: ["Ingress"],
      ingress: [everybody, prometheus],
    });
  });

  test("with values lets in and out only whom they name, and DNS", () => {
    const proxy = { podSelector: { matchLabels: { app: "ingress" } } };
    const database = { to: [{ ipBlock: { cidr: "10.0.0.5/32" } }], ports: [{ port: 5432 }] };
    expect(policyOf({ from: [proxy], metricsFrom: [], egress: [database] })?.spec).toEqual({
      podSelector: { matchLabels: { app: "selected" } },
      policyTypes: ["Ingress", "Egress"],
      ingress: [{ ...everybody, from: [proxy] }],
      egress: [
        {
          ports: [
            { port: 53, protocol: "UDP" },
            { port: 53, protocol: "TCP" },
          ],
        },
        database,
      ],
    });
    expect(policyOf({ enabled: false })).toBeNull();
  });
});

test("pods of the chart and services of the compose file have no root, no writable root file system and no capability", async () => {
  const parts = await read("templates/_parts.tpl");
  const part = (name: string): unknown =>
    parse(new RegExp(`define "scanstream\\.${name}" -}}\\n([^]*?)\\{\\{- end`).exec(parts)?.[1] ?? "");
  expect(part("podSecurity")).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } });
  expect(part("containerSecurity")).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  });
  for (const file of ["deployment", "migrate"]) {
    const text = await read(`templates/${file}.yaml`);
    expect(text.match(/include "scanstream\.(?:podSecurity|containerSecurity)"/g)).toHaveLength(2);
    expect(text).toContain("automountServiceAccountToken: false");
  }
  const compose = parse(await readFile(join(root, "deploy/compose.yml"), "utf8"), { merge: true }) as {
    readonly services: Readonly<Record<string, Values>>;
  };
  for (const name of ["gateway-1", "gateway-2"]) {
    expect(compose.services[name], name).toMatchObject({
      read_only: true,
      cap_drop: ["ALL"],
      security_opt: ["no-new-privileges:true"],
      mem_limit: "1g",
    });
  }
  // Database, broker and metrics are reached by the gateways' network alone.
  expect(Object.keys(compose.services).filter((name) => "ports" in (compose.services[name] ?? {}))).toEqual(["proxy"]);
  const values = parse(await read("values.yaml")) as { readonly resources: unknown };
  expect(values.resources).toMatchObject({ limits: { memory: "1Gi" } });
  expect(await readFile(join(root, "deploy/systemd/scanstream-gateway@.service"), "utf8")).toContain(
    "\nMemoryMax=1G\n",
  );
});

test("no input of the action becomes a command of its shell", async () => {
  const action = parse(await readFile(join(root, "action.yml"), "utf8")) as {
    readonly runs: { readonly steps: readonly { readonly run?: string }[] };
  };
  const scripts = action.runs.steps.flatMap(({ run }) => run ?? []);
  expect(scripts.length).toBeGreaterThan(0);
  expect(scripts.filter((script) => script.includes("${{"))).toEqual([]);
});

test("the gate of our own CI holds, and fails when a rule fails", async () => {
  interface Workflow {
    readonly jobs: Readonly<Record<string, { readonly steps: readonly { readonly run?: string }[] }>>;
  }
  const { jobs } = parse(await readFile(join(root, ".github/workflows/ci.yml"), "utf8")) as Workflow;
  const script = jobs["gate"]?.steps.find((step) => step.run?.includes("--threshold"))?.run ?? "";
  const env = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env["PATH"]}` };
  const gate = (text: string) =>
    run("bash", ["-e", "-c", text], { cwd: root, env }).then(
      () => ({ code: 0, stderr: "" }),
      (error: { readonly code: number; readonly stderr: string }) => error,
    );
  expect(await gate(script)).toMatchObject({ code: 0 });
  const failing = await gate(script.replace("--profile compliant", "--profile typical"));
  expect(failing.code).toBe(1);
  expect(failing.stderr).toContain("--threshold: failed.total.max is 0");
});

/** The parts of Helm's language that the policy uses; `include` and a value at `.Release` become a fixed text. */
function render(template: string, values: Values): string {
  const lines: string[] = [];
  // The values that `.` stands for, innermost last; null where a block is left out.
  const scopes: unknown[] = [values];
  for (const line of template.split("\n")) {
    const scope = scopes.at(-1);
    const [, action = "", path = ""] = /^\s*\{\{-? (if|with|end|toYaml|include)(?: \.?(\S*))?/.exec(line) ?? [];
    const indent = " ".repeat(Number(/nindent (\d+)/.exec(line)?.[1] ?? 0));
    if (action === "end") scopes.pop();
    else if (action === "if" || action === "with") {
      const value = scope === null ? null : valueAt(values, path);
      scopes.push(isEmpty(value) ? null : value);
    } else if (scope === null) continue;
    else if (action === "toYaml")
      lines.push(...(scope as readonly unknown[]).map((each) => `${indent}- ${JSON.stringify(each)}`));
    else if (action === "include") lines.push(`${indent}app: selected`);
    else lines.push(line.replaceAll(/\{\{.*?\}\}/g, "name"));
  }
  return lines.join("\n");
}

function valueAt(values: Values, path: string): unknown {
  const names = path.replace(/^Values\./, "").split(".");
  return names.reduce<unknown>((value, name) => (value as Values | undefined)?.[name], values);
}

/** As Helm's `if` and `with`. */
function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === false || (Array.isArray(value) && value.length === 0);
}
