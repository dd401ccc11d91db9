import type { CheckResult, ControlResult, Plan, Report } from "../../shared/report.ts";
import { failuresOf, stateOf } from "../../shared/rule_result.ts";
import { toLine } from "../../shared/text.ts";
import { revisionName, type Revision } from "../catalog/catalog.ts";
import { controls } from "../catalog/controls.ts";
import { stableUuid } from "../checklists/stable_uuid.ts";
import { idsOf, orgNameOf, ruleOf, toJson, type RenderOptions } from "./report_format.ts";
import { controlResults } from "./controls.ts";
import { attestationLine, findingLine, verdictOf, waiverLine } from "./result_text.ts";

const namespace = "https://scanstream.dev/ns/oscal";
const maxTextLength = 10_000;

/** Input of every part of the document. */
interface OscalContext extends RenderOptions {
  readonly report: Report;
  /** A UUID of this scan: the same parts give the same one. */
  readonly uuidOf: (kind: string, ...parts: readonly string[]) => string;
  /** Origin of an observation or a risk: scanstream. */
  readonly origin: object;
}

/**
 * OSCAL 1.2.1 assessment results (https://pages.nist.gov/OSCAL/reference/1.2.1/assessment-results/): an observation for each
 * finding, a risk for each failure, and a finding for each control of NIST SP 800-53 rev. 5 that is met or is not. What is
 * for a person to judge is an observation only.
 */
export function renderOscal(report: Report, options: RenderOptions): string {
  const { scan } = report;
  const { benchmark } = options.revision;
  const standard = `${benchmark.title} ${revisionName(benchmark)}`;
  const title = toLine(`Scan of ${orgNameOf(report)} against ${standard}`, 1000);
  const uuidOf = (kind: string, ...parts: readonly string[]) => stableUuid(kind, scan.id, ...parts);
  const plan = {
    uuid: uuidOf("plan"),
    title: standard,
    description: "The rules that were assessed stand for an assessment plan: each is examined as its check says.",
    rlinks: [{ href: "https://public.cyber.mil/stigs/" }],
  };
  const origin = { actors: [{ type: "tool", "actor-uuid": uuidOf("tool") }] };
  return toJson({
    "assessment-results": {
      uuid: uuidOf("assessment-results"),
      metadata: { title, "last-modified": scan.ended_at, version: scan.id, "oscal-version": "1.2.1" },
      "import-ap": { href: `#${plan.uuid}` },
      results: [resultOf(title, { report, ...options, uuidOf, origin })],
      "back-matter": { resources: [plan] },
    },
  });
}

function resultOf(title: string, context: OscalContext): object {
  const { report, revision, uuidOf } = context;
  const { scan, checks } = report;
  const reviewed = controlResults(report, revision);
  const ended =
    scan.status === "completed"
      ? "Every selected rule was examined."
      : "The scan ended before every selected rule was examined.";
  const selected =
    reviewed.length === 0
      ? "No rule was examined; these are the controls of NIST SP 800-53 rev. 5 that the rules name."
      : "The controls of NIST SP 800-53 rev. 5 that the examined rules name.";
  return {
    uuid: uuidOf("result"),
    title,
    description: `Verdicts from what the provider's API answered to ${scan.requests.total} requests. ${ended}`,
    start: scan.started_at,
    end: scan.ended_at,
    props: oscalProps({ "scan-id": scan.id, "org-url": scan.org_url, role: scan.role, engine: scan.engine }),
    "local-definitions": localDefinitions(context),
    "reviewed-controls": {
      "control-selections": [
        {
          description: selected,
          "include-controls": (reviewed.length === 0 ? controls : reviewed).map(({ id }) => ({ "control-id": id })),
        },
      ],
    },
    ...withoutEmpty({
      observations: checks.flatMap((check) => observationsOf(check, context)),
      risks: checks.flatMap((check) => risksOf(check, context)),
      findings: reviewed.filter(({ status }) => status !== "MANUAL").map((control) => controlFinding(control, context)),
    }),
  };
}

