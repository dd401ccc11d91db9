import type { CheckResult, Finding, Report } from "../../shared/report.ts";
import { attestationLine, findingMarks, verdictOf } from "./disposition.ts";
import { hostOf } from "./benchmark_rules.ts";
import { markdownCell, markdownText } from "./markdown_text.ts";
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
    const open = checks.filter((check) => check.status !== "PASS");
    return [
      `# Scan of ${markdownText(hostOf(report))}`,
      "",
      `**${summary.fail} failed**, ${summary.manual} for a person, ${summary.pass} passed · ${scan.status} ${markdownText(scan.ended_at)} · role \`${scan.role}\` · scan ${markdownText(scan.id)}`,
      ...comparisonLines(report),
      "",
      "| | check | STIG | category | verdict |",
      "|---|---|---|---|---|",
      ...checks.map(checkRow),
      "",
      ...open.flatMap(checkSection),
    ].join("\n");
  },
};

function comparisonLines({ baseline }: Report): readonly string[] {
  if (baseline === null) return [];
  return [
    "",
    `Against scan ${markdownText(baseline.scan_id)}: ${baseline.new} new, ${baseline.unchanged} unchanged, ${baseline.resolved} resolved.`,
  ];
}

function checkRow(check: CheckResult): string {
  const ids = [check.check, check.vuln_id, check.stig_id].map(markdownCell);
  return `| ${icons[check.status]} | ${ids[0]} | ${ids[1]} · ${ids[2]} | ${check.category} | ${markdownText(verdictOf(check))}${waivedNote(check)} |`;
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
    ...(attestation === "" ? [] : ["", markdownText(attestation)]),
    "",
  ];
}

function findingItem(finding: Finding): string {
  const texts = [`${verdictOf(finding)}: ${finding.detail}`, ...findingMarks(finding)];
  return `- ${texts.map(markdownText).join(" · ")}`;
}
