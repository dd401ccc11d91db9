import type { XMLBuilder } from "xmlbuilder2/lib/interfaces.js";
import { benchmark } from "../catalog/catalog.ts";
import { benchmarkRules, fullNameOf, hostOf, stableUuid, type RuleOutcome } from "./benchmark_rules.ts";
import type { Disposition } from "./disposition.ts";
import type { ReportFormat } from "./report_format.ts";
import { createXml, xmlString, xmlText } from "./xml.ts";

const statuses: Readonly<Record<Disposition, string>> = {
  pass: "NotAFinding",
  fail: "Open",
  not_applicable: "Not_Applicable",
  not_reviewed: "Not_Reviewed",
};

/** CKL: the checklist of STIG Viewer 2, eMASS, STIG Manager and heimdall. The order of elements is the schema's. */
export const cklFormat: ReportFormat = {
  name: "ckl",
  extension: "ckl",
  isMachine: true,
  render(report) {
    const host = hostOf(report);
    const stigUuid = stableUuid("stig", report.scan.id);
    const document = createXml();
    document.com("DISA STIG Viewer :: 2.17");
    const checklist = document.ele("CHECKLIST");
    addAll(checklist.ele("ASSET"), [
      ["ROLE", "None"],
      ["ASSET_TYPE", "Non-Computing"],
      ["HOST_NAME", host],
      ["HOST_IP", ""],
      ["HOST_MAC", ""],
      ["HOST_FQDN", fullNameOf(host)],
      ["TARGET_COMMENT", `Scan ${report.scan.id} of ${report.scan.org_url}`],
      ["TECH_AREA", "Other Review"],
      ["TARGET_KEY", benchmark.target_key],
      ["WEB_OR_DATABASE", "false"],
      ["WEB_DB_SITE", ""],
      ["WEB_DB_INSTANCE", ""],
    ]);
    const stig = checklist.ele("STIGS").ele("iSTIG");
    addStigFacts(stig.ele("STIG_INFO"), stigUuid);
    for (const outcome of benchmarkRules(report)) addVulnerability(stig.ele("VULN"), outcome, stigUuid);
    return xmlString(document);
  },
};

function addStigFacts(info: XMLBuilder, stigUuid: string): void {
  const facts = [
    ["version", benchmark.version],
    ["classification", "UNCLASSIFIED"],
    ["customname", ""],
    ["stigid", benchmark.benchmark_id],
    ["description", ""],
    ["filename", `U_${benchmark.benchmark_id}_Manual-xccdf.xml`],
    ["releaseinfo", benchmark.release_info],
    ["title", benchmark.title],
    ["uuid", stigUuid],
    ["notice", "terms-of-use"],
    ["source", "STIG.DOD.MIL"],
  ] as const;
  for (const [name, value] of facts) {
    addAll(
      info.ele("SI_DATA"),
      value === ""
        ? [["SID_NAME", name]]
        : [
            ["SID_NAME", name],
            ["SID_DATA", value],
          ],
    );
  }
}

function addVulnerability(vulnerability: XMLBuilder, outcome: RuleOutcome, stigUuid: string): void {
  const { rule, disposition, details, comments } = outcome;
  const attributes: readonly (readonly [string, string])[] = [
    ["Vuln_Num", rule.vuln_id],
    ["Severity", rule.severity],
    ["Group_Title", rule.group_title],
    ["Rule_ID", rule.rule_id],
    ["Rule_Ver", rule.stig_id],
    ["Rule_Title", rule.title],
    ["Vuln_Discuss", rule.discussion],
    ["IA_Controls", ""],
    ["Check_Content", rule.check_text],
    ["Fix_Text", rule.fix_text],
    ["False_Positives", ""],
    ["False_Negatives", ""],
    ["Documentable", "false"],
    ["Mitigations", ""],
    ["Potential_Impact", ""],
    ["Third_Party_Tools", ""],
    ["Mitigation_Control", ""],
    ["Responsibility", ""],
    ["Security_Override_Guidance", ""],
    ["Check_Content_Ref", "M"],
    ["Weight", "10.0"],
    ["Class", "Unclass"],
    ["STIGRef", `${benchmark.title} :: Version ${benchmark.version}, ${benchmark.release_info}`],
    ["TargetKey", benchmark.target_key],
    ["STIG_UUID", stigUuid],
    ["LEGACY_ID", ""],
    ["LEGACY_ID", ""],
    ...rule.ccis.map((cci) => ["CCI_REF", cci] as const),
  ];
  for (const [name, value] of attributes) {
    addAll(vulnerability.ele("STIG_DATA"), [
      ["VULN_ATTRIBUTE", name],
      ["ATTRIBUTE_DATA", value],
    ]);
  }
  addAll(vulnerability, [
    ["STATUS", statuses[disposition]],
    ["FINDING_DETAILS", details],
    ["COMMENTS", comments],
    ["SEVERITY_OVERRIDE", ""],
    ["SEVERITY_JUSTIFICATION", ""],
  ]);
}

function addAll(parent: XMLBuilder, children: readonly (readonly [name: string, text: string])[]): void {
  for (const [name, text] of children) parent.ele(name).txt(xmlText(text));
}
