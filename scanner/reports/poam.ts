import type { Finding, Milestone, Report } from "../../shared/report.ts";
import { orgNameOf } from "./benchmark_rules.ts";
import { toCsv } from "./csv.ts";
import { attestationLine, planLine } from "./result_text.ts";
import { planItems, type PlanItem } from "./plan_items.ts";
import { revisionOf, type ReportFormat } from "./report_format.ts";

interface Row extends PlanItem {
  readonly report: Report;
}

const columns = {
  weakness: ({ check }: Row) => check.title,
  description: ({ description }: Row) => description,
  control: ({ controls }: Row) => controls.map(({ label }) => label).join("; "),
  source_id: ({ check, ccis }: Row) => [check.vuln_id, check.rule_id, ...ccis].join("; "),
  check: ({ check }: Row) => check.check,
  asset: ({ report }: Row) => orgNameOf(report),
  resource_type: ({ findings }: Row) => listed(findings, ({ resource }) => resource.type),
  resource_id: ({ findings }: Row) => listed(findings, ({ resource }) => resource.id),
  resource_name: ({ findings }: Row) => listed(findings, ({ resource }) => resource.name),
  severity: ({ check }: Row) => check.severity,
  category: ({ check }: Row) => check.category,
  detected_first: ({ detectedFirst }: Row) => detectedFirst,
  planned_date: ({ plan }: Row) => plan?.remediation_date ?? "",
  overdue: ({ plan }: Row) => String(plan?.overdue === true),
  milestones: ({ plan }: Row) => (plan?.milestones ?? []).map(milestoneText).join("; "),
  status: () => "open",
  comments: ({ check, plan }: Row) => commentsOf({ check, plan }).join(" "),
  fingerprint: ({ findings }: Row) => listed(findings, ({ fingerprint }) => fingerprint),
} as const;

/** A cell of Excel holds 32,767 characters. */
const maxListLength = 30_000;

/** A plan of action and milestones as a spreadsheet: one line for the failures of a rule that no waiver covers. */
export const poamFormat: ReportFormat = {
  name: "poam",
  extension: "poam.csv",
  isMachine: true,
  render(report, options) {
    const rows = planItems(report, revisionOf(options), options.isPlanPerFinding).map((item) =>
      Object.values(columns).map((read) => read({ ...item, report })),
    );
    return toCsv(Object.keys(columns), rows);
  },
};

/** Why the plan is as it is, whether its date has passed, and who attested the failure. */
function commentsOf({ check, plan }: Pick<PlanItem, "check" | "plan">): readonly string[] {
  const lines = [plan === null ? "" : planLine(plan), attestationLine(check)];
  return lines.filter((line) => line !== "");
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
