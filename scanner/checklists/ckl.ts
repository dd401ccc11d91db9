import { childrenOf, childText, parseXml, type XmlElement } from "../read_xml.ts";
import { element, writeXml, type XmlNode } from "../xml.ts";
import { asObject, displayNameOf, textOf, type CklbChecklist, type CklbRule, type CklbStig } from "./cklb.ts";
import { ContentError } from "../../shared/usage_error.ts";
import { stableUuid } from "./stable_uuid.ts";
import { checklistStatuses, findStatus, statusNames, type ChecklistStatus } from "./answers.ts";

/** CKL in both directions: read into the model of CKLB, and written from it. The order of elements is that of DISA's schema. */

/** Elements of ASSET with the field of `target_data` that each is in, and the text where it has none; null: left out then. */
const assetFields = [
  ["ROLE", "role", "None"],
  ["ASSET_TYPE", "target_type", "Computing"],
  ["MARKING", "classification", null],
  ["HOST_NAME", "host_name", ""],
  ["HOST_IP", "ip_address", ""],
  ["HOST_MAC", "mac_address", ""],
  ["HOST_FQDN", "fqdn", ""],
  ["TARGET_COMMENT", "comments", ""],
  ["TECH_AREA", "technology_area", ""],
  ["TARGET_KEY", "target_key", ""],
  ["WEB_OR_DATABASE", "is_web_database", "false"],
  ["WEB_DB_SITE", "web_db_site", ""],
  ["WEB_DB_INSTANCE", "web_db_instance", ""],
] as const;

/** Attributes of a rule with the field that each is in, and the text where it has none. */
const ruleFields = [
  ["Vuln_Num", "group_id", ""],
  ["Severity", "severity", ""],
  ["Group_Title", "group_title", ""],
  ["Rule_ID", "rule_id_src", ""],
  ["Rule_Ver", "rule_version", ""],
  ["Rule_Title", "rule_title", ""],
  ["Vuln_Discuss", "discussion", ""],
  ["IA_Controls", "ia_controls", ""],
  ["Check_Content", "check_content", ""],
  ["Fix_Text", "fix_text", ""],
  ["False_Positives", "false_positives", ""],
  ["False_Negatives", "false_negatives", ""],
  ["Documentable", "documentable", "false"],
  ["Mitigations", "mitigations", ""],
  ["Potential_Impact", "potential_impacts", ""],
  ["Third_Party_Tools", "third_party_tools", ""],
  ["Mitigation_Control", "mitigation_control", ""],
  ["Responsibility", "responsibility", ""],
  ["Security_Override_Guidance", "security_override_guidance", ""],
  ["Check_Content_Ref", "check_content_ref", "M"],
  ["Weight", "weight", "10.0"],
  ["Class", "ckl_class", "Unclass"],
  ["STIGRef", "stig_ref", ""],
  ["TargetKey", "reference_identifier", ""],
  ["STIG_UUID", "stig_uuid", ""],
] as const;

/** Fields of a rule in which nobody wrote anything; the class is of CKL alone. */
export const emptyRule = Object.fromEntries(
  ruleFields.filter(([name]) => name !== "Class").map(([, field, text]) => [field, text]),
);

/** Facts about the STIG that CKLB has no field for: they stay as they were, or are those of a file of DISA. */
const otherFacts = { classification: "UNCLASSIFIED", customname: "", description: "", filename: "" } as const;

/** Throws `ContentError`. */
export function parseCkl(text: string): CklbChecklist {
  const root = parseXml(text);
  if (root.name !== "CHECKLIST") throw new ContentError([`expected the element CHECKLIST, found ${root.name}`]);
  const [asset] = childrenOf(root, "ASSET");
  if (asset === undefined) throw new ContentError(["CHECKLIST: expected the element ASSET"]);
  const stigs = childrenOf(root, "STIGS").flatMap((stig) => childrenOf(stig, "iSTIG"));
  if (stigs.length === 0) throw new ContentError(["STIGS: expected the element iSTIG"]);
  const about = Object.fromEntries(assetFields.map(([name, field]) => [field, childText(asset, name)]));
  const { target_key: targetKey = "", classification, is_web_database: isSite, ...target } = about;
  const id = stableUuid("checklist", text);
  return {
    title: target["host_name"],
    id,
    active: false,
    mode: 1,
    has_path: true,
    target_data: {
      ...target,
      host_name: target["host_name"] ?? "",
      is_web_database: isSite === "true",
      classification: classification === "" ? null : classification,
    },
    stigs: stigs.map((stig, index) => readStig(stig, stableUuid("stig", id, String(index)), targetKey)),
    cklb_version: "1.0",
  };
}

function readStig(stig: XmlElement, newUuid: string, targetKey: string): CklbStig {
  const facts = new Map(
    childrenOf(stig, "STIG_INFO")
      .flatMap((info) => childrenOf(info, "SI_DATA"))
      .map((fact) => [childText(fact, "SID_NAME").trim(), childText(fact, "SID_DATA").trim()] as const),
  );
  const fact = (name: string) => facts.get(name) ?? "";
  const uuid = fact("uuid") || newUuid;
  const rules = childrenOf(stig, "VULN").map((rule) => readRule(rule, uuid));
  return {
    stig_name: fact("title"),
    display_name: displayNameOf(fact("title")),
    stig_id: fact("stigid"),
    version: fact("version"),
    release_info: fact("releaseinfo"),
    uuid,
    reference_identifier: targetKey,
    size: rules.length,
    rules,
    ckl_facts: Object.fromEntries(Object.keys(otherFacts).map((name) => [name, fact(name)])),
  };
}

