import type { CheckResult, ControlResult, Finding, FindingResource, Plan, Report } from "../../shared/report.ts";
import { stateOf } from "../../shared/rule_result.ts";
import { toLine } from "../../shared/text.ts";
import { revisionName, type Revision } from "../catalog/catalog.ts";
import { controls } from "../catalog/controls.ts";
import { stableUuid } from "../checklists/stable_uuid.ts";
import { orgNameOf, ruleOf } from "./benchmark_rules.ts";
import { controlResults } from "./controls.ts";
import { toJson } from "./json.ts";
import { revisionOf, type ReportFormat } from "./report_format.ts";
import { attestationLine, failuresOf, findingLine, verdictOf, waiverLine } from "./result_text.ts";

const namespace = "https://scanstream.dev/ns/oscal";
const maxTextLength = 10_000;

/** Input of every part of the document. */
interface OscalContext {
  readonly report: Report;
  readonly revision: Revision;
  readonly toolUuid: string;
  /** Title of the document and of its one result. */
  readonly title: string;
  readonly toolVersion: string;
}

/**
 * OSCAL 1.2.1 assessment results (https://pages.nist.gov/OSCAL/reference/1.2.1/assessment-results/): an observation for each
 * finding, a risk for each failure, and a finding for each control of NIST SP 800-53 rev. 5 that is met or is not. What is
 * for a person to judge is an observation only.
 */
export const oscalFormat: ReportFormat = {
  name: "oscal",
  extension: "oscal.json",
  isMachine: true,
  render(report, options) {
    const { scan } = report;
    const revision = revisionOf(options);
    const standard = `${revision.benchmark.title} ${revisionName(revision.benchmark)}`;
    const title = toLine(`Scan of ${orgNameOf(report)} against ${standard}`, 1000);
    const planUuid = stableUuid("plan", scan.id);
    const { toolVersion } = options;
    const document = {
      "assessment-results": {
        uuid: stableUuid("assessment-results", scan.id),
        metadata: {
          title,
          "last-modified": scan.ended_at,
          version: textOr(scan.id, "unknown"),
          "oscal-version": "1.2.1",
        },
        "import-ap": { href: `#${planUuid}` },
        results: [resultOf({ report, revision, title, toolVersion, toolUuid: stableUuid("tool", scan.id) })],
        "back-matter": {
          resources: [
            {
              uuid: planUuid,
              title: standard,
              description:
                "The rules that were assessed stand for an assessment plan: each is examined as its check says.",
              rlinks: [{ href: "https://public.cyber.mil/stigs/" }],
            },
          ],
        },
      },
    };
    return `${toJson(document)}\n`;
  },
};

function resultOf(context: OscalContext): object {
  const { report, revision, title } = context;
  const { scan } = report;
  const reviewed = controlResults(report, revision);
  const ended =
    scan.status === "completed"
      ? "Every selected rule was examined."
      : "The scan ended before every selected rule was examined.";
  return {
    uuid: stableUuid("result", scan.id),
    title,
    description: `Verdicts from what the provider's API answered to ${scan.requests.total} requests. ${ended}`,
    start: scan.started_at,
    end: scan.ended_at,
    props: oscalProps([
      ["scan-id", scan.id],
      ["org-url", scan.org_url],
      ["role", scan.role],
      ["engine", scan.engine],
    ]),
    "local-definitions": localDefinitions(context),
    "reviewed-controls": {
      "control-selections": [
        {
          description:
            reviewed.length === 0
              ? "No rule was examined; these are the controls of NIST SP 800-53 rev. 5 that the rules name."
              : "The controls of NIST SP 800-53 rev. 5 that the examined rules name.",
          "include-controls": (reviewed.length === 0 ? controls : reviewed).map(({ id }) => ({ "control-id": id })),
        },
      ],
    },
    ...listed(
      "observations",
      report.checks.flatMap((check) => observationsOf(check, context)),
    ),
    ...listed(
      "risks",
      report.checks.flatMap((check) => risksOf(check, context)),
    ),
    ...listed(
      "findings",
      reviewed.flatMap((control) => controlFindings(control, context)),
    ),
  };
}

