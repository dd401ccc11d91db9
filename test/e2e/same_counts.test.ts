import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { indexDecisions } from "../../gateway/web/model/decisions/decision_index.ts";
import { toFinding, toScanned, type Finding } from "../../gateway/web/model/finding.ts";
import { toPlan } from "../../gateway/web/model/plan.ts";
import { countRules, toRules } from "../../gateway/web/model/rules.ts";
import { firstState, toChangeLine } from "../../scanner/follow/changes.ts";
import { compareWithKnown } from "../../scanner/follow/verdicts.ts";
import { stateLabels } from "../../scanner/reports/result_text.ts";
import { toFindingCreated } from "../../scanner/streaming/finding_created.ts";
import type { Report, StatusCounts } from "../../shared/report.ts";
import { countStates, ruleStates, stateOf, type RuleState } from "../../shared/rule_result.ts";
import { callCommand } from "../support/called_command.ts";
import { draftOrgPolicy } from "../../scanner/org_policy/draft.ts";
import { aDocument } from "../support/org_policy_builder.ts";
import { scanPracticeOrg } from "../support/scan_practice_org.ts";
import { ownFolder } from "../support/clean_up.ts";
import { startOrg } from "../practice_org/start_org.ts";

/** One run says one thing: each consumer is counted by what it shows, and compared with the others. */

const folder = await ownFolder();

for (const [profile, role] of [
  ["typical", "super"],
  ["typical", "read-only"],
  ["compliant", "super"],
] as const) {
  const org = await startOrg({ profile: { name: profile }, role });
  const { document } = await scanPracticeOrg(org);
  await write(`${profile}-${role}.json`, document);
  if (role !== "super") continue;
  const signed = { ...aDocument, org_url: org.url, api_tokens: undefined, okta_subdomain: undefined };
  // The typical org meets a looser one of them, and fails a stricter one.
  const limits = { admin_console_idle_minutes: 30, password_history: 24, global_session_idle_minutes: 30 };
  await write(`${profile}_limits.json`, { ...signed, limits });
  await write("org_policy.json", { ...draftOrgPolicy(document, aDocument.approved_on), ...signed });
}
const advised = JSON.parse(await read("compliant-super.json")) as Streaming;
advised.artifacts.log_streams.value.push({ id: "0oa9", name: "Other", type: "aws_eventbridge", status: "PAUSED" });
await write("advised.json", advised);
const until = { by: "A. Person", expires: "2099-01-01" };
await write("waivers.json", [{ check: "V-273195", reason: "accepted", ...until }]);
await write("attestations.json", [
  { check: "V-279692", status: "PASS", reason: "compared", ...until },
  { check: "V-273187", status: "NOT_APPLICABLE", reason: "no console", ...until },
  { check: "V-279690", status: "FAIL", reason: "a shared account", ...until },
  { check: "V-279690", reason: "accepted", ...until },
]);
await evaluate("typical-read-only", ["--format", "json,cklb", "--output", "before"]);
const cklb = await read("before/scan.cklb");
await writeFile(join(folder, "edited.cklb"), cklb.replaceAll('"not_reviewed"', '"not_a_finding"'));

test.each<[what: string, evidence: string, options: readonly string[]]>([
  ["an organization", "typical-super", []],
  ["one that complies", "compliant-super", []],
  ["a role that sees less", "typical-read-only", []],
  ["a finding that does not change the result of its rule", "advised", []],
  ["waivers", "typical-super", ["--decisions", "waivers.json"]],
  ["attestations", "typical-read-only", ["--decisions", "attestations.json"]],
  ["own limits", "compliant-super", ["--org-policy", "compliant_limits.json"]],
  ["own limits that are met", "typical-super", ["--org-policy", "typical_limits.json"]],
  ["the organization's document", "compliant-super", ["--org-policy", "org_policy.json"]],
  ["an edited checklist", "typical-read-only", ["--checklist", "edited.cklb"]],
  ["a baseline", "typical-super", ["--baseline", "before/scan.json"]],
])("%s: every consumer counts the same", async (_, evidence, options) => {
  await evaluate(evidence, ["--format", "all", "--output", "out", ...options]);
  const report = JSON.parse(await read("out/scan.json")) as Report;
  const counts = countStates(report.checks);
  expect(sum(counts)).toBe(29);
  const { pass, fail, manual, not_applicable } = report.summary;
  const screen = await evaluate(evidence, options);
  const [failed = "", ...others] = /^.*\*\*(.*)$/m.exec(await read("out/scan.md")) ?? [];
  const text = stripped(await read("out/scan.html"));
  const { ofScan, ofMonitor, plan } = pageCounts(report);
  expect(plan, "the changes of the page's plan").toEqual(report.causes.map(({ id }) => id));
  expect([ofScan.waived, ofMonitor.waived]).toEqual([report.summary.waived, report.summary.waived]);

  const consumers = {
    summary: { pass, fail, manual, not_applicable },
    "the first screen": countWords(screen.stdout, /^CAT I+: .*$/gm),
    "the list": countWords(
      await read("out/scan.txt"),
      new RegExp(`^(?:${Object.values(stateLabels).join("|")}) +V-\\d+`, "gm"),
    ),
    markdown: ofSentence([failed, ...others].join(" ")),
    html: ofSentence(text),
    cklb: await countIn("cklb", /^ +"status": "(\w+)"/gm),
    ckl: await countIn("ckl", /<STATUS>(\w+)</g),
    xccdf: await countIn("xccdf.xml", /<result>(\w+)</g),
    hdf: ofWords((JSON.parse(await read("out/scan.hdf.json")) as Hdf).profiles[0]?.controls.map(hdfStatus) ?? []),
    junit: await countIn("junit.xml", /<testcase[^>]*>\s*(<failure|<system-out>|<skipped message="[^:"]*)/g),
    "the page": ofScan,
    "the page while a monitor watches": ofMonitor,
  };
  for (const [consumer, found] of Object.entries(consumers)) expect(found, consumer).toMatchObject(counts);

  const gate = await evaluate(evidence, [...options, "--fail-on", "manual", "--allow-unread"]);
  const counted = report.checks.filter(
    (check) =>
      ["fail", "manual"].includes(stateOf(check)) &&
      !check.findings.every(({ waived, status }) => waived || status === "PASS"),
  );
  expect(gate.code).toBe(counted.length === 0 ? 0 : 1);
});