/** OSCAL's schema wants an entry in each list that is there. */
function withoutEmpty(lists: Readonly<Record<string, readonly object[]>>): object {
  return Object.fromEntries(Object.entries(lists).filter(([, items]) => items.length > 0));
}

function localDefinitions({ report, uuidOf, toolVersion }: OscalContext): object {
  const resources = report.checks.flatMap((check) => check.findings.map((finding) => finding.resource));
  const byUuid = new Map(resources.map((resource) => [uuidOf("resource", resource.type, resource.id), resource]));
  const items = [...byUuid].map(([uuid, { type, id, name }]) => ({
    uuid,
    description: textOr(name, "unnamed"),
    props: oscalProps({ "resource-type": type, "resource-id": id, asset: orgNameOf(report) }),
  }));
  const tool = {
    uuid: uuidOf("tool"),
    type: "software",
    title: "scanstream",
    description: "Reads the configuration of an identity provider through its API and judges it by DISA's STIG.",
    props: [{ name: "software-version", value: textOr(toolVersion, "unknown") }],
    status: { state: "operational" },
  };
  return {
    ...withoutEmpty({ "inventory-items": items }),
    "assessment-assets": {
      components: [tool],
      "assessment-platforms": [{ uuid: uuidOf("platform"), "uses-components": [{ "component-uuid": tool.uuid }] }],
    },
  };
}

/** One for each finding, regardless of its verdict, and one for an attestation: a person's word, next to what the API showed. */
function observationsOf(check: CheckResult, context: OscalContext): readonly object[] {
  const { report, revision, uuidOf } = context;
  const { scan } = report;
  const scopes = ruleOf(check, revision)?.scopes ?? [];
  const read = scopes.length === 0 ? "" : ` with the scopes ${scopes.join(", ")}`;
  const ofRule = ruleProps(check, revision);
  const ofFindings = check.findings.map((finding) => {
    const { status, reason, resource, fingerprint, waived, expected, actual } = finding;
    const verdict = { check: check.check, verdict: status, reason: reason ?? "", fingerprint, waived: String(waived) };
    return {
      uuid: uuidOf("observation", check.check, fingerprint),
      title: textOr(`${verdictOf(finding)}: ${check.title}`, status),
      description: findingLine(finding),
      props: [...ofRule, ...oscalProps(verdict)],
      methods: ["TEST"],
      types: ["control-objective"],
      origins: [context.origin],
      subjects: [{ "subject-uuid": uuidOf("resource", resource.type, resource.id), type: "inventory-item" }],
      "relevant-evidence": [
        { description: `Answers of the provider's API${read}, read from ${scan.started_at} to ${scan.ended_at}.` },
      ],
      collected: scan.ended_at,
      remarks: textOr(`Expected: ${expected}. Found: ${actual}.`, "No details"),
    };
  });
  if (check.attestation === null) return ofFindings;
  const attested = {
    uuid: uuidOf("attestation", check.check),
    title: textOr(`Attestation: ${check.title}`, "Attestation"),
    description: attestationLine(check),
    props: [...ofRule, ...oscalProps({ "attested-by": check.attestation.by })],
    methods: ["EXAMINE"],
    types: ["control-objective"],
    collected: scan.ended_at,
  };
  return [...ofFindings, attested];
}

