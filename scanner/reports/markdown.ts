import { countOf, outcomeText } from "../../shared/outcome_text.ts";
import { vulnIdOf } from "../../shared/rule_names.ts";
import type { CheckResult, ControlResult, Finding, Report } from "../../shared/report.ts";
import { stateOf } from "../../shared/rule_result.ts";
import { attestationLine, findingMarks, tailoringLine, verdictOf, worstFirst } from "./result_text.ts";
import { revisionName, type Revision } from "../catalog/catalog.ts";
import { levelOf, orgNameOf } from "./benchmark_rules.ts";
import { controlResults, countBaselines } from "./controls.ts";
import { changeLines } from "./cause_lines.ts";
import { markdownCell, markdownText } from "./markdown_text.ts";
import { shownChecks, shownLine, revisionOf, type ReportFormat } from "./report_format.ts";
import { interruptedLine, orgPolicyText, roleText, splitInterrupted, summaryParts } from "./summary_parts.ts";

const icons = { pass: "✅", fail: "❌", manual: "✋", not_applicable: "➖" } as const;
/** Findings of one check that are listed before "and N more". */
const maxListed = 50;

/** For pull requests, wikis and job summaries. */
export const markdownFormat: ReportFormat = {
  name: "markdown",
  extension: "md",
  isMachine: false,
  render(report, options) {
    const { scan } = report;
    const checks = shownChecks(report.checks, options).toSorted(worstFirst);
    const onlyShown = shownLine(report.checks, options);
    const { reached, interrupted } = splitInterrupted(checks);
    const shown = reached.filter(
      (check) => check.status !== "PASS" || stateOf(check) !== "pass" || check.tailoring !== undefined,
    );
    const [failed = "", ...others] = summaryParts(report).map(({ text }) => text);
    return [
      `# Scan of ${markdownText(orgNameOf(report))}`,
      "",
      `**${failed}**; ${others.join("; ")} · STIG ${revisionName(revisionOf(options).benchmark)} · ${scan.status} ${markdownText(scan.ended_at)} · role: ${roleText(report)} · scan ${markdownText(scan.id)}`,
      ...[orgPolicyText(report)].filter((line) => line !== "").flatMap((line) => ["", markdownText(line)]),
      ...comparisonLines(report),
      ...(onlyShown === "" ? [] : ["", `${markdownText(onlyShown)}.`]),
      ...causeSection(report),
      "",
      "| | rule | title | category | result |",
      "|---|---|---|---|---|",
      ...checks.map(checkRow),
      "",
      ...shown.flatMap(checkSection),
      ...(interrupted.length === 0 ? [] : [markdownText(interruptedLine(interrupted)), ""]),
      ...controlSection(report, revisionOf(options)),
    ].join("\n");
  },
};

/** The changes, first what closes most rules. */
function causeSection(report: Report): readonly string[] {
  const { headline, changes } = changeLines(report);
  if (changes.length === 0) return [];
  return [
    "",
    `**${headline}:**`,
    "",
    ...changes
      .slice(0, maxListed)
      .map(({ number, change, closes, id }) => `${number}. ${markdownText(change)} (${closes}; \`${id}\`)`),
    ...(changes.length > maxListed ? ["", `And ${changes.length - maxListed} more.`] : []),
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
    ...countBaselines(results).map(
      ({ baseline, total, counts }) =>
        `- ${countOf(total, "control")} of the ${baseline} baseline: ${outcomeText((state) => counts[state])}`,
    ),
    "",
    "| | control | title | baselines | rules |",
    "|---|---|---|---|---|",
    ...results.map(controlRow),
    "",
  ];
}

function controlRow({ label, title, baselines, checks, ...verdict }: ControlResult): string {
  const names = checks.map((name) => markdownCell(vulnIdOf(name))).join(", ");
  return `| ${icons[stateOf(verdict)]} | ${markdownCell(label)} | ${markdownCell(title)} | ${baselines.join(", ") || "none"} | ${names} |`;
}

function comparisonLines({ baseline }: Report): readonly string[] {
  if (baseline === null) return [];
  return [
    "",
    `Against scan ${markdownText(baseline.scan_id)}: ${baseline.new} new, ${baseline.unchanged} unchanged, ${baseline.resolved} resolved.`,
  ];
}

function checkRow(check: CheckResult): string {
  const ids = [check.vuln_id, check.stig_id].map(markdownCell);
  return `| ${icons[stateOf(check)]} | ${ids.join(" · ")} | ${markdownCell(check.title)} | ${levelOf(check)} | ${markdownText(verdictOf(check))}${waivedNote(check)} |`;
}

function waivedNote(check: CheckResult): string {
  const waived = check.findings.filter((finding) => finding.waived).length;
  const attested = check.attestation === null ? "" : `, attested ${check.attestation.status}`;
  return `${waived === 0 ? "" : `, ${countOf(waived, "finding")} waived`}${attested}`;
}

function checkSection(check: CheckResult): readonly string[] {
  const findings = check.findings.filter((finding) => finding.status !== "PASS");
  const attestation = attestationLine(check);
  return [
    `## ${icons[stateOf(check)]} ${markdownText(`${check.vuln_id} ${levelOf(check)} ${check.title}`)}`,
    "",
    ...findings.slice(0, maxListed).map(findingItem),
    ...(findings.length > maxListed ? [`- and ${findings.length - maxListed} more findings`] : []),
    ...[tailoringLine(check), attestation].flatMap((line) => (line === "" ? [] : ["", markdownText(line)])),
    "",
  ];
}

function findingItem(finding: Finding): string {
  const texts = [`${verdictOf(finding)}: ${finding.detail}`, ...findingMarks(finding)];
  return `- ${texts.map(markdownText).join(" · ")}`;
}