/** OSCAL's schema wants an entry in each list that is there. */
function listed(name: string, items: readonly object[]): object {
  return items.length === 0 ? {} : { [name]: items };
}

function localDefinitions({ report, toolUuid, toolVersion }: OscalContext): object {
  const resources = report.checks.flatMap((check) => check.findings.map((finding) => finding.resource));
  const byUuid = new Map(resources.map((resource) => [resourceUuid(report, resource), resource]));
  const items = [...byUuid].map(([uuid, { type, id, name }]) => ({
    uuid,
    description: textOr(name, "unnamed"),
    props: oscalProps([
      ["resource-type", type],
      ["resource-id", id],
      ["asset", orgNameOf(report)],
    ]),
  }));
  return {
    ...listed("inventory-items", items),
    "assessment-assets": {
      components: [
        {
          uuid: toolUuid,
          type: "software",
          title: "scanstream",
          description: "Reads the configuration of an identity provider through its API and judges it by DISA's STIG.",
          props: [{ name: "software-version", value: textOr(toolVersion, "unknown") }],
          status: { state: "operational" },
        },
      ],
      "assessment-platforms": [
        { uuid: stableUuid("platform", report.scan.id), "uses-components": [{ "component-uuid": toolUuid }] },
      ],
    },
  };
}

/** One for each finding, regardless of its verdict, and one for an attestation. */
function observationsOf(check: CheckResult, context: OscalContext): readonly object[] {
  const attested = check.attestation === null ? [] : [attestationObservation(check, context)];
  return [...check.findings.map((finding) => observationOf(check, finding, context)), ...attested];
}

