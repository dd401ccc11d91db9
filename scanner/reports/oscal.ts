import type { Report } from "../../shared/report.ts";
import { toLine } from "../../shared/text.ts";
import { revisionName } from "../catalog/catalog.ts";
import { controls } from "../catalog/controls.ts";
import { stableUuid } from "../checklists/stable_uuid.ts";
import { orgNameOf } from "./benchmark_rules.ts";
import { controlResults } from "./controls.ts";
import { toJson } from "./json.ts";
import { controlFindings } from "./oscal_findings.ts";
import { observationsOf, resourceUuid } from "./oscal_observations.ts";
import { oscalProps, textOr, type OscalContext } from "./oscal_parts.ts";
import { risksOf } from "./oscal_risks.ts";
import { revisionOf, type ReportFormat } from "./report_format.ts";

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
    const { toolVersion } = options;
    const revision = revisionOf(options);
    const standard = `${revision.benchmark.title} ${revisionName(revision.benchmark)}`;
    const context: OscalContext = { report, revision, toolUuid: stableUuid("tool", scan.id) };
    const planUuid = stableUuid("plan", scan.id);
    const title = `Scan of ${orgNameOf(report)} against ${standard}`;
    const document = {
      "assessment-results": {
        uuid: stableUuid("assessment-results", scan.id),
        metadata: {
          title: toLine(title, 1000),
          "last-modified": scan.ended_at,
          version: textOr(scan.id, "unknown"),
          "oscal-version": "1.2.1",
        },
        "import-ap": { href: `#${planUuid}` },
        results: [{ ...resultHead(report, title), ...resultBody(context, toolVersion) }],
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

function resultHead({ scan }: Report, title: string): object {
  const { total } = scan.requests;
  return {
    uuid: stableUuid("result", scan.id),
    title: toLine(title, 1000),
    description: `Verdicts from what the provider's API answered to ${total} requests. ${scan.status === "completed" ? "Every selected rule was examined." : "The scan ended before every selected rule was examined."}`,
    start: scan.started_at,
    end: scan.ended_at,
    props: oscalProps([
      ["scan-id", scan.id],
      ["org-url", scan.org_url],
      ["role", scan.role],
      ["engine", scan.engine],
    ]),
  };
}

function resultBody(context: OscalContext, toolVersion: string): object {
  const { report } = context;
  const reviewed = controlResults(report, context.revision);
  const observations = observationsOf(context);
  const risks = risksOf(context);
  const findings = controlFindings(context, reviewed);
  return {
    "local-definitions": localDefinitions(context, toolVersion),
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
    ...(observations.length === 0 ? {} : { observations }),
    ...(risks.length === 0 ? {} : { risks }),
    ...(findings.length === 0 ? {} : { findings }),
  };
}

function localDefinitions({ report, toolUuid }: OscalContext, toolVersion: string): object {
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
    ...(items.length === 0 ? {} : { "inventory-items": items }),
    "assessment-assets": {
      components: [
        {
          uuid: toolUuid,
          type: "software",
          title: "scanstream",
          description: "Reads the configuration of an identity provider through its API and judges it by DISA's STIG.",
          props: oscalProps([["software-version", toolVersion]], { isOwn: false }),
          status: { state: "operational" },
        },
      ],
      "assessment-platforms": [
        { uuid: stableUuid("platform", report.scan.id), "uses-components": [{ "component-uuid": toolUuid }] },
      ],
    },
  };
}
