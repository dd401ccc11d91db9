import type { Finding, Report } from "../../shared/report.ts";
import { controlsOf } from "../catalog/controls.ts";
import { orgNameOf, ruleOf, type RenderOptions } from "./report_format.ts";
import { toCsv } from "./csv.ts";
import { attestationLine, failureText, openFailuresOf, planLine } from "./result_text.ts";

const columns: Readonly<Record<string, (item: PlanItem) => string>> = {
  weakness: ({ check }) => check.title,
  description: ({ description }) => description,
  control: ({ controls }) => controls.map(({ label }) => label).join("; "),
  source_id: ({ check, ccis }) => [check.vuln_id, check.rule_id, ...ccis].join("; "),
  check: ({ check }) => check.check,
  asset: ({ asset }) => asset,
  resource_type: ({ findings }) => listed(findings, ({ resource }) => resource.type),
  resource_id: ({ findings }) => listed(findings, ({ resource }) => resource.id),
  resource_name: ({ findings }) => listed(findings, ({ resource }) => resource.name),
  severity: ({ check }) => check.severity,
  category: ({ check }) => check.category,
  detected_first: ({ detectedFirst }) => detectedFirst,
  planned_date: ({ plan }) => plan?.remediation_date ?? "",
  overdue: ({ plan }) => String(plan?.overdue === true),
  milestones: ({ plan }) =>
    (plan?.milestones ?? [])
      .map(({ date, description }) => (date === null ? description : `${date} ${description}`))
      .join("; "),
  status: () => "open",
  comments: ({ check, plan }) =>
    [plan === null ? "" : planLine(plan), attestationLine(check)].filter(Boolean).join(" "),
  fingerprint: ({ findings }) => listed(findings, ({ fingerprint }) => fingerprint),
};

/** A cell of Excel holds 32,767 characters. */
const maxListLength = 30_000;

/** A plan of action and milestones as a spreadsheet: one line for the failures of a rule that no waiver covers. */
export function renderPoam(report: Report, options: RenderOptions): string {
  const rows = planItems(report, options).map((item) => Object.values(columns).map((read) => read(item)));
  return toCsv(Object.keys(columns), rows);
}

type PlanItem = ReturnType<typeof planItems>[number];

/** The weaknesses in the order of the report: the open failures of a rule that have one plan, or each one. */
function planItems(report: Report, { revision, isPlanPerFinding = false }: RenderOptions) {
  return report.checks.flatMap((check) => {
    const rule = ruleOf(check, revision);
    const groups = Map.groupBy(openFailuresOf(check), (finding) =>
      isPlanPerFinding ? finding : JSON.stringify(finding.plan ?? null),
    );
    return [...groups.values()].flatMap(([first, ...others]) => {
      if (first === undefined) return [];
      const findings = [first, ...others];
      const resources = others.length === 0 ? "" : `${findings.length} resources fail. The first: `;
      return {
        asset: orgNameOf(report),
        check,
        findings,
        description: failureText(check, `${resources}${first.detail}`),
        plan: first.plan ?? null,
        controls: rule === undefined ? [] : controlsOf(rule),
        ccis: rule?.ccis ?? [],
        detectedFirst: earliest(findings.map((finding) => finding.detected_first ?? report.scan.ended_at)),
      };
    });
  });
}

/** Times may have different offsets. */
function earliest(times: readonly string[]): string {
  return times.reduce((first, time) => (Date.parse(time) < Date.parse(first) ? time : first));
}

/** One entry for each finding, in the same order in every column; what a cell cannot hold is counted. */
function listed(findings: readonly Finding[], read: (finding: Finding) => string): string {
  const values = findings.map(read);
  let length = 0;
  const fitting = values.findIndex((value) => (length += value.length + 2) > maxListLength);
  if (fitting <= 0) return values.join("; ");
  return `${values.slice(0, fitting).join("; ")}; and ${values.length - fitting} more: the report as CSV lists them`;
}
