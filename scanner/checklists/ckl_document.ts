import type { Answer } from "./answers.ts";
import type { CklbChecklist, CklbRule } from "./cklb_document.ts";
import { stableUuid } from "./stable_uuid.ts";
import { checklistStatuses, cklStatuses, type ChecklistStatus } from "./status.ts";
import { childText, childrenOf, parseXml, type XmlDocument, type XmlElement } from "../xml_elements.ts";

/** A checklist in the form of CKL: its text, and where what is where. */
export interface CklChecklist {
  readonly text: string;
  readonly xml: XmlDocument;
  readonly asset: XmlElement;
  readonly stigs: readonly CklStig[];
}

export interface CklStig {
  readonly element: XmlElement;
  /** `stigid`, `version`, `releaseinfo`, `title` … */
  readonly facts: ReadonlyMap<string, string>;
  readonly rules: readonly CklRule[];
}

export interface CklRule {
  readonly element: XmlElement;
  /** `Vuln_Num`, `Rule_ID`, `CCI_REF` …; some stand there more than once. */
  readonly attributes: ReadonlyMap<string, readonly string[]>;
}

/** Throws an error whose message is one sentence without the file's name. */
export function parseCkl(text: string): CklChecklist {
  const xml = parseXml(text);
  if (xml.root.name !== "CHECKLIST") throw new TypeError(`expected the element CHECKLIST, found ${xml.root.name}`);
  const [asset] = childrenOf(xml.root, "ASSET");
  if (asset === undefined) throw new TypeError("CHECKLIST: expected the element ASSET");
  const stigs = childrenOf(xml.root, "STIGS").flatMap((stig) => childrenOf(stig, "iSTIG"));
  if (stigs.length === 0) throw new TypeError("STIGS: expected the element iSTIG");
  return { text, xml, asset, stigs: stigs.map(toStig) };
}

function toStig(element: XmlElement): CklStig {
  const facts = childrenOf(element, "STIG_INFO")
    .flatMap((info) => childrenOf(info, "SI_DATA"))
    .map((fact) => [childText(fact, "SID_NAME").trim(), childText(fact, "SID_DATA").trim()] as const);
  return { element, facts: new Map(facts), rules: childrenOf(element, "VULN").map(toRule) };
}

function toRule(element: XmlElement): CklRule {
  const pairs = childrenOf(element, "STIG_DATA").map((pair) => ({
    name: childText(pair, "VULN_ATTRIBUTE").trim(),
    value: childText(pair, "ATTRIBUTE_DATA"),
  }));
  const byName = Map.groupBy(pairs, ({ name }) => name);
  return { element, attributes: new Map([...byName].map(([name, group]) => [name, group.map(({ value }) => value)])) };
}

export function attributeOf(rule: CklRule, name: string): string {
  return rule.attributes.get(name)?.[0] ?? "";
}

/** The answers of one STIG by V-id; throws like `parseCkl`. */
export function cklAnswers(stig: CklStig): ReadonlyMap<string, Answer> {
  return new Map(stig.rules.map((rule) => [attributeOf(rule, "Vuln_Num").trim(), answerOf(rule)]));
}

function answerOf(rule: CklRule): Answer {
  const written = childText(rule.element, "STATUS").trim();
  const status = statusOf(written);
  if (status === null) {
    const place = `STATUS of ${attributeOf(rule, "Vuln_Num").trim() || "a rule"}`;
    throw new TypeError(
      `${place}: expected one of ${Object.values(cklStatuses).join(", ")}, found ${JSON.stringify(written)}`,
    );
  }
  const { element } = rule;
  return { status, details: childText(element, "FINDING_DETAILS"), comments: childText(element, "COMMENTS") };
}

function statusOf(written: string): ChecklistStatus | null {
  return checklistStatuses.find((status) => cklStatuses[status] === written) ?? null;
}

