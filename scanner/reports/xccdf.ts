import type { Report } from "../../shared/report.ts";
import type { RuleState } from "../../shared/rule_result.ts";
import { revisionName } from "../catalog/catalog.ts";
import { element, writeXml, type XmlNode } from "../xml.ts";
import { benchmarkRules, hostOf, siteOf, type RuleOutcome, type RenderOptions } from "./report_format.ts";

const idOf = (kind: string, name: string) => `xccdf_mil.disa.stig_${kind}_${name}`;

const results: Readonly<Record<RuleState, string>> = {
  pass: "pass",
  fail: "fail",
  not_applicable: "notapplicable",
  manual: "notchecked",
};

/** XCCDF 1.2 with a TestResult: what SCAP tools and STIG Manager import. */
export function renderXccdf(report: Report, options: RenderOptions): string {
  const { revision } = options;
  const { benchmark } = revision;
  const outcomes = benchmarkRules(report, revision);
  const content = [
    element("status", "accepted", { date: report.scan.ended_at.slice(0, 10) }),
    element("title", benchmark.title),
    element("description", `Results of scanstream for ${benchmark.title} ${revisionName(benchmark)}`),
    element("plain-text", benchmark.release_info, { id: "release-info" }),
    element("version", benchmark.version),
    ...outcomes.map(ruleGroup),
    testResult(report, outcomes, options),
  ];
  const xmlns = "http://checklists.nist.gov/xccdf/1.2";
  const id = idOf("benchmark", benchmark.benchmark_id);
  return writeXml(element("Benchmark", content, { xmlns, id, resolved: "1", "xml:lang": "en" }));
}

function ruleGroup({ rule }: RuleOutcome): XmlNode {
  const content = [
    element("version", rule.stig_id),
    element("title", rule.title),
    element("description", rule.discussion),
    ...identNodes(rule),
    element("fixtext", rule.fix_text),
    element("check", [element("check-content", rule.check_text)], { system: "urn:scanstream:check" }),
  ];
  const about = { id: idOf("rule", rule.rule_id), weight: "10.0", severity: rule.severity };
  return element("Group", [element("title", rule.group_title), element("Rule", content, about)], {
    id: idOf("group", rule.vuln_id),
  });
}

function identNodes({ ccis }: RuleOutcome["rule"]): readonly XmlNode[] {
  return ccis.map((cci) => element("ident", cci, { system: "http://cyber.mil/cci" }));
}

function testResult(
  report: Report,
  outcomes: readonly RuleOutcome[],
  { toolVersion, revision: { benchmark } }: RenderOptions,
): XmlNode {
  const { scan } = report;
  const id = idOf("benchmark", benchmark.benchmark_id);
  const site = siteOf(report);
  // STIG Manager tells assets of one host apart by these, with the same values as in the checklists.
  const asset = "tag:stig-manager@users.noreply.github.com,2020:asset:metadata:";
  const facts = Object.entries({
    "urn:scanstream:fact:org_url": scan.org_url,
    "urn:scanstream:fact:role": scan.role,
    ...(site !== "" && {
      [`${asset}cklWebOrDatabase`]: "true",
      [`${asset}cklHostName`]: hostOf(report),
      [`${asset}cklWebDbSite`]: site,
    }),
  }).map(([name, value]) => element("fact", value, { name, type: "string" }));
  const passed = outcomes.filter(({ state }) => state === "pass").length;
  const decided = outcomes.filter(({ state }) => state === "pass" || state === "fail").length;
  const score = decided === 0 ? 0 : (passed / decided) * 100;
  const content = [
    element("benchmark", "", { href: `#${id}`, id }),
    element("title", `scanstream ${toolVersion}`),
    element("identity", scan.client_id, { authenticated: "true", privileged: "true" }),
    element("target", hostOf(report)),
    element("target-facts", facts),
    ...outcomes.map((outcome) => ruleResult(outcome, scan.ended_at)),
    element("score", score.toFixed(2), { system: "urn:xccdf:scoring:default", maximum: "100" }),
  ];
  return element("TestResult", content, {
    id: idOf("testresult", scan.id),
    "start-time": scan.started_at,
    "end-time": scan.ended_at,
    "test-system": `cpe:/a:scanstream:scanstream:${toolVersion}`,
    version: benchmark.version,
  });
}

function ruleResult(outcome: RuleOutcome, time: string): XmlNode {
  const { rule, check, state, details, comments } = outcome;
  const text = [details, comments].filter(Boolean).join("\n");
  const reference = element("check-content-ref", "", { href: "scanstream", name: rule.check });
  const detail = element("detail", text, { xmlns: "urn:scanstream:check" });
  const content = [
    element("result", check === null ? "notselected" : results[state]),
    ...overrideNodes(outcome, time),
    ...identNodes(rule),
    element("message", text, { severity: "info" }),
    element("check", [reference, element("check-content", [detail])], { system: "urn:scanstream:check" }),
  ];
  const { severity, stig_id: version } = rule;
  const idref = idOf("rule", rule.rule_id);
  return element("rule-result", content, { idref, time, severity, weight: "10.0", version });
}

/** A verdict that a person attested is not a result of the engine: it overrides one. */
function overrideNodes({ check, state }: RuleOutcome, time: string): readonly XmlNode[] {
  if (check === null || check.attestation === null || check.status === "FAIL") return [];
  const { by, reason } = check.attestation;
  const [before, after] = [element("old-result", results.manual), element("new-result", results[state])];
  return [element("override", [before, after, element("remark", reason)], { time, authority: by })];
}