/** One for each failure, waived or not. */
function risksOf(check: CheckResult, context: OscalContext): readonly object[] {
  const { revision, uuidOf } = context;
  return failuresOf(check).map(({ fingerprint, detail, waived, plan, waiver }) => {
    const uuid = uuidOf("risk", check.check, fingerprint);
    const isAttested = check.status !== "FAIL";
    const observation = isAttested
      ? uuidOf("attestation", check.check)
      : uuidOf("observation", check.check, fingerprint);
    const recommendation = {
      uuid: stableUuid("recommendation", uuid),
      lifecycle: "recommendation",
      title: "DISA's fix",
      description: ruleOf(check, revision)?.fix_text || textOr(check.title, "Remediate the finding"),
    };
    const facets = [{ name: "severity", system: namespace, value: check.severity }];
    return {
      uuid,
      title: textOr(`${check.vuln_id} ${check.title}`, "Finding"),
      description: textOr(detail, "Finding"),
      statement: waiver === null ? textOr(check.title, "Finding") : textOr(waiverLine(waiver), "waived"),
      props: ruleProps(check, revision),
      status: waived ? "deviation-approved" : "open",
      characterizations: [{ origin: context.origin, facets }],
      ...(plan === undefined ? {} : { deadline: toTime(plan.remediation_date) }),
      remediations: [recommendation, ...(plan === undefined ? [] : [plannedRemediation(plan, uuid)])],
      "related-observations": [{ "observation-uuid": observation }],
    };
  });
}

function plannedRemediation({ reason, remediation_date: date, milestones }: Plan, riskId: string): object {
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
    ...withoutEmpty({ tasks }),
  };
}

/** One for a control that is met or is not: the rest is for a person to say. */
function controlFinding(control: ControlResult, { report, revision, uuidOf }: OscalContext): object {
  const { id, label, title, status, baselines } = control;
  const [state, reason, words] =
    status === "PASS"
      ? (["satisfied", "pass", "met, as far as the STIG examines the control"] as const)
      : (["not-satisfied", "fail", "not met"] as const);
  const checks = report.checks.filter((check) => control.checks.includes(check.check) && stateOf(check) === reason);
  // The findings of that verdict decided the check, or the attestation did.
  const observations = checks.flatMap(({ check, findings, attestation }) => [
    ...findings
      .filter((finding) => finding.status === status)
      .map(({ fingerprint }) => uuidOf("observation", check, fingerprint)),
    ...(attestation?.status === status ? [uuidOf("attestation", check)] : []),
  ]);
  const risks = checks.flatMap((check) =>
    failuresOf(check).map(({ fingerprint }) => uuidOf("risk", check.check, fingerprint)),
  );
  return {
    uuid: uuidOf("finding", id),
    title: `${label} ${title}`,
    description: `${idsOf(checks)}: ${words}.`,
    props: [
      ...checks.flatMap((check) => ruleProps(check, revision)),
      ...oscalProps({ "control-id": id }),
      ...baselines.flatMap((baseline) => oscalProps({ baseline })),
    ],
    target: { type: "objective-id", "target-id": `${id}_obj`, status: { state, reason } },
    ...withoutEmpty({
      "related-observations": observations.map((uuid) => ({ "observation-uuid": uuid })),
      "related-risks": risks.map((uuid) => ({ "risk-uuid": uuid })),
    }),
  };
}

/** Properties in a namespace of our own; those without a value are left out, as the schema wants one. */
function oscalProps(values: Readonly<Record<string, string>>): readonly object[] {
  return Object.entries(values).flatMap(([name, text]) => {
    const value = textOr(text, "");
    return value === "" ? [] : [{ name, ns: namespace, value }];
  });
}

/** The ids of a rule: V-, SV-, STIG and CCIs. */
function ruleProps(check: CheckResult, revision: Revision): readonly object[] {
  const ids = { "vuln-id": check.vuln_id, "rule-id": check.rule_id, "stig-id": check.stig_id };
  return [...oscalProps(ids), ...(ruleOf(check, revision)?.ccis ?? []).flatMap((cci) => oscalProps({ cci }))];
}

/** Text that must not be empty. */
function textOr(text: string, otherwise: string): string {
  const line = toLine(text, maxTextLength).trim();
  return line === "" ? otherwise : line;
}

/** A day lasts until its end. */
function toTime(date: string): string {
  return date.includes("T") ? date : `${date}T23:59:59Z`;
}