/** The same checklist in the form of CKLB, with every STIG in it. */
export function toCklb(checklist: CklChecklist): CklbChecklist {
  const asset = (name: string) => childText(checklist.asset, name);
  const host = asset("HOST_NAME");
  return {
    title: host,
    id: stableUuid("checklist", checklist.text),
    active: false,
    mode: 1,
    has_path: true,
    target_data: {
      target_type: asset("ASSET_TYPE"),
      host_name: host,
      ip_address: asset("HOST_IP"),
      mac_address: asset("HOST_MAC"),
      fqdn: asset("HOST_FQDN"),
      comments: asset("TARGET_COMMENT"),
      role: asset("ROLE"),
      is_web_database: asset("WEB_OR_DATABASE") === "true",
      technology_area: asset("TECH_AREA"),
      web_db_site: asset("WEB_DB_SITE"),
      web_db_instance: asset("WEB_DB_INSTANCE"),
      classification: asset("MARKING") === "" ? null : asset("MARKING"),
    },
    stigs: checklist.stigs.map((stig, index) => {
      const fact = (name: string) => stig.facts.get(name) ?? "";
      const uuid = stableUuid("stig", checklist.text, String(index));
      const targetKey = asset("TARGET_KEY");
      const rules = stig.rules.map((rule) => toCklbRule(rule, { uuid, targetKey }));
      return {
        stig_name: fact("title"),
        display_name: fact("title").replace(/ Security Technical Implementation Guide$/, ""),
        stig_id: fact("stigid"),
        version: fact("version"),
        release_info: fact("releaseinfo"),
        uuid,
        reference_identifier: targetKey,
        size: rules.length,
        rules,
      };
    }),
    cklb_version: "1.0",
  };
}

function toCklbRule(rule: CklRule, stig: { readonly uuid: string; readonly targetKey: string }): CklbRule {
  const value = (name: string) => attributeOf(rule, name);
  const { element } = rule;
  const severity = childText(element, "SEVERITY_OVERRIDE").trim();
  const vulnId = value("Vuln_Num").trim();
  return {
    uuid: stableUuid("rule", stig.uuid, value("Rule_ID")),
    stig_uuid: stig.uuid,
    target_key: null,
    stig_ref: null,
    group_id: vulnId,
    group_id_src: vulnId,
    rule_id: value("Rule_ID").replace(/_rule$/, ""),
    rule_id_src: value("Rule_ID"),
    weight: value("Weight"),
    classification: "NONE",
    severity: value("Severity"),
    rule_version: value("Rule_Ver"),
    group_title: value("Group_Title"),
    rule_title: value("Rule_Title"),
    fix_text: value("Fix_Text"),
    reference_identifier: value("TargetKey") === "" ? stig.targetKey : value("TargetKey"),
    check_content: value("Check_Content"),
    check_content_ref: { href: "", name: value("Check_Content_Ref") === "" ? "M" : value("Check_Content_Ref") },
    discussion: value("Vuln_Discuss"),
    false_positives: value("False_Positives"),
    false_negatives: value("False_Negatives"),
    documentable: value("Documentable"),
    mitigations: value("Mitigations"),
    potential_impacts: value("Potential_Impact"),
    third_party_tools: value("Third_Party_Tools"),
    mitigation_control: value("Mitigation_Control"),
    responsibility: value("Responsibility"),
    security_override_guidance: value("Security_Override_Guidance"),
    ia_controls: value("IA_Controls"),
    legacy_ids: (rule.attributes.get("LEGACY_ID") ?? []).filter((id) => id !== ""),
    ccis: rule.attributes.get("CCI_REF") ?? [],
    group_tree: [{ id: vulnId, title: value("Group_Title"), description: "<GroupDescription></GroupDescription>" }],
    STIGUuid: stig.uuid,
    status: statusOf(childText(element, "STATUS").trim()) ?? "not_reviewed",
    overrides: severity === "" ? {} : { severity: { severity, reason: childText(element, "SEVERITY_JUSTIFICATION") } },
    comments: childText(element, "COMMENTS"),
    finding_details: childText(element, "FINDING_DETAILS"),
  };
}
