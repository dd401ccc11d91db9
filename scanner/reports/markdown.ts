import type { CheckResult, ControlResult, Finding, Report } from "../../shared/report.ts";
import { attestationLine, findingMarks, tailoringLine, verdictOf } from "./disposition.ts";
import { hostOf, isCompanyRule } from "./benchmark_rules.ts";
import { controlResults, countBaselines } from "./controls.ts";
import { markdownCell, markdownText } from "./markdown_text.ts";
import { countOverdue } from "./plan_items.ts";
import type { ReportFormat } from "./report_format.ts";

const icons = { PASS: "✅", FAIL: "❌", MANUAL: "✋" } as const;
/** Findings of one check that are listed before "and N more". */
const maxListed = 50;

/** For pull requests, wikis and job summaries. */
export const markdownFormat: ReportFormat = {
  name: "markdown",
  extension: "md",
  isMachine: false,
  render(report) {
    const { scan, summary, checks } = report;
    const open = checks.filter((check) => check.status !== "PASS" || check.tailoring !== undefined);
    return [
      `# Scan of ${markdownText(hostOf(report))}`,
      "",
      `**${summary.fail} failed**, ${summary.manual} for a person, ${summary.pass} passed · ${scan.status} ${markdownText(scan.ended_at)} · role \`${scan.role}\` · scan ${markdownText(scan.id)}`,
      ...comparisonLines(report),
      ...overdueLines(report),
      "",
      "| | check | STIG | category | verdict |",
      "|---|---|---|---|---|",
      ...checks.map(checkRow),
      "",
      ...open.flatMap(checkSection),
      ...controlSection(report),
    ].join("\n");
  },
};

function overdueLines(report: Report): readonly string[] {
  const overdue = countOverdue(report);
  return overdue === 0 ? [] : ["", `**${overdue} past the planned remediation date.**`];
}

/** The same verdicts by control, for those who read by NIST SP 800-53. */
function controlSection(report: Report): readonly string[] {
  const results = controlResults(report);
  if (results.length === 0) return [];
  return [
    "## Controls",
    "",
    `Of ${markdownText("NIST SP 800-53 rev. 5")}, as far as the rules of the STIG examine them.`,
    "",
    ...countBaselines(results).map(
      ({ baseline, counts }) =>
        `- ${baseline} baseline: **${counts.fail} failed**, ${counts.manual} for a person, ${counts.pass} passed`,
    ),
    "",
    "| | control | title | baselines | checks |",
    "|---|---|---|---|---|",
    ...results.map(controlRow),
    "",
  ];
}

function controlRow({ status, label, title, baselines, checks }: ControlResult): string {
  const names = checks.map((name) => markdownCell(name)).join(", ");
  return `| ${icons[status]} | ${markdownCell(label)} | ${markdownCell(title)} | ${baselines.join(", ") || "none"} | ${names} |`;
}

function comparisonLines({ baseline }: Report): readonly string[] {
  if (baseline === null) return [];
  return [
    "",
    `Against scan ${markdownText(baseline.scan_id)}: ${baseline.new} new, ${baseline.unchanged} unchanged, ${baseline.resolved} resolved.`,
  ];
}

function checkRow(check: CheckResult): string {
  const [name, ...ids] = [check.check, ...new Set([check.vuln_id, check.stig_id])].map(markdownCell);
  const level = isCompanyRule(check) ? check.severity : check.category;
  return `| ${icons[check.status]} | ${name} | ${ids.join(" · ")} | ${level} | ${markdownText(verdictOf(check))}${waivedNote(check)} |`;
}

function waivedNote(check: CheckResult): string {
  const waived = check.findings.filter((finding) => finding.waived).length;
  const attested = check.attestation === null ? "" : `, attested ${check.attestation.status}`;
  return `${waived === 0 ? "" : `, ${waived} waived`}${attested}`;
}

function checkSection(check: CheckResult): readonly string[] {
  const findings = check.findings.filter((finding) => finding.status !== "PASS");
  const attestation = attestationLine(check);
  return [
    `## ${icons[check.status]} ${markdownText(`${check.vuln_id} ${check.title}`)}`,
    "",
    ...findings.slice(0, maxListed).map(findingItem),
    ...(findings.length > maxListed ? [`- and ${findings.length - maxListed} more`] : []),
    ...[tailoringLine(check), attestation].flatMap((line) => (line === "" ? [] : ["", markdownText(line)])),
    "",
  ];
}

function findingItem(finding: Finding): string {
  const texts = [`${verdictOf(finding)}: ${finding.detail}`, ...findingMarks(finding)];
  return `- ${texts.map(markdownText).join(" · ")}`;
}
