import type { CheckResult, Finding, Report } from "../../shared/report.ts";
import { failuresOf } from "../../shared/rule_result.ts";
import { attestationLine, planLine, tailoringLine, waiverLine } from "./result_text.ts";
import { revisionName } from "../catalog/catalog.ts";
import { orgNameOf, levelOf, ruleOf, toJson, type RenderOptions } from "./report_format.ts";

/** GitHub reads this as the severity of an alert: 7.0 and above is high, 4.0 and above medium. */
const securitySeverity = { high: "8.0", medium: "5.5", low: "2.0" } as const;
const levels = { high: "error", medium: "error", low: "warning" } as const;

/**
 * SARIF 2.1.0, for code-scanning views: a rule for each check, a result for each failure. GitHub makes an alert of every
 * result, regardless of its kind, so what passes and what needs a person is in the other formats only.
 */
export function renderSarif(report: Report, options: RenderOptions): string {
  const { id: guid, status, started_at: startTimeUtc, ended_at: endTimeUtc } = report.scan;
  const org = orgNameOf(report);
  const run = {
    tool: { driver: driver(report, options) },
    automationDetails: { id: `scanstream/${org}/`, guid },
    invocations: [{ executionSuccessful: status === "completed", startTimeUtc, endTimeUtc }],
    columnKind: "utf16CodeUnits",
    results: report.checks.flatMap((check, ruleIndex) =>
      failuresOf(check).map((finding) => ({ ruleId: check.vuln_id, ruleIndex, ...result(check, finding, org) })),
    ),
  };
  return toJson({ $schema: "https://json.schemastore.org/sarif-2.1.0.json", version: "2.1.0", runs: [run] });
}

function driver(report: Report, { toolVersion, revision }: RenderOptions): object {
  const version = revisionName(revision.benchmark);
  return {
    name: "scanstream",
    semanticVersion: toolVersion,
    informationUri: "https://public.cyber.mil/stigs/",
    rules: report.checks.map((check) => {
      const rule = ruleOf(check, revision);
      const attestation = attestationLine(check);
      return {
        id: check.vuln_id,
        name: check.check,
        shortDescription: { text: check.title },
        fullDescription: { text: rule?.discussion ?? check.title },
        help: { text: rule?.fix_text || check.title },
        helpUri: `${stigViewer}/${check.vuln_id}`,
        defaultConfiguration: { level: levels[check.severity] },
        properties: {
          "security-severity": securitySeverity[check.severity],
          tags: ["security", "compliance", check.stig_id, levelOf(check), version, ...(rule?.ccis ?? [])],
          ...(attestation === "" ? {} : { attestation }),
          ...(check.tailoring === undefined ? {} : { tailoring: tailoringLine(check) }),
        },
      };
    }),
  };
}

const stigViewer = "https://stigviewer.com/stigs/okta_identity_as_a_service_idaas/finding";

function result(check: CheckResult, finding: Finding, org: string): object {
  const { waiver, change, status, reason, expected, actual } = finding;
  const { type, id, name } = finding.resource;
  const texts = [finding.detail, attestationLine(check), finding.plan === undefined ? "" : planLine(finding.plan)];
  return {
    kind: "fail",
    level: levels[check.severity],
    message: { text: withoutLinks(texts.filter(Boolean).join(" ")) },
    locations: [
      {
        // Code-scanning views show results by file; the org's address takes the place of a file.
        physicalLocation: { artifactLocation: { uri: toRelativeUri(org, finding) }, region: { startLine: 1 } },
        logicalLocations: [{ name, fullyQualifiedName: `${org}/${type}/${id}`, kind: "resource" }],
      },
    ],
    partialFingerprints: { "scanstream/v1": finding.fingerprint },
    ...(waiver !== null && {
      suppressions: [{ kind: "external", status: "accepted", justification: waiverLine(waiver) }],
    }),
    ...(change === null ? {} : { baselineState: change === "resolved" ? "updated" : change }),
    properties: { status, reason, expected, actual },
  };
}

/** A name like `[see](https://…)` would be a link (SARIF 2.1.0, 3.11.6, where a backslash takes a bracket's meaning). */
function withoutLinks(text: string): string {
  return text.includes("](") ? text.replaceAll(/[\\[\]]/g, "\\$&") : text;
}

function toRelativeUri(org: string, { resource: { type, id } }: Finding): string {
  // Half a surrogate pair, which a provider's JSON may hold, has no URI: `encodeURIComponent` throws. Dots alone would
  // lead to another folder.
  return [org, type, id]
    .map((part) => encodeURIComponent(part.toWellFormed()))
    .map((part) => (/^\.{0,2}$/.test(part) ? `_${part}` : part))
    .join("/");
}
