import { shorten } from "../../shared/text.ts";
import { benchmark } from "../catalog/catalog.ts";
import { benchmarkRules, fullNameOf, hostOf, stableUuid, type RuleOutcome } from "./benchmark_rules.ts";
import type { Disposition } from "./disposition.ts";
import { toJson } from "./json.ts";
import type { ReportFormat } from "./report_format.ts";

const statuses: Readonly<Record<Disposition, string>> = {
  pass: "not_a_finding",
  fail: "open",
  not_applicable: "not_applicable",
  not_reviewed: "not_reviewed",
};

/** CKLB 1.0: the checklist of STIG Viewer 3, eMASS and STIG Manager. Every rule of the STIG, whatever was selected. */
export const cklbFormat: ReportFormat = {
  name: "cklb",
  extension: "cklb",
  isMachine: true,
  render(report) {
    const host = hostOf(report);
    const stigUuid = stableUuid("stig", report.scan.id);
    const rules = benchmarkRules(report).map((outcome) => toRule(outcome, stigUuid, report.scan.ended_at));
    const checklist = {
      title: `${host} ${benchmark.title}`,
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
        is_web_database: false,
        technology_area: "Other Review",
        web_db_site: "",
        web_db_instance: "",
        classification: null,
      },
      stigs: [
        {
          stig_name: benchmark.title,
          display_name: benchmark.title.replace(/ Security Technical Implementation Guide$/, ""),
          stig_id: benchmark.benchmark_id,
          version: benchmark.version,
          release_info: benchmark.release_info,
          uuid: stigUuid,
          reference_identifier: benchmark.target_key,
          size: rules.length,
          rules,
        },
      ],
      cklb_version: "1.0",
    };
    return `${toJson(checklist, 2)}\n`;
  },
};

function toRule({ rule, disposition, details, comments }: RuleOutcome, stigUuid: string, endedAt: string): object {
  return {
    uuid: stableUuid("rule", stigUuid, rule.rule_id),
    stig_uuid: stigUuid,
    target_key: null,
    stig_ref: null,
    group_id: rule.vuln_id,
    group_id_src: rule.vuln_id,
    rule_id: rule.rule_id.replace(/_rule$/, ""),
    rule_id_src: rule.rule_id,
    weight: "10.0",
    classification: "NONE",
    severity: rule.severity,
    rule_version: rule.stig_id,
    group_title: rule.group_title,
    rule_title: rule.title,
    fix_text: rule.fix_text,
    reference_identifier: benchmark.target_key,
    check_content: rule.check_text,
    check_content_ref: { href: `${benchmark.benchmark_id}.xml`, name: "M" },
    discussion: rule.discussion,
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
    ccis: rule.ccis,
    group_tree: [{ id: rule.vuln_id, title: rule.group_title, description: "<GroupDescription></GroupDescription>" }],
    createdAt: endedAt,
    updatedAt: endedAt,
    STIGUuid: stigUuid,
    status: statuses[disposition],
    overrides: {},
    comments,
    finding_details: details,
  };
}
