import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { historyOf } from "../../../scanner/history/history_input.ts";
import { textWidth } from "../../../command_line/terminal.ts";
import { reportedOrgPolicy } from "../../../scanner/org_policy/document.ts";
import type { Report } from "../../../shared/report.ts";
import type { History } from "../../../shared/schemas/history.ts";
import { callCommand } from "../../support/called_command.ts";
import { ownFolder } from "../../support/clean_up.ts";
import { aChange, anExplanation } from "../../support/change_builders.ts";
import { aDocument } from "../../support/org_policy_builder.ts";
import { aCheckResult, aFinding, aReport } from "../../support/report_builders.ts";

const now = Date.parse("2026-11-25T12:00:00.000Z");
const orgUrl = "https://acme.okta.com";
const idle = "signon_global_session_idle_timeout_15min";

/** A folder with these files; a value that is no text is written as JSON, an array as a line each. */
async function files(contents: Readonly<Record<string, unknown>>): Promise<string> {
  const place = await ownFolder();
  for (const [name, content] of Object.entries(contents)) {
    await mkdir(dirname(join(place, name)), { recursive: true });
    const lines = Array.isArray(content)
      ? content.map((line) => JSON.stringify(line)).join("\n")
      : JSON.stringify(content);
    await writeFile(join(place, name), typeof content === "string" ? content : lines);
  }
  return place;
}

function run(place: string, flags: Readonly<Record<string, string>> = {}, ...org: readonly string[]) {
  const options = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]);
  const args = ["history", ...org, "--from-reports", ".", ...options];
  return callCommand(args, { cwd: place, nowMs: () => now });
}

async function read(place: string, flags: Readonly<Record<string, string>> = {}, ...org: readonly string[]) {
  const { stdout, stderr } = await run(place, { ...flags, format: "json" }, ...org);
  return { stderr, history: JSON.parse(stdout) as History };
}

function scan(
  status: "PASS" | "FAIL",
  started_at: string,
  ended_at: string,
  { rests_on, ...changes }: Partial<Report["scan"]> & { readonly rests_on?: string } = {},
): Report {
  const finding = aFinding({ status, ...(rests_on !== undefined && { rests_on }) });
  const report = aReport([aCheckResult({ findings: [finding] })]);
  return { ...report, scan: { ...report.scan, id: crypto.randomUUID(), started_at, ended_at, ...changes } };
}

const line = (seen_at: string, from: "PASS" | "FAIL" | null, to: "PASS" | "FAIL", rest = {}) => ({
  ...aChange({
    seen_at,
    from: from === null ? null : { status: from, reason: null },
    to: { status: to, reason: null },
    rule: { status: to, reason: null, severity: "high" },
    ...rest,
  }),
  schema: "scanstream.change/1",
  org_url: orgUrl,
  monitor_id: "7b0a6f0e-6f3c-4a0c-9a46-3f4c0d7a1b12",
});
const watch = (from: string, to: string) => ({ schema: "scanstream.watch/1", org_url: orgUrl, from, to });

