import type { CheckResult, Finding, Milestone, Plan, Report } from "../../shared/report.ts";
import { controlsOf } from "../catalog/controls.ts";
import { orgNameOf, ruleOf } from "./benchmark_rules.ts";
import { toCsv } from "./csv.ts";
import { attestationLine, failureText, openFailuresOf, planLine } from "./result_text.ts";
import type { RenderOptions } from "./report_format.ts";

const columns = {
  weakness: ({ check }: PlanItem) => check.title,
  description: ({ description }: PlanItem) => description,
  control: ({ controls }: PlanItem) => controls.map(({ label }) => label).join("; "),
  source_id: ({ check, ccis }: PlanItem) => [check.vuln_id, check.rule_id, ...ccis].join("; "),
  check: ({ check }: PlanItem) => check.check,
  asset: ({ asset }: PlanItem) => asset,
  resource_type: ({ findings }: PlanItem) => listed(findings, ({ resource }) => resource.type),
  resource_id: ({ findings }: PlanItem) => listed(findings, ({ resource }) => resource.id),
  resource_name: ({ findings }: PlanItem) => listed(findings, ({ resource }) => resource.name),
  severity: ({ check }: PlanItem) => check.severity,
  category: ({ check }: PlanItem) => check.category,
  detected_first: ({ detectedFirst }: PlanItem) => detectedFirst,
  planned_date: ({ plan }: PlanItem) => plan?.remediation_date ?? "",
  overdue: ({ plan }: PlanItem) => String(plan?.overdue === true),
  milestones: ({ plan }: PlanItem) => (plan?.milestones ?? []).map(milestoneText).join("; "),
  status: () => "open",
  comments: ({ check, plan }: PlanItem) => commentsOf(plan, check),
  fingerprint: ({ findings }: PlanItem) => listed(findings, ({ fingerprint }) => fingerprint),
} as const;

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

/** Why the plan is as it is, whether its date has passed, and who attested the failure. */
function commentsOf(plan: Plan | null, check: CheckResult): string {
  return [plan === null ? "" : planLine(plan), attestationLine(check)].filter(Boolean).join(" ");
}

/** One entry for each finding, in the same order in every column; what a cell cannot hold is counted. */
function listed(findings: readonly Finding[], read: (finding: Finding) => string): string {
  const values = findings.map(read);
  let length = 0;
  const fitting = values.findIndex((value) => (length += value.length + 2) > maxListLength);
  if (fitting <= 0) return values.join("; ");
  return `${values.slice(0, fitting).join("; ")}; and ${values.length - fitting} more: see scan.csv`;
}

function milestoneText({ description, date }: Milestone): string {
  return date === null ? description : `${date} ${description}`;
}
