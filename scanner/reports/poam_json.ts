import { orgNameOf } from "./benchmark_rules.ts";
import { toJson } from "./json.ts";
import { planItems } from "./plan_items.ts";
import { commentsOf } from "./poam.ts";
import { revisionOf, type ReportFormat } from "./report_format.ts";

/** The plan of action and milestones for programs: the lines of `poam`, with lists and ids of their own. */
export const poamJsonFormat: ReportFormat = {
  name: "poam-json",
  extension: "poam.json",
  isMachine: true,
  render(report, options) {
    const { id, org_url, ended_at } = report.scan;
    const items = planItems(report, revisionOf(options), options.isPlanPerFinding).map(
      ({ check, findings, description, plan, controls, ccis, detectedFirst }) => ({
        weakness: check.title,
        description,
        controls: controls.map((control) => ({
          id: control.id,
          label: control.label,
          title: control.title,
          baselines: control.baselines,
        })),
        source_ids: { vuln_id: check.vuln_id, rule_id: check.rule_id, stig_id: check.stig_id, ccis },
        check: check.check,
        asset: orgNameOf(report),
        resources: findings.map(({ resource }) => resource),
        severity: check.severity,
        category: check.category,
        detected_first: detectedFirst,
        planned_date: plan?.remediation_date ?? null,
        overdue: plan?.overdue === true,
        milestones: plan?.milestones ?? [],
        status: "open",
        comments: commentsOf({ check, plan }).join(" "),
        fingerprints: findings.map(({ fingerprint }) => fingerprint),
      }),
    );
    return `${toJson({ schema: "scanstream.poam/1", scan: { id, org_url, ended_at }, items }, 2)}\n`;
  },
};