describe("history --from-reports", () => {
  it("joins scans and a follower: intervals, and exposures with who and how long", async () => {
    const ben = anExplanation({ actor: { id: "2", type: "User", login: "ben@acme.example", name: "Ben" } });
    const place = await files({
      "monday/scan.json": scan("PASS", "2026-11-23T01:00:00.000Z", "2026-11-23T01:01:00.000Z"),
      "changes.ndjson": [
        line("2026-11-24T10:00:00.000Z", null, "PASS", { cause: "start", explained_by: [] }),
        line("2026-11-24T11:00:00.000Z", "PASS", "FAIL"),
        line("2026-11-24T12:30:00.000Z", "FAIL", "PASS", { explained_by: [ben] }),
        watch("2026-11-24T09:59:00.000Z", "2026-11-24T11:30:00.000Z"),
        watch("2026-11-24T12:00:00.000Z", "2026-11-24T13:00:00.000Z"),
      ],
    });
    const { history, stderr } = await read(place, { days: "3" });
    expect(stderr).toBe("");
    expect(history).toMatchObject({
      schema: "scanstream.history/1",
      from: "2026-11-23T00:00:00.000Z",
      to: "2026-11-25T12:00:00.000Z",
      organizations: [{ org_url: orgUrl, rules: [{ check: idle, vuln_id: "V-273186", severity: "high" }] }],
    });
    const { intervals = [] } = history.organizations[0]?.rules[0] ?? {};
    expect(intervals.map(({ from, status, reason }) => [from, status, reason])).toEqual([
      ["2026-11-23T00:00:00.000Z", "UNKNOWN", null],
      ["2026-11-23T01:00:00.000Z", "PASS", null],
      ["2026-11-23T01:01:00.000Z", "UNKNOWN", null],
      ["2026-11-24T10:00:00.000Z", "PASS", null],
      ["2026-11-24T11:00:00.000Z", "FAIL", null],
      ["2026-11-24T11:30:00.000Z", "UNKNOWN", null],
      ["2026-11-24T12:00:00.000Z", "FAIL", null],
      ["2026-11-24T12:30:00.000Z", "PASS", null],
      ["2026-11-24T13:00:00.000Z", "UNKNOWN", null],
    ]);
    const table = await run(place, { days: "3" });
    expect(table.stdout).toContain("Known for each rule on average: 2 h 31 min of 2 d 12 h (4.1 %)");
    expect(table.stdout).toMatch(/V-273186 CAT I +PASS 11-24 +✓✗·/);
    expect(table.stdout.replaceAll(/\s+/g, " ")).toContain(
      "1 h to 1 h 30 min; opened by Ada Admin (admin@acme.example), closed by Ben (ben@acme.example)",
    );
    for (const text of table.stdout.split("\n")) expect(textWidth(text), text).toBeLessThanOrEqual(100);
  });

  it("names each version of the document on which results rest", async () => {
    const resting = (day: string, rests_on: string) =>
      scan("PASS", `2026-11-${day}T01:00:00.000Z`, `2026-11-${day}T01:01:00.000Z`, { rests_on });
    const changed = reportedOrgPolicy(aDocument, "2026-11-25", () => "ab");
    const place = await files({
      "a.json": resting("22", "version 1"),
      "b.json": resting("24", "version 2"),
      "c.json": { ...resting("25", "version 2"), org_policy: changed },
    });
    const { history } = await read(place, { days: "30" });
    expect(history.organizations[0]?.documents).toEqual([
      { document: "version 1", from: "2026-11-22T01:00:00.000Z", to: "2026-11-22T01:01:00.000Z", checks: [idle] },
      { document: "version 2", from: "2026-11-24T01:00:00.000Z", to: "2026-11-24T01:01:00.000Z", checks: [idle] },
      expect.objectContaining({ document: "version 2, SHA-256 ab" }),
    ]);
    const table = await run(place, { days: "2" });
    expect(table.stdout).toContain("version 2: V-273186 rested on it");
    expect(table.stdout).not.toContain("version 1");
  });

  it("names each file that it leaves out, and exits 2 where none is left", async () => {
    const bad = {
      "notes.txt": "mine",
      "scan.cklb": { evaluation: 1 },
      "future.json": scan("PASS", "2026-11-25T12:05:01.000Z", "2026-11-25T12:06:00.000Z"),
      "backwards.json": scan("PASS", "2026-11-24T01:00:00.000Z", "2026-11-24T00:59:59.000Z"),
      "old.json": scan("PASS", "2025-10-21T11:00:00.000Z", "2025-10-21T11:59:59.000Z"),
    };
    const { code, stdout, stderr } = await run(await files(bad));
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    for (const [name, reason] of [
      ["notes.txt", "neither a JSON report"],
      ["scan.cklb", "neither a JSON report"],
      ["future.json", "future"],
      ["backwards.json", "ends before it begins"],
      ["old.json", "400 days"],
    ] as const)
      expect(stderr.split("\n").find((text) => text.includes(name))).toContain(reason);
    const edge = {
      "ahead.json": scan("PASS", "2026-11-25T12:05:00.000Z", "2026-11-25T12:06:00.000Z"),
      "oldest.json": scan("FAIL", "2025-10-21T12:00:00.000Z", "2025-10-21T12:00:00.000Z"),
    };
    expect(await run(await files(edge))).toMatchObject({ code: 0, stderr: "" });
  });

  it("takes a change file without watch lines, and a line that a crash has cut", async () => {
    const text = [
      JSON.stringify(line("2026-11-24T10:00:00.000Z", null, "PASS", { cause: "start" })),
      JSON.stringify(line("2026-11-24T11:00:00.000Z", "PASS", "FAIL")),
      '{"schema":"scanstream.chan',
    ].join("\n");
    const { history, stderr } = await read(await files({ "changes.ndjson": text }), { days: "2" });
    expect(stderr).toMatch(/line 3 left out/);
    expect(stderr).toMatch(/from its first to its last line counts as known/);
    const rule = history.organizations[0]?.rules[0];
    expect(rule?.intervals.map(({ status }) => status)).toEqual(["UNKNOWN", "PASS", "UNKNOWN"]);
    expect(rule?.exposures).toMatchObject([{ closed: null, least_seconds: 0, most_seconds: 90_000 }]);
  });

  it("shows the organizations and rules that are named", async () => {
    const place = await files({
      "a.json": scan("PASS", "2026-11-24T01:00:00.000Z", "2026-11-24T01:01:00.000Z"),
      "b.json": scan("FAIL", "2026-11-24T01:00:00.000Z", "2026-11-24T01:01:00.000Z", {
        org_url: "https://Globex.okta.com:8443",
      }),
    });
    for (const name of ["globex", "globex.okta.com", "https://globex.okta.com:8443/"]) {
      const { history } = await read(place, {}, name);
      expect(history.organizations.map((one) => one.org_url)).toEqual(["https://globex.okta.com:8443"]);
    }
    expect((await run(place, {}, "initech")).stderr).toMatch(/expected one of https:\/\/acme.okta.com/);
    const { stdout } = await run(place, { rule: "V-279692,V-273186", format: "csv", days: "1" });
    expect(stdout.split("\r\n").filter((row) => row.includes("V-279692"))).toHaveLength(2);
    expect((await run(place, { rule: "V-1" })).stderr).toMatch(/unknown rule/);
    for (const days of ["0", "401", "1.5", "x"]) expect((await run(place, { days })).stderr).toMatch(/1 to 400/);
    for (const days of ["1", "400"]) expect(await run(place, { days })).toMatchObject({ code: 0 });
  });
});

it("takes any number of findings that rest on one document", () => {
  const [from, to] = [now - 2000, now - 1000];
  const documented = Array.from({ length: 200_000 }, () => ({ document: "version 1", check: idle, from, to }));
  const organization = { orgUrl, scans: new Map(), monitors: [], vulnIds: new Map(), documented };
  const [{ documents } = {}] = historyOf([organization], { from, to: now }, null).organizations;
  expect(documents).toMatchObject([{ document: "version 1", checks: [idle] }]);
});
