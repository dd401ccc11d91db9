import { execFile } from "node:child_process";
import { copyFile, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { createScan, startTestGateway } from "../support/test_gateway.ts";
import { parsePromql } from "./promql.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");
const rulesFile = join(root, "deploy/prometheus/alerts.yml");

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
}

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly type: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly refId: string; readonly expr: string; readonly legendFormat: string }[];
}

const { groups } = parse(await readFile(rulesFile, "utf8")) as { readonly groups: readonly { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const dashboard = JSON.parse(await readFile(join(root, "deploy/grafana/scanstream.json"), "utf8")) as {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: unknown }[] };
};

/** `metric` to `label` to the values that were printed. */
const printed = new Map<string, Map<string, Set<string>>>();

beforeAll(async () => {
  const gateway = await startTestGateway();
  const scan = await createScan(gateway, gateway.acme);
  const as = `Api-Key ${gateway.acme.apiKey}`;
  await gateway.request(`/api/v1/channels/${scan.channel}/events`, { as, json: { type: "scan.progress", data: {} } });
  for (const line of (await (await gateway.request("/metrics")).text()).split("\n")) {
    const type = /^# TYPE (\S+)/.exec(line)?.[1];
    if (type !== undefined) printed.set(type, printed.get(type) ?? new Map());
    const [, name, labels = ""] = /^([a-z_]\w*)(?:\{(.*)\})? \S+$/i.exec(line) ?? [];
    if (name === undefined) continue;
    const ofMetric = printed.get(name) ?? new Map<string, Set<string>>();
    printed.set(name, ofMetric);
    for (const [, label = "", value = ""] of labels.matchAll(/(\w+)="([^"]*)"/g)) {
      ofMetric.set(label, (ofMetric.get(label) ?? new Set()).add(value));
    }
  }
  await gateway.stop();
});

/** What Prometheus adds by itself. */
const ownMetrics = new Set(["up"]);
const ownLabels = new Set(["job", "instance"]);

function expectPrinted(query: string): void {
  const { metrics, labels } = parsePromql(query.replaceAll("$__rate_interval", "5m"));
  expect(metrics.length).toBeGreaterThan(0);
  for (const metric of metrics) {
    if (!ownMetrics.has(metric)) expect([...printed.keys()], query).toContain(metric);
  }
  for (const { metric, name, value } of labels) {
    if (ownLabels.has(name)) continue;
    const values = (metric === null ? metrics : [metric]).map((each) => printed.get(each)?.get(name));
    expect(values[0], `${name} in ${query}`).toBeDefined();
    if (value !== null) expect([...(values[0] ?? [])], query).toContain(value);
  }
}

describe("alert rules", () => {
  test.each(rules.map((rule) => [rule.alert, rule] as const))("%s names what a gateway prints", (_name, { expr }) => {
    expectPrinted(expr);
  });

  test("are valid for Prometheus, and fire when they should", async () => {
    await run("promtool", ["check", "rules", rulesFile]);
    const folder = await mkdtemp(join(tmpdir(), "scanstream-"));
    await copyFile(rulesFile, join(folder, "alerts.yml"));
    await copyFile(join(import.meta.dirname, "alert_cases.yml"), join(folder, "alert_cases.yml"));
    const tested = await run("promtool", ["test", "rules", "alert_cases.yml"], { cwd: folder });
    expect(tested.stdout).toContain("SUCCESS");
    await rm(folder, { recursive: true });
  });

  test("each has a case in which it fires", async () => {
    const cases = await readFile(join(import.meta.dirname, "alert_cases.yml"), "utf8");
    expect(rules.map(({ alert }) => alert).filter((alert) => !cases.includes(`alertname="${alert}"`))).toEqual([]);
  });

  test("each has a place in the runbook, and the runbook has no other", async () => {
    const runbook = await readFile(join(root, "docs/operate.md"), "utf8");
    const headings = [...runbook.matchAll(/^#{2,4} (Scanstream\w+)$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual(rules.map(({ alert }) => alert));
    for (const { alert, annotations, labels } of rules) {
      expect(annotations.runbook_url).toBe(`docs/operate.md#${alert.toLowerCase()}`);
      expect(["critical", "warning"]).toContain(labels.severity);
    }
  });
});

describe("the dashboard", () => {
  const queries = dashboard.panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => [title, expr] as const),
  );

  test.each(queries)("%s names what a gateway prints: %s", (_title, query) => {
    expectPrinted(query);
  });

  test("shows every metric of the gateway's own", () => {
    const shown = new Set(
      queries.flatMap(([, query]) => parsePromql(query.replaceAll("$__rate_interval", "5m")).metrics),
    );
    const own = [...printed.keys()].filter((name) => name.startsWith("scanstream_"));
    const isShown = (name: string) => shown.has(name) || shown.has(`${name}_count`) || name.endsWith("_sum");
    expect(own.filter((name) => !isShown(name)).join()).toBe("");
  });

  test("has panels that do not overlap, each with an id of its own, and no unknown variable", () => {
    const { panels, templating } = dashboard;
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    for (const [index, { gridPos: a }] of panels.entries()) {
      expect(a.x + a.w).toBeLessThanOrEqual(24);
      const overlapping = panels.slice(index + 1).filter(({ gridPos: b }) => {
        return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
      });
      expect(overlapping.map(({ title }) => title)).toEqual([]);
    }
    const known = new Set([...templating.list.map(({ name }) => name), "__rate_interval"]);
    const used = [...JSON.stringify(dashboard).matchAll(/\$\{?(\w+)\}?/g)].map(([, name = ""]) => name);
    expect(used.filter((name) => !known.has(name))).toEqual([]);
  });
});

test.each(["sum by (", "rate(a[5m]", "a{b=1}", '{__name__=~"a"}'])("the parser refuses %s", (query) => {
  expect(() => parsePromql(query)).toThrow(SyntaxError);
});
