import type { XMLBuilder } from "xmlbuilder2/lib/interfaces.js";
import type { Report } from "../../shared/report.ts";
import { revisionName } from "../catalog/catalog.ts";
import { benchmarkRules, hostOf, siteOf, type RuleOutcome } from "./benchmark_rules.ts";
import type { RuleState } from "../../shared/rule_result.ts";
import { revisionOf, type ReportFormat } from "./report_format.ts";
import { createXml, xmlString, xmlText } from "./xml.ts";

const namespace = "http://checklists.nist.gov/xccdf/1.2";
const idOf = (kind: string, name: string) => `xccdf_mil.disa.stig_${kind}_${name}`;

const results: Readonly<Record<RuleState, string>> = {
  pass: "pass",
  fail: "fail",
  not_applicable: "notapplicable",
  manual: "notchecked",
};

/** XCCDF 1.2 with a TestResult: what SCAP tools and STIG Manager import. */
export const xccdfFormat: ReportFormat = {
  name: "xccdf",
  extension: "xccdf.xml",
  isMachine: true,
  render(report, options) {
    const { scan } = report;
    const revision = revisionOf(options);
    const { benchmark } = revision;
    const outcomes = benchmarkRules(report, revision);
    const document = createXml();
    const id = idOf("benchmark", benchmark.benchmark_id);
    const root = document.ele(namespace, "Benchmark", {
      id,
      resolved: "1",
      "xml:lang": "en",
    });
    root.ele("status", { date: scan.ended_at.slice(0, 10) }).txt("accepted");
    root.ele("title").txt(benchmark.title);
    root.ele("description").txt(`Results of scanstream for ${benchmark.title} ${revisionName(benchmark)}`);
    root.ele("plain-text", { id: "release-info" }).txt(benchmark.release_info);
    root.ele("version").txt(benchmark.version);
    for (const outcome of outcomes) addRule(root, outcome);

    const result = root.ele("TestResult", {
      id: idOf("testresult", xmlText(scan.id)),
      "start-time": scan.started_at,
      "end-time": scan.ended_at,
      "test-system": `cpe:/a:scanstream:scanstream:${options.toolVersion}`,
      version: benchmark.version,
    });
    result.ele("benchmark", { href: `#${id}`, id });
    result.ele("title").txt(`scanstream ${options.toolVersion}`);
    result.ele("identity", { authenticated: "true", privileged: "false" }).txt(xmlText(scan.client_id));
    result.ele("target").txt(xmlText(hostOf(report)));
    const facts = result.ele("target-facts");
    facts.ele("fact", { name: "urn:scanstream:fact:org_url", type: "string" }).txt(xmlText(scan.org_url));
    facts.ele("fact", { name: "urn:scanstream:fact:role", type: "string" }).txt(scan.role);
    for (const [name, value] of siteFacts(report)) facts.ele("fact", { name, type: "string" }).txt(xmlText(value));
    for (const outcome of outcomes) addRuleResult(result, outcome, scan.ended_at);
    const passed = outcomes.filter(({ state }) => state === "pass").length;
    const decided = outcomes.filter(({ state }) => state === "pass" || state === "fail").length;
    const score = decided === 0 ? 0 : (passed / decided) * 100;
    result.ele("score", { system: "urn:xccdf:scoring:default", maximum: "100" }).txt(score.toFixed(2));
    return xmlString(document);
  },
};

/** What STIG Manager tells assets of one host apart by: the same values as in the checklists. */
function siteFacts(report: Report): readonly (readonly [name: string, value: string])[] {
  const site = siteOf(report);
  if (site === "") return [];
  const about = "tag:stig-manager@users.noreply.github.com,2020:asset:metadata:";
  return [
    [`${about}cklWebOrDatabase`, "true"],
    [`${about}cklHostName`, hostOf(report)],
    [`${about}cklWebDbSite`, site],
  ];
}

function addRule(root: XMLBuilder, { rule }: RuleOutcome): void {
  const group = root.ele("Group", { id: idOf("group", rule.vuln_id) });
  group.ele("title").txt(rule.group_title);
  const element = group.ele("Rule", { id: idOf("rule", rule.rule_id), weight: "10.0", severity: rule.severity });
  element.ele("version").txt(rule.stig_id);
  element.ele("title").txt(xmlText(rule.title));
  element.ele("description").txt(xmlText(rule.discussion));
  for (const cci of rule.ccis) element.ele("ident", { system: "http://cyber.mil/cci" }).txt(cci);
  element.ele("fixtext", { fixref: `F-${rule.vuln_id.slice(2)}_fix` }).txt(xmlText(rule.fix_text));
  const check = element.ele("check", { system: "urn:scanstream:check" });
  check.ele("check-content").txt(xmlText(rule.check_text));
}

function addRuleResult(parent: XMLBuilder, outcome: RuleOutcome, time: string): void {
  const { rule, check, state, details, comments } = outcome;
  const result = parent.ele("rule-result", {
    idref: idOf("rule", rule.rule_id),
    time,
    severity: rule.severity,
    weight: "10.0",
    version: rule.stig_id,
  });
  result.ele("result").txt(check === null ? "notselected" : results[state]);
  addOverride(result, outcome, time);
  for (const cci of rule.ccis) result.ele("ident", { system: "http://cyber.mil/cci" }).txt(cci);
  const text = [details, comments].filter((part) => part !== "").join("\n");
  result.ele("message", { severity: "info" }).txt(xmlText(text));
  const checkElement = result.ele("check", { system: "urn:scanstream:check" });
  checkElement.ele("check-content-ref", { href: "scanstream", name: rule.check });
  checkElement.ele("check-content").ele("urn:scanstream:check", "detail").txt(xmlText(text));
}

/** A verdict that a person attested is no result of the engine: it overrides one. */
function addOverride(result: XMLBuilder, { check, state }: RuleOutcome, time: string): void {
  if (check === null || check.attestation === null || check.status === "FAIL") return;
  const { by, reason } = check.attestation;
  const override = result.ele("override", { time, authority: xmlText(by) });
  override.ele("old-result").txt(results.manual);
  override.ele("new-result").txt(results[state]);
  override.ele("remark").txt(xmlText(reason));
}
