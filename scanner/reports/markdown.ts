import type { CheckResult, Report } from "../../shared/report.ts";
import { attestationLine, findingLine } from "./disposition.ts";
import { hostOf } from "./benchmark_rules.ts";
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
      `# Scan of ${escape(hostOf(report))}`,
      "",
      `**${summary.fail} failed**, ${summary.manual} for a person, ${summary.pass} passed · ${scan.status} ${scan.ended_at} · role \`${scan.role}\` · scan \`${scan.id}\``,
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
    `Against scan \`${baseline.scan_id}\`: ${baseline.new} new, ${baseline.unchanged} unchanged, ${baseline.resolved} resolved.`,
  ];
}

function checkRow(check: CheckResult): string {
  const verdict = `${check.status}${check.reason === null ? "" : ` (${check.reason})`}`;
  return `| ${icons[check.status]} | \`${check.check}\` | ${check.vuln_id} · ${check.stig_id} | ${check.category} | ${verdict}${waivedNote(check)} |`;
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
    `## ${icons[check.status]} ${check.vuln_id} ${escape(check.title)}`,
    "",
    ...findings.slice(0, maxListed).map((finding) => `- ${escape(findingLine(finding))}`),
    ...(findings.length > maxListed ? [`- and ${findings.length - maxListed} more`] : []),
    ...(attestation === "" ? [] : ["", escape(attestation)]),
    "",
  ];
}

/** Names come from the provider: nothing in them becomes markup, a link, or a mention. */
function escape(text: string): string {
  return text
    .replace(/[\r\n]+/g, " ")
    .replace(/[\\`*_{}[\]()#+!|~-]/g, String.raw`\$&`)
    .replace(/&/g, "&amp;")
    .replace(/</g, "&lt;")
    .replace(/>/g, "&gt;")
    .replace(/@/g, "@\u200b");
}
