import { countOf } from "../../shared/outcome_text.ts";
import type { CheckResult, ControlResult, Finding, Report } from "../../shared/report.ts";
import { stateOf } from "../../shared/rule_result.ts";
import { failuresFirst, findingMarks, ruleDecisions, stateLabels, verdictOf } from "./result_text.ts";
import type { Revision } from "../catalog/catalog.ts";
import { levelOf, orgNameOf, type RenderOptions } from "./report_format.ts";
import { baselineLines, controlResults, vulnIdsOf } from "./controls.ts";
import { markdownCell, markdownText } from "./markdown_text.ts";
import { changeLines, listRules, statementRows, summaryParts } from "./statement.ts";

const icons = { pass: "✅", fail: "❌", manual: "✋", not_applicable: "➖" } as const;
/** Findings of one check that are listed before "and N more". */
const maxListed = 50;

/** The sections of the HTML report in its order, for pull requests, wikis and job summaries. */
export function renderMarkdown(report: Report, options: RenderOptions): string {
  const { listed, reached, interruptedLine, selectionLine } = listRules(report, options);
  const shown = reached.filter(
    (check) => check.status !== "PASS" || stateOf(check) !== "pass" || check.tailoring !== undefined,
  );
  const [failed = "", ...others] = summaryParts(report).map(({ text }) => text);
  return [
    `# STIG assessment of ${markdownText(orgNameOf(report))}`,
    "",
    `**${failed}**; ${others.join("; ")}.`,
    "",
    ...statementRows(report, options).map(([name, text]) => `- ${name}: ${markdownText(text)}`),
    "",
    ...(selectionLine === "" ? [] : [`${markdownText(selectionLine)}.`, ""]),
    "| | rule | title | category | result |",
    "|---|---|---|---|---|",
    ...listed.map(ruleRow),
    "",
    ...shown.flatMap(ruleSection),
    ...(interruptedLine === "" ? [] : [markdownText(interruptedLine), ""]),
    ...planSection(report),
    ...controlSection(report, options.revision),
  ].join("\n");
}

/** The changes, first what closes most rules. */
function planSection(report: Report): readonly string[] {
  const { headline, changes, left } = changeLines(report, maxListed);
  if (changes.length === 0) return [];
  return [
    "## The plan",
    "",
    `${headline}:`,
    "",
    ...changes.map(({ number, change, closes, id }) => `${number}. ${markdownText(change)} (${closes}; \`${id}\`)`),
    ...(left > 0 ? ["", `And ${left} more.`] : []),
    "",
  ];
}

/** The same verdicts by control, for those who read by NIST SP 800-53. */
function controlSection(report: Report, revision: Revision): readonly string[] {
  const results = controlResults(report, revision);
  if (results.length === 0) return [];
  return [
    "## Controls",
    "",
    `Of ${markdownText("NIST SP 800-53 rev. 5")}, as far as the rules of the STIG examine them.`,
    "",
    ...baselineLines(results).map((line) => `- ${line}`),
    "",
    "| | control | title | baselines | rules |",
    "|---|---|---|---|---|",
    ...results.map((control) => controlRow(control, report)),
    "",
  ];
}

function controlRow(control: ControlResult, report: Report): string {
  const { label, title, baselines } = control;
  const ids = vulnIdsOf(control, report).map(markdownCell).join(", ");
  return `| ${icons[stateOf(control)]} | ${markdownCell(label)} | ${markdownCell(title)} | ${baselines.join(", ") || "none"} | ${ids} |`;
}

function ruleRow(check: CheckResult): string {
  const ids = [check.vuln_id, check.stig_id].map(markdownCell);
  const state = stateOf(check);
  const attested = `${state === "not_applicable" ? "Not Applicable" : stateLabels[state]}, attested`;
  const result = markdownText(check.attestation === null ? verdictOf(check) : attested);
  const waived = check.findings.filter((finding) => finding.waived).length;
  const note = waived === 0 ? "" : `, ${countOf(waived, "finding")} waived`;
  return `| ${icons[state]} | ${ids.join(" · ")} | ${markdownCell(check.title)} | ${levelOf(check)} | ${result}${note} |`;
}

function ruleSection(check: CheckResult): readonly string[] {
  const findings = failuresFirst(check.findings).filter(({ status }) => status !== "PASS");
  return [
    `## ${icons[stateOf(check)]} ${markdownText(`${check.vuln_id} ${levelOf(check)} ${check.title}`)}`,
    "",
    ...findings.slice(0, maxListed).map(findingItem),
    ...(findings.length > maxListed ? [`- and ${findings.length - maxListed} more findings`] : []),
    ...ruleDecisions(check).flatMap((line) => ["", markdownText(line)]),
    "",
  ];
}

function findingItem(finding: Finding): string {
  const texts = [`${verdictOf(finding)}: ${finding.detail}`, ...findingMarks(finding)];
  return `- ${texts.map(markdownText).join(" · ")}`;
}
