import type { CheckResult, Finding, Report } from "../../shared/report.ts";
import { paintStatus, printable } from "../terminal.ts";
import type { RenderOptions, ReportFormat } from "./report_format.ts";

const severityOrder = { high: 0, medium: 1, low: 2 } as const;
const statusOrder = { FAIL: 0, MANUAL: 1, PASS: 2 } as const;
const minWidth = 60;

/** For people: failures first, then what needs a person, each with what to look at; one line for each check that passes. */
export const tableFormat: ReportFormat = {
  name: "table",
  extension: "txt",
  isMachine: false,
  render(report, options) {
    const width = Math.max(options.width, minWidth);
    const checks = report.checks.toSorted(
      (a, b) => statusOrder[a.status] - statusOrder[b.status] || severityOrder[a.severity] - severityOrder[b.severity],
    );
    return [
      ...header(report),
      "",
      ...checks.flatMap((check) => checkLines(check, { ...options, width })),
      "",
      summary(report, options),
      "",
    ].join("\n");
  },
};

function header(report: Report): readonly string[] {
  const { scan } = report;
  const roles = { super_admin: "Super Administrator", read_only_admin: "Read-Only Administrator", unknown: "unknown" };
  return [
    `Scan ${scan.id} of ${printable(scan.org_url)} (${scan.engine} engine), ${scan.status}`,
    `Role: ${roles[scan.role]} · scopes granted: ${scan.granted_scopes.length} of ${scan.requested_scopes.length} · requests: ${scan.requests.total}`,
  ];
}

function checkLines(check: CheckResult, options: RenderOptions): readonly string[] {
  const label = `${paintStatus(check.status.padEnd(6), check.status, options)} ${check.vuln_id}  CAT ${check.category.padEnd(3)} ${check.check}`;
  const attested =
    check.attestation === null
      ? []
      : [
          indented(
            `attested ${check.attestation.status} by ${check.attestation.by}: ${check.attestation.reason}`,
            options,
          ),
        ];
  if (check.status === "PASS") return [label, ...attested];
  const open = check.findings.filter((finding) => finding.status !== "PASS");
  return [label, ...open.map((finding) => indented(findingText(finding), options)), ...attested];
}

function findingText(finding: Finding): string {
  const reason = finding.reason === null ? "" : ` (${finding.reason})`;
  const waived = finding.waiver === null ? "" : ` [waived: ${finding.waiver.reason}]`;
  const change = finding.change === null ? "" : ` [${finding.change}]`;
  return `${finding.status}${reason} ${finding.detail}${waived}${change}`;
}

function summary(report: Report, options: RenderOptions): string {
  const { pass, fail, manual } = report.summary;
  return [
    paintStatus(`${pass} passed`, "PASS", options),
    paintStatus(`${fail} failed`, "FAIL", options),
    paintStatus(`${manual} for a person`, "MANUAL", options),
  ].join(", ");
}

/** Wraps at word boundaries under the check's name. */
function indented(text: string, options: RenderOptions): string {
  const margin = " ".repeat(7);
  const lines: string[] = [];
  let line = "";
  for (const word of printable(text).split(" ")) {
    if (line !== "" && line.length + 1 + word.length > options.width - margin.length) {
      lines.push(line);
      line = "";
    }
    line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line].map((wrapped) => margin + wrapped).join("\n");
}