const words: Readonly<Record<string, RuleState>> = {
  not_a_finding: "pass",
  open: "fail",
  not_reviewed: "manual",
  not_applicable: "not_applicable",
  NotAFinding: "pass",
  Open: "fail",
  Not_Reviewed: "manual",
  Not_Applicable: "not_applicable",
  pass: "pass",
  fail: "fail",
  notchecked: "manual",
  notapplicable: "not_applicable",
  "<system-out>": "pass",
  "<failure": "fail",
  '<skipped message="not applicable': "not_applicable",
};

function ofWords(found: readonly (string | undefined)[]): StatusCounts {
  const counts = { ...countStates([]) };
  for (const word of found) counts[words[word ?? ""] ?? "manual"] += 1;
  return counts;
}

/** `1 FAIL, 2 MANUAL` on a line, or a line for each. */
function countWords(text: string, lines: RegExp): StatusCounts {
  const counts = { ...countStates([]) };
  for (const [line] of text.matchAll(lines)) {
    for (const state of ruleStates) {
      for (const [, count = "1"] of line.matchAll(new RegExp(`(?:(\\d+) |^)${stateLabels[state]}`, "g")))
        counts[state] += Number(count);
    }
  }
  return counts;
}

function ofSentence(text: string): StatusCounts {
  const number = (pattern: RegExp) => Number(pattern.exec(text)?.[1]);
  return {
    pass: number(/(?<!part of )\b(\d+) passed/),
    fail: number(/(\d+) of \d+ rules failed/),
    manual: number(/(\d+) rules? needs? manual review/),
    not_applicable: number(/(\d+) N\/A/),
  };
}

async function countIn(extension: string, pattern: RegExp): Promise<StatusCounts> {
  return ofWords([...(await read(`out/scan.${extension}`)).matchAll(pattern)].map(([, word]) => word));
}

interface Streaming {
  readonly artifacts: { readonly log_streams: { readonly value: object[] } };
}

interface Hdf {
  readonly profiles: readonly { readonly controls: readonly HdfControl[] }[];
}

interface HdfControl {
  readonly impact: number;
  readonly results: readonly { readonly status: string }[];
}

/** As heimdall calls a control. */
function hdfStatus({ impact, results }: HdfControl): RuleState {
  const statuses = results.map(({ status }) => status);
  if (impact === 0) return "not_applicable";
  if (statuses.includes("failed")) return "fail";
  return statuses.includes("passed") ? "pass" : "manual";
}

/** As the page counts the findings that the scan and a monitor publish, at a gateway that keeps no decision. */
function pageCounts({ scan: { id, org_url, started_at: created_at }, checks }: Report) {
  vi.stubGlobal("CHECK_CATALOG", {});
  const scanned = checks.flatMap((result) =>
    result.findings.map((finding) => toScanned({ ...toFindingCreated(id, result, finding), created_at })),
  );
  const watched = checks.flatMap((result) => {
    const { status, reason, severity } = result;
    const facts = { id, org_url, monitor_id: id, rule: { status, reason, severity }, seen_at: created_at };
    return compareWithKnown([], result, () => null).flatMap((move) => {
      const line = toChangeLine(move, { ...facts, ...firstState });
      return toFinding({ ...line, created_at }, undefined) ?? [];
    });
  });
  const decisions = indexDecisions([], { orgUrl: org_url, nowMs: Date.parse(created_at) });
  const rulesOf = (findings: readonly Finding[]) =>
    toRules({ findings, results: [], changes: [], history: null }, decisions);
  const { changes } = toPlan(rulesOf(watched), decisions);
  const plan = changes.flatMap(({ id, number }) => (number === null ? [] : [id]));
  return { ofScan: countRules(rulesOf(scanned)), ofMonitor: countRules(rulesOf(watched)), plan };
}

function stripped(html: string): string {
  return html.replaceAll(/<style>[^]*?<\/style>|<[^>]+>/g, " ").replaceAll(/\s+/g, " ");
}

function sum(counts: StatusCounts): number {
  return ruleStates.reduce((total, state) => total + counts[state], 0);
}

function evaluate(evidence: string, options: readonly string[]) {
  return callCommand(["evaluate", "--from-artifacts", `${evidence}.json`, ...options], { cwd: folder });
}

function write(name: string, value: unknown): Promise<void> {
  return writeFile(join(folder, name), JSON.stringify(value));
}

function read(name: string): Promise<string> {
  return readFile(join(folder, name), "utf8");
}
