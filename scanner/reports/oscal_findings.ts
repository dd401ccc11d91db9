import type { CheckResult, ControlResult } from "../../shared/report.ts";
import { stateOf } from "../../shared/rule_result.ts";
import { stableUuid } from "../checklists/stable_uuid.ts";
import { attestationUuid, observationUuid } from "./oscal_observations.ts";
import { oscalProps, ruleProps, type OscalContext } from "./oscal_parts.ts";
import { riskUuids } from "./oscal_risks.ts";

const states = {
  PASS: { state: "satisfied", reason: "pass" },
  FAIL: { state: "not-satisfied", reason: "fail" },
} as const;

/** One for each control that is met or is not; where that is for a person to say none exists. */
export function controlFindings(context: OscalContext, controls: readonly ControlResult[]): readonly object[] {
  return controls.flatMap((control) => {
    const { status } = control;
    return status === "MANUAL" ? [] : [toFinding({ ...control, status }, context)];
  });
}

interface DecidedControl extends ControlResult {
  readonly status: "PASS" | "FAIL";
}

function toFinding(control: DecidedControl, context: OscalContext): object {
  const { id, label, title, status, baselines } = control;
  const { report } = context;
  const wanted = status === "PASS" ? "pass" : "fail";
  const checks = report.checks.filter((check) => control.checks.includes(check.check) && stateOf(check) === wanted);
  const observations = checks.flatMap((check) => evidenceOf(check, status, context));
  const risks = checks.flatMap((check) => riskUuids(check, context));
  return {
    uuid: stableUuid("finding", report.scan.id, id),
    title: `${label} ${title}`,
    description: `${checks.map(({ vuln_id: vulnId }) => vulnId).join(", ")}: ${status === "PASS" ? "met, as far as the STIG examines the control" : "not met"}.`,
    props: [
      ...ruleProps(checks, context),
      ...oscalProps([["control-id", id], ...baselines.map((baseline) => ["baseline", baseline] as const)]),
    ],
    target: { type: "objective-id", "target-id": `${id}_obj`, status: states[status] },
    ...(observations.length === 0 ? {} : { "related-observations": observations.map(toReference("observation-uuid")) }),
    ...(risks.length === 0 ? {} : { "related-risks": risks.map(toReference("risk-uuid")) }),
  };
}

/** The observations that decided the check: the findings of that verdict, or the attestation. */
function evidenceOf(check: CheckResult, status: DecidedControl["status"], { report }: OscalContext): readonly string[] {
  const decisive = check.findings.filter((finding) => finding.status === status);
  const isAttested = check.attestation?.status === status;
  return [
    ...decisive.map((finding) => observationUuid(report, check, finding)),
    ...(isAttested ? [attestationUuid(report, check)] : []),
  ];
}

function toReference(name: string): (uuid: string) => object {
  return (uuid) => ({ [name]: uuid });
}
