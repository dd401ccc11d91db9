import type { CheckResult, Finding, FindingResource, Report } from "../../shared/report.ts";
import { ruleOf } from "./benchmark_rules.ts";
import { stableUuid } from "../checklists/stable_uuid.ts";
import { attestationLine, findingLine, verdictOf } from "./result_text.ts";
import { oscalProps, ruleProps, textOr, toolOrigin, type OscalContext } from "./oscal_parts.ts";

/** One for each finding, regardless of its verdict, and one for each attestation. */
export function observationsOf(context: OscalContext): readonly object[] {
  return context.report.checks.flatMap((check) => [
    ...check.findings.map((finding) => toObservation(check, finding, context)),
    ...(check.attestation === null ? [] : [attestationObservation(check, context)]),
  ]);
}

export function observationUuid({ scan }: Report, { check }: CheckResult, { fingerprint }: Finding): string {
  return stableUuid("observation", scan.id, check, fingerprint);
}

export function attestationUuid({ scan }: Report, { check }: CheckResult): string {
  return stableUuid("attestation", scan.id, check);
}

export function resourceUuid({ scan }: Report, { type, id }: FindingResource): string {
  return stableUuid("resource", scan.id, type, id);
}

function toObservation(check: CheckResult, finding: Finding, context: OscalContext): object {
  const { report } = context;
  return {
    uuid: observationUuid(report, check, finding),
    title: textOr(`${verdictOf(finding)}: ${check.title}`, finding.status),
    description: findingLine(finding),
    props: [
      ...ruleProps([check], context),
      ...oscalProps([
        ["check", check.check],
        ["verdict", finding.status],
        ["reason", finding.reason ?? ""],
        ["fingerprint", finding.fingerprint],
        ["waived", String(finding.waived)],
      ]),
    ],
    methods: ["TEST"],
    types: ["control-objective"],
    origins: [toolOrigin(context)],
    subjects: [{ "subject-uuid": resourceUuid(report, finding.resource), type: "inventory-item" }],
    "relevant-evidence": [{ description: evidenceOf(check, context) }],
    collected: report.scan.ended_at,
    remarks: textOr(`Expected: ${finding.expected}. Found: ${finding.actual}.`, "No details"),
  };
}

/** A person's word, next to what the API showed. */
function attestationObservation(check: CheckResult, context: OscalContext): object {
  const { report } = context;
  return {
    uuid: attestationUuid(report, check),
    title: textOr(`Attestation: ${check.title}`, "Attestation"),
    description: attestationLine(check),
    props: [...ruleProps([check], context), ...oscalProps([["attested-by", check.attestation?.by ?? ""]])],
    methods: ["EXAMINE"],
    types: ["control-objective"],
    collected: report.scan.ended_at,
  };
}

function evidenceOf(check: CheckResult, { report: { scan }, revision }: OscalContext): string {
  const scopes = ruleOf(check, revision)?.scopes ?? [];
  const read = scopes.length === 0 ? "" : ` with the scopes ${scopes.join(", ")}`;
  return `Answers of the provider's API${read}, read from ${scan.started_at} to ${scan.ended_at}.`;
}
