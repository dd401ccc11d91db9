import type { CheckResult, Finding, Plan } from "../../shared/report.ts";
import { ruleOf } from "./benchmark_rules.ts";
import { stableUuid } from "../checklists/stable_uuid.ts";
import { waiverLine } from "./result_text.ts";
import { attestationUuid, observationUuid } from "./oscal_observations.ts";
import { namespace, ruleProps, textOr, toolOrigin, type OscalContext } from "./oscal_parts.ts";

/** One for each failure, waived or not. */
export function risksOf(context: OscalContext): readonly object[] {
  return context.report.checks.flatMap((check) => failuresOf(check).map((finding) => toRisk(check, finding, context)));
}

export function riskUuids(check: CheckResult, { report }: OscalContext): readonly string[] {
  return failuresOf(check).map((finding) => riskUuid(report.scan.id, check, finding));
}

/** Where only a person found a failure, the first finding of the check stands for it. */
function failuresOf({ status, attestation, findings }: CheckResult): readonly Finding[] {
  if (status === "FAIL") return findings.filter((finding) => finding.status === "FAIL");
  return attestation?.status === "FAIL" ? findings.slice(0, 1) : [];
}

function riskUuid(scanId: string, { check }: CheckResult, { fingerprint }: Finding): string {
  return stableUuid("risk", scanId, check, fingerprint);
}

function toRisk(check: CheckResult, finding: Finding, context: OscalContext): object {
  const { report } = context;
  const uuid = riskUuid(report.scan.id, check, finding);
  const isAttested = check.status !== "FAIL";
  const observation = isAttested ? attestationUuid(report, check) : observationUuid(report, check, finding);
  return {
    uuid,
    title: textOr(`${check.vuln_id} ${check.title}`, "Finding"),
    description: textOr(finding.detail, "Finding"),
    statement: finding.waiver === null ? textOr(check.title, "Finding") : textOr(waiverLine(finding.waiver), "waived"),
    props: ruleProps([check], context),
    status: finding.waived ? "deviation-approved" : "open",
    characterizations: [
      {
        origin: toolOrigin(context),
        facets: [{ name: "severity", system: namespace, value: check.severity }],
      },
    ],
    ...(finding.plan === undefined ? {} : { deadline: toTime(finding.plan.remediation_date) }),
    remediations: [
      recommendation(check, uuid, context),
      ...(finding.plan === undefined ? [] : [planned(finding.plan, uuid)]),
    ],
    "related-observations": [{ "observation-uuid": observation }],
  };
}

function recommendation(check: CheckResult, riskId: string, { revision }: OscalContext): object {
  return {
    uuid: stableUuid("recommendation", riskId),
    lifecycle: "recommendation",
    title: "DISA's fix",
    description: ruleOf(check, revision)?.fix_text || textOr(check.title, "Remediate the finding"),
  };
}

function planned({ reason, remediation_date: date, milestones }: Plan, riskId: string): object {
  const tasks = milestones.map((milestone, index) => ({
    uuid: stableUuid("milestone", riskId, String(index)),
    type: "milestone",
    title: textOr(milestone.description, "Milestone"),
    ...(milestone.date === null ? {} : { timing: { "on-date": { date: toTime(milestone.date) } } }),
  }));
  return {
    uuid: stableUuid("planned", riskId),
    lifecycle: "planned",
    title: textOr(`Planned by ${date}`, "Planned"),
    description: textOr(reason, "Planned"),
    ...(tasks.length === 0 ? {} : { tasks }),
  };
}

/** A day lasts until its end. */
function toTime(date: string): string {
  return date.includes("T") ? date : `${date}T23:59:59Z`;
}
