import type { Milestone, Report } from "../../shared/report.ts";
import { hostOf } from "./benchmark_rules.ts";
import { toCsv } from "./csv.ts";
import { attestationLine, planLine } from "./disposition.ts";
import { planItems, type PlanItem } from "./plan_items.ts";
import { revisionOf, type ReportFormat } from "./report_format.ts";

interface Row extends PlanItem {
  readonly report: Report;
}

const columns = {
  weakness: ({ check }: Row) => check.title,
  description: ({ finding }: Row) => finding.detail,
  control: ({ controls }: Row) => controls.map(({ label }) => label).join("; "),
  source_id: ({ check, ccis }: Row) => [check.vuln_id, check.rule_id, ...ccis].join("; "),
  check: ({ check }: Row) => check.check,
  asset: ({ report }: Row) => hostOf(report),
  resource_type: ({ finding }: Row) => finding.resource.type,
  resource_id: ({ finding }: Row) => finding.resource.id,
  resource_name: ({ finding }: Row) => finding.resource.name,
  severity: ({ check }: Row) => check.severity,
  category: ({ check }: Row) => check.category,
  detected_first: ({ detectedFirst }: Row) => detectedFirst,
  planned_date: ({ plan }: Row) => plan?.remediation_date ?? "",
  overdue: ({ plan }: Row) => String(plan?.overdue === true),
  milestones: ({ plan }: Row) => (plan?.milestones ?? []).map(milestoneText).join("; "),
  status: () => "open",
  comments: ({ check, plan }: Row) => commentsOf({ check, plan }).join(" "),
  fingerprint: ({ finding }: Row) => finding.fingerprint,
} as const;

/** A plan of action and milestones as a spreadsheet: one line for each failure that no waiver covers. */
export const poamFormat: ReportFormat = {
  name: "poam",
  extension: "poam.csv",
  isMachine: true,
  render(report, options) {
    const rows = planItems(report, revisionOf(options)).map((item) =>
      Object.values(columns).map((read) => read({ ...item, report })),
    );
    return toCsv(Object.keys(columns), rows);
  },
};

/** Why the plan is as it is, whether its date has passed, and who attested the failure. */
export function commentsOf({ check, plan }: Pick<PlanItem, "check" | "plan">): readonly string[] {
  const lines = [plan === null ? "" : planLine(plan), attestationLine(check)];
  return lines.filter((line) => line !== "");
}

function milestoneText({ description, date }: Milestone): string {
  return date === null ? description : `${date} ${description}`;
}
