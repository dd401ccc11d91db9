import type { Report } from "../../shared/report.ts";
import { shorten } from "../../shared/text.ts";
import type { Benchmark, StigRule } from "../catalog/catalog.ts";
import type { Checklist } from "../checklists/checklist.ts";
import { toCklb } from "../checklists/ckl_document.ts";
import {
  benchmarkFields,
  disaFields,
  fullNameOf,
  textOf,
  writeCklbAnswers,
  type CklbChecklist,
  type CklbRule,
  type CklbStig,
} from "../checklists/cklb_document.ts";
import { stableUuid } from "../checklists/stable_uuid.ts";
import { hostOf, orgNameOf, siteOf } from "./benchmark_rules.ts";
import { answersOf, engineOf } from "./checklist_answers.ts";
import { toJson } from "./json.ts";
import { revisionOf, type RenderOptions, type ReportFormat } from "./report_format.ts";

/** CKLB 1.0: the checklist of STIG Viewer 3, eMASS and STIG Manager. Every rule of the STIG, no matter what was selected. */
export const cklbFormat: ReportFormat = {
  name: "cklb",
  extension: "cklb",
  isMachine: true,
  render: (report, options) => `${toJson(toCklbChecklist(report, options))}\n`,
};

/** The checklist of this scan; with one that people worked in, that one with this scan's results in it. */
export function toCklbChecklist(report: Report, options: RenderOptions): CklbChecklist {
  const { document, stig } =
    options.checklist === undefined ? freshChecklist(report, options) : asCklb(options.checklist);
  const known = new Set(stig.rules.map((rule) => rule["group_id"]));
  const newRules = freshRules(report, textOf(stig, "uuid"), options).filter((rule) => !known.has(rule["group_id"]));
  const { answers } = answersOf(report, options);
  return writeCklbAnswers(document, stig, { answers, engine: engineOf(report, options), newRules });
}

interface OpenChecklist {
  readonly document: CklbChecklist;
  readonly stig: CklbStig;
}

function asCklb(checklist: Checklist): OpenChecklist {
  if (checklist.kind === "cklb") return checklist;
  const document = toCklb(checklist.document);
  const stig = document.stigs[checklist.document.stigs.indexOf(checklist.stig)];
  if (stig === undefined) throw new Error(`The STIG of ${checklist.name} is missing from its list`);
  return { document, stig };
}

/** Without a rule yet. */
function freshChecklist(report: Report, options: RenderOptions): OpenChecklist {
  const { benchmark } = revisionOf(options);
  const host = hostOf(report);
  const site = siteOf(report);
  const stig: CklbStig = {
    ...benchmarkFields(benchmark),
    uuid: stableUuid("stig", report.scan.id),
    size: 0,
    rules: [],
  };
  const document: CklbChecklist = {
    title: `${orgNameOf(report)} ${benchmark.title}`,
    id: stableUuid("checklist", report.scan.id),
    // What follows here is the viewer's own state; these are the values of an unopened file.
    active: false,
    mode: 1,
    has_path: true,
    target_data: {
      target_type: "Non-Computing",
      host_name: shorten(host, 255),
      ip_address: "",
      mac_address: "",
      fqdn: fullNameOf(host),
      comments: `Scan ${report.scan.id} of ${report.scan.org_url}`,
      role: "None",
      // The one field by which readers of checklists keep apart two assets of one host.
      is_web_database: site !== "",
      technology_area: "Other Review",
      web_db_site: site,
      web_db_instance: "",
      classification: null,
    },
    stigs: [stig],
    cklb_version: "1.0",
  };
  return { document, stig };
}

/** Every rule of the benchmark, not reviewed yet. */
export function freshRules(report: Report, stigUuid: string, options: RenderOptions): readonly CklbRule[] {
  const { benchmark, checks } = revisionOf(options);
  const { ended_at: endedAt } = report.scan;
  return checks.map(({ rule }) => toRule(rule, benchmark, { stigUuid, endedAt }));
}

function toRule(
  rule: StigRule,
  benchmark: Benchmark,
  { stigUuid, endedAt }: { readonly stigUuid: string; readonly endedAt: string },
): CklbRule {
  return {
    uuid: stableUuid("rule", stigUuid, rule.rule_id),
    stig_uuid: stigUuid,
    target_key: null,
    stig_ref: null,
    ...disaFields(rule),
    weight: "10.0",
    classification: "NONE",
    reference_identifier: benchmark.target_key,
    check_content_ref: { href: `${benchmark.benchmark_id}.xml`, name: "M" },
    false_positives: "",
    false_negatives: "",
    documentable: "false",
    mitigations: "",
    potential_impacts: "",
    third_party_tools: "",
    mitigation_control: "",
    responsibility: "",
    security_override_guidance: "",
    ia_controls: "",
    legacy_ids: [],
    createdAt: endedAt,
    updatedAt: endedAt,
    STIGUuid: stigUuid,
    status: "not_reviewed",
    overrides: {},
    comments: "",
    finding_details: "",
  };
}