function readRule(rule: XmlElement, stigUuid: string): CklbRule {
  const pairs = childrenOf(rule, "STIG_DATA").map((pair) => ({
    name: childText(pair, "VULN_ATTRIBUTE").trim(),
    value: childText(pair, "ATTRIBUTE_DATA"),
  }));
  const valuesOf = (wanted: string) =>
    pairs.filter(({ name, value }) => name === wanted && value !== "").map(({ value }) => value);
  const fields = Object.fromEntries(ruleFields.map(([name, field]) => [field, valuesOf(name)[0] ?? ""]));
  const { ckl_class: _, stig_ref: reference, check_content_ref: check, ...read } = fields;
  const [vulnId, ruleId] = [(read["group_id"] ?? "").trim(), (read["rule_id_src"] ?? "").trim()];
  const severity = childText(rule, "SEVERITY_OVERRIDE").trim();
  return {
    ...read,
    uuid: stableUuid("rule", stigUuid, ruleId),
    stig_uuid: stigUuid,
    STIGUuid: stigUuid,
    target_key: null,
    stig_ref: reference === "" ? null : reference,
    group_id: vulnId,
    group_id_src: vulnId,
    rule_id: ruleId.replace(/_rule$/, ""),
    rule_id_src: ruleId,
    classification: "NONE",
    check_content_ref: { href: "", name: check === "" ? "M" : check },
    legacy_ids: valuesOf("LEGACY_ID"),
    ccis: valuesOf("CCI_REF"),
    group_tree: [{ id: vulnId, title: read["group_title"], description: "<GroupDescription></GroupDescription>" }],
    status: readStatus(rule, vulnId),
    overrides: severity === "" ? {} : { severity: { severity, reason: childText(rule, "SEVERITY_JUSTIFICATION") } },
    comments: childText(rule, "COMMENTS"),
    finding_details: childText(rule, "FINDING_DETAILS"),
  };
}

function readStatus(rule: XmlElement, vulnId: string): ChecklistStatus {
  const written = childText(rule, "STATUS").trim();
  const status = findStatus("ckl", written);
  if (status !== null) return status;
  const expected = statusNames.map((each) => checklistStatuses[each].ckl).join(", ");
  throw new ContentError([
    `STATUS of ${vulnId || "a rule"}: expected one of ${expected}, found ${JSON.stringify(written.slice(0, 40))}`,
  ]);
}

export function writeCkl({ target_data: target, stigs }: CklbChecklist): string {
  const about = {
    ...target,
    is_web_database: String(target["is_web_database"] === true),
    target_key: textOf(stigs[0] ?? {}, "reference_identifier"),
  };
  const asset = assetFields.flatMap(([name, field, otherwise]) => {
    const text = textOf(about, field, otherwise ?? "");
    return text === "" && otherwise === null ? [] : [element(name, text)];
  });
  const root = element("CHECKLIST", [element("ASSET", asset), element("STIGS", stigs.map(stigNode))]);
  return writeXml(root, "DISA STIG Viewer :: 2.17");
}

function stigNode(stig: CklbStig): XmlNode {
  const { stig_id: id, version, release_info: release } = stig;
  const title = textOf(stig, "stig_name");
  const other = { ...otherFacts, filename: `U_${id}_Manual-xccdf.xml`, ...asObject(stig["ckl_facts"]) };
  const facts = [
    ["version", String(version ?? "")],
    ["classification", textOf(other, "classification")],
    ["customname", textOf(other, "customname")],
    ["stigid", id],
    ["description", textOf(other, "description")],
    ["filename", textOf(other, "filename")],
    ["releaseinfo", release ?? ""],
    ["title", title],
    ["uuid", textOf(stig, "uuid")],
    ["notice", "terms-of-use"],
    ["source", "STIG.DOD.MIL"],
  ] as const;
  const info = facts.map(([name, value]) =>
    element("SI_DATA", [element("SID_NAME", name), ...(value === "" ? [] : [element("SID_DATA", value)])]),
  );
  const ofEach = {
    stig_ref: `${title} :: Version ${version ?? ""}, ${release ?? ""}`,
    stig_uuid: textOf(stig, "uuid"),
    reference_identifier: textOf(stig, "reference_identifier"),
  };
  return element("iSTIG", [element("STIG_INFO", info), ...stig.rules.map((rule) => ruleNode(rule, ofEach))]);
}

/** `ofEach`: fields that every rule of the STIG has, where the rule has no text of its own. */
function ruleNode(rule: CklbRule, ofEach: Readonly<Record<string, string>>): XmlNode {
  const fields = { ...rule, check_content_ref: textOf(asObject(rule["check_content_ref"]), "name") };
  const legacyIds = textsOf(rule["legacy_ids"]);
  const attributes = [
    ...ruleFields.map(([name, field, otherwise]) => [name, textOf(fields, field, ofEach[field] ?? otherwise)] as const),
    // DISA's own files have two of them.
    ...[...legacyIds, "", ""].slice(0, Math.max(2, legacyIds.length)).map((id) => ["LEGACY_ID", id] as const),
    ...textsOf(rule["ccis"]).map((cci) => ["CCI_REF", cci] as const),
  ];
  const status = statusNames.find((each) => each === rule["status"]) ?? "not_reviewed";
  const override = asObject(asObject(rule["overrides"])["severity"]);
  return element("VULN", [
    ...attributes.map(([name, value]) =>
      element("STIG_DATA", [element("VULN_ATTRIBUTE", name), element("ATTRIBUTE_DATA", value)]),
    ),
    element("STATUS", checklistStatuses[status].ckl),
    element("FINDING_DETAILS", textOf(rule, "finding_details")),
    element("COMMENTS", textOf(rule, "comments")),
    element("SEVERITY_OVERRIDE", textOf(override, "severity")),
    element("SEVERITY_JUSTIFICATION", textOf(override, "reason")),
  ]);
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