function observationOf(check: CheckResult, finding: Finding, context: OscalContext): object {
  const { report, revision, toolUuid } = context;
  const { scan } = report;
  const scopes = ruleOf(check, revision)?.scopes ?? [];
  const read = scopes.length === 0 ? "" : ` with the scopes ${scopes.join(", ")}`;
  return {
    uuid: observationUuid(report, check, finding),
    title: textOr(`${verdictOf(finding)}: ${check.title}`, finding.status),
    description: findingLine(finding),
    props: [
      ...ruleProps(check, revision),
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
    origins: [toolOrigin(toolUuid)],
    subjects: [{ "subject-uuid": resourceUuid(report, finding.resource), type: "inventory-item" }],
    "relevant-evidence": [
      { description: `Answers of the provider's API${read}, read from ${scan.started_at} to ${scan.ended_at}.` },
    ],
    collected: scan.ended_at,
    remarks: textOr(`Expected: ${finding.expected}. Found: ${finding.actual}.`, "No details"),
  };
}

/** A person's word, next to what the API showed. */
function attestationObservation(check: CheckResult, { report, revision }: OscalContext): object {
  return {
    uuid: attestationUuid(report, check),
    title: textOr(`Attestation: ${check.title}`, "Attestation"),
    description: attestationLine(check),
    props: [...ruleProps(check, revision), ...oscalProps([["attested-by", check.attestation?.by ?? ""]])],
    methods: ["EXAMINE"],
    types: ["control-objective"],
    collected: report.scan.ended_at,
  };
}

/** One for each failure, waived or not. */
function risksOf(check: CheckResult, context: OscalContext): readonly object[] {
  const { report, revision, toolUuid } = context;
  const isAttested = check.status !== "FAIL";
  return failuresOf(check).map((finding) => {
    const uuid = riskUuid(report, check, finding);
    const { plan, waiver } = finding;
    const observation = isAttested ? attestationUuid(report, check) : observationUuid(report, check, finding);
    const recommendation = {
      uuid: stableUuid("recommendation", uuid),
      lifecycle: "recommendation",
      title: "DISA's fix",
      description: ruleOf(check, revision)?.fix_text || textOr(check.title, "Remediate the finding"),
    };
    return {
      uuid,
      title: textOr(`${check.vuln_id} ${check.title}`, "Finding"),
      description: textOr(finding.detail, "Finding"),
      statement: waiver === null ? textOr(check.title, "Finding") : textOr(waiverLine(waiver), "waived"),
      props: ruleProps(check, revision),
      status: finding.waived ? "deviation-approved" : "open",
      characterizations: [
        {
          origin: toolOrigin(toolUuid),
          facets: [{ name: "severity", system: namespace, value: check.severity }],
        },
      ],
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
    ...listed("tasks", tasks),
  };
}

const targetStates = {
  PASS: { state: "satisfied", reason: "pass" },
  FAIL: { state: "not-satisfied", reason: "fail" },
} as const;

/** One for a control that is met or is not; none where that is for a person to say. */
function controlFindings(control: ControlResult, { report, revision }: OscalContext): readonly object[] {
  const { id, label, title, status, baselines } = control;
  if (status === "MANUAL") return [];
  const wanted = status === "PASS" ? "pass" : "fail";
  const checks = report.checks.filter((check) => control.checks.includes(check.check) && stateOf(check) === wanted);
  // The findings of that verdict decided the check, or the attestation did.
  const observations = checks.flatMap((check) => [
    ...check.findings
      .filter((finding) => finding.status === status)
      .map((finding) => observationUuid(report, check, finding)),
    ...(check.attestation?.status === status ? [attestationUuid(report, check)] : []),
  ]);
  const risks = checks.flatMap((check) => failuresOf(check).map((finding) => riskUuid(report, check, finding)));
  return [
    {
      uuid: stableUuid("finding", report.scan.id, id),
      title: `${label} ${title}`,
      description: `${checks.map(({ vuln_id: vulnId }) => vulnId).join(", ")}: ${status === "PASS" ? "met, as far as the STIG examines the control" : "not met"}.`,
      props: [
        ...checks.flatMap((check) => ruleProps(check, revision)),
        ...oscalProps([["control-id", id], ...baselines.map((baseline) => ["baseline", baseline] as const)]),
      ],
      target: { type: "objective-id", "target-id": `${id}_obj`, status: targetStates[status] },
      ...listed(
        "related-observations",
        observations.map((uuid) => ({ "observation-uuid": uuid })),
      ),
      ...listed(
        "related-risks",
        risks.map((uuid) => ({ "risk-uuid": uuid })),
      ),
    },
  ];
}

function observationUuid({ scan }: Report, { check }: CheckResult, { fingerprint }: Finding): string {
  return stableUuid("observation", scan.id, check, fingerprint);
}

function attestationUuid({ scan }: Report, { check }: CheckResult): string {
  return stableUuid("attestation", scan.id, check);
}

function resourceUuid({ scan }: Report, { type, id }: FindingResource): string {
  return stableUuid("resource", scan.id, type, id);
}

function riskUuid({ scan }: Report, { check }: CheckResult, { fingerprint }: Finding): string {
  return stableUuid("risk", scan.id, check, fingerprint);
}

/** Properties in a namespace of our own; those without a value are left out, as the schema wants one. */
function oscalProps(pairs: readonly (readonly [name: string, value: string])[]): readonly object[] {
  return pairs.flatMap(([name, text]) => {
    const value = textOr(text, "");
    return value === "" ? [] : [{ name, ns: namespace, value }];
  });
}

/** The ids of a rule: V-, SV-, STIG and CCIs. */
function ruleProps(check: CheckResult, revision: Revision): readonly object[] {
  return oscalProps([
    ["vuln-id", check.vuln_id],
    ["rule-id", check.rule_id],
    ["stig-id", check.stig_id],
    ...(ruleOf(check, revision)?.ccis ?? []).map((cci) => ["cci", cci] as const),
  ]);
}

/** Origin of an observation or a risk. */
function toolOrigin(toolUuid: string): object {
  return { actors: [{ type: "tool", "actor-uuid": toolUuid }] };
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
