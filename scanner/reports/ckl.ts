import type { XMLBuilder } from "xmlbuilder2/lib/interfaces.js";
import type { Report } from "../../shared/report.ts";
import { answerMark, rootMark, stigMark } from "../checklists/ckl_marks.ts";
import { writeCklAnswers } from "../checklists/ckl_edit.ts";
import {
  asObject,
  textOf,
  withAnswer,
  type CklbChecklist,
  type CklbRule,
  type CklbStig,
} from "../checklists/cklb_document.ts";
import { attributeOf } from "../checklists/ckl_document.ts";
import type { Checklist } from "../checklists/checklist.ts";
import type { Benchmark } from "../catalog/catalog.ts";
import { checklistStatuses, cklStatuses } from "../checklists/status.ts";
import { answersOf, engineOf } from "./checklist_answers.ts";
import { freshRules, toCklbChecklist } from "./cklb.ts";
import { revisionOf, type RenderOptions, type ReportFormat } from "./report_format.ts";
import { createXml, createXmlFragment, xmlEscape, xmlString, xmlText } from "./xml.ts";

/** CKL: the checklist of STIG Viewer 2, eMASS, STIG Manager and heimdall. The order of elements is the schema's. */
export const cklFormat: ReportFormat = {
  name: "ckl",
  extension: "ckl",
  isMachine: true,
  render(report, options) {
    const { checklist } = options;
    if (checklist?.kind === "ckl") return editCkl(report, { ...options, checklist });
    return writeCkl(toCklbChecklist(report, options));
  },
};

interface OpenCkl extends RenderOptions {
  readonly checklist: Extract<Checklist, { readonly kind: "ckl" }>;
}

/** A CKL stays what it is but for what this scan answers. */
function editCkl(report: Report, options: OpenCkl): string {
  const { document, stig } = options.checklist;
  const { answers } = answersOf(report, options);
  const known = new Set(stig.rules.map((rule) => attributeOf(rule, "Vuln_Num").trim()));
  const newRules = createXmlFragment();
  for (const rule of freshRules(report, stig.facts.get("uuid") ?? "", options)) {
    const vulnId = textOf(rule, "group_id");
    if (!known.has(vulnId))
      addRule(newRules, withAnswer(rule, answers.get(vulnId)), stigReference(revisionOf(options).benchmark));
  }
  const engine = engineOf(report, options);
  return writeCklAnswers(document, stig, { answers, engine, newRules: newRules.toString(), escape: xmlEscape });
}

function writeCkl(checklist: CklbChecklist): string {
  const [first] = checklist.stigs;
  const document = createXml();
  document.com("DISA STIG Viewer :: 2.17");
  addMark(document, rootMark(checklist["evaluate-stig"], first?.["evaluate-stig"], xmlEscape));
  const root = document.ele("CHECKLIST");
  const { target_data: target } = checklist;
  const marking = textOf(target, "classification");
  addAll(root.ele("ASSET"), [
    ["ROLE", textOf(target, "role", "None")],
    ["ASSET_TYPE", textOf(target, "target_type", "Computing")],
    ...(marking === "" ? [] : [["MARKING", marking] as const]),
    ["HOST_NAME", target.host_name],
    ["HOST_IP", textOf(target, "ip_address")],
    ["HOST_MAC", textOf(target, "mac_address")],
    ["HOST_FQDN", textOf(target, "fqdn")],
    ["TARGET_COMMENT", textOf(target, "comments")],
    ["TECH_AREA", textOf(target, "technology_area")],
    ["TARGET_KEY", textOf(first ?? {}, "reference_identifier")],
    ["WEB_OR_DATABASE", String(target["is_web_database"] === true)],
    ["WEB_DB_SITE", textOf(target, "web_db_site")],
    ["WEB_DB_INSTANCE", textOf(target, "web_db_instance")],
  ]);
  const stigs = root.ele("STIGS");
  for (const stig of checklist.stigs) addStig(stigs.ele("iSTIG"), stig);
  return xmlString(document);
}

function addStig(element: XMLBuilder, stig: CklbStig): void {
  addMark(element, stigMark(stig["evaluate-stig"], xmlEscape));
  const info = element.ele("STIG_INFO");
  const facts = [
    ["version", String(stig.version ?? "")],
    ["classification", "UNCLASSIFIED"],
    ["customname", ""],
    ["stigid", stig.stig_id],
    ["description", ""],
    ["filename", `U_${stig.stig_id}_Manual-xccdf.xml`],
    ["releaseinfo", stig.release_info ?? ""],
    ["title", textOf(stig, "stig_name")],
    ["uuid", textOf(stig, "uuid")],
    ["notice", "terms-of-use"],
    ["source", "STIG.DOD.MIL"],
  ] as const;
  for (const [name, value] of facts) {
    addAll(info.ele("SI_DATA"), [["SID_NAME", name], ...(value === "" ? [] : [["SID_DATA", value] as const])]);
  }
  const { version, release_info: release } = stig;
  const reference = stigReference({
    title: textOf(stig, "stig_name"),
    version: String(version ?? ""),
    release_info: release ?? "",
  });
  for (const rule of stig.rules) addRule(element, rule, reference);
}

function stigReference({
  title,
  version,
  release_info: release,
}: Pick<Benchmark, "title" | "version" | "release_info">): string {
  return `${title} :: Version ${version}, ${release}`;
}

function addRule(parent: XMLBuilder, rule: CklbRule, reference: string): void {
  const value = (name: string) => textOf(rule, name);
  const legacyIds = [...listOf(rule["legacy_ids"]), "", ""].slice(0, Math.max(2, listOf(rule["legacy_ids"]).length));
  const attributes: readonly (readonly [string, string])[] = [
    ["Vuln_Num", value("group_id")],
    ["Severity", value("severity")],
    ["Group_Title", value("group_title")],
    ["Rule_ID", value("rule_id_src")],
    ["Rule_Ver", value("rule_version")],
    ["Rule_Title", value("rule_title")],
    ["Vuln_Discuss", value("discussion")],
    ["IA_Controls", value("ia_controls")],
    ["Check_Content", value("check_content")],
    ["Fix_Text", value("fix_text")],
    ["False_Positives", value("false_positives")],
    ["False_Negatives", value("false_negatives")],
    ["Documentable", textOf(rule, "documentable", "false")],
    ["Mitigations", value("mitigations")],
    ["Potential_Impact", value("potential_impacts")],
    ["Third_Party_Tools", value("third_party_tools")],
    ["Mitigation_Control", value("mitigation_control")],
    ["Responsibility", value("responsibility")],
    ["Security_Override_Guidance", value("security_override_guidance")],
    ["Check_Content_Ref", textOf(asObject(rule["check_content_ref"]), "name", "M")],
    ["Weight", textOf(rule, "weight", "10.0")],
    ["Class", "Unclass"],
    ["STIGRef", reference],
    ["TargetKey", value("reference_identifier")],
    ["STIG_UUID", value("stig_uuid")],
    ...legacyIds.map((id) => ["LEGACY_ID", id] as const),
    ...listOf(rule["ccis"]).map((cci) => ["CCI_REF", cci] as const),
  ];
  const element = parent.ele("VULN");
  addMark(element, answerMark(rule["evaluate-stig"], xmlEscape));
  for (const [name, text] of attributes) {
    addAll(element.ele("STIG_DATA"), [
      ["VULN_ATTRIBUTE", name],
      ["ATTRIBUTE_DATA", text],
    ]);
  }
  const status = checklistStatuses.find((candidate) => candidate === rule["status"]) ?? "not_reviewed";
  const override = asObject(asObject(rule["overrides"])["severity"]);
  addAll(element, [
    ["STATUS", cklStatuses[status]],
    ["FINDING_DETAILS", value("finding_details")],
    ["COMMENTS", value("comments")],
    ["SEVERITY_OVERRIDE", textOf(override, "severity")],
    ["SEVERITY_JUSTIFICATION", textOf(override, "reason")],
  ]);
}

function addMark(parent: XMLBuilder, mark: string | null): void {
  if (mark !== null) parent.com(mark);
}

function listOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

function addAll(parent: XMLBuilder, children: readonly (readonly [name: string, text: string])[]): void {
  for (const [name, text] of children) parent.ele(name).txt(xmlText(text));
}
