import type { CheckResult, Report } from "../../shared/report.ts";
import { countStates, isWaived, stateOf } from "../../shared/rule_result.ts";
import { element, writeXml, type XmlNode } from "../xml.ts";
import { attestationLine, failureText, findingDetails } from "./result_text.ts";
import { orgNameOf, levelOf } from "./report_format.ts";

/** One test case for each rule, for the test reports of pipelines: FAIL is a failure, also a waived one; what needs a person is skipped. */
export function renderJunit(report: Report): string {
  const { scan, checks } = report;
  const { pass, fail: failures } = countStates(checks);
  const skipped = checks.length - pass - failures;
  const seconds = ((Date.parse(scan.ended_at) - Date.parse(scan.started_at)) / 1000).toFixed(3);
  const counts = { tests: checks.length, failures, errors: 0, skipped, time: seconds };
  const about = { name: orgNameOf(report), ...counts, timestamp: scan.started_at.replace(/\.\d+Z$/, "") };
  const { skipped: _, ...total } = counts;
  const suite = element("testsuite", checks.map(testCase), about);
  return writeXml(element("testsuites", [suite], { name: "scanstream", ...total }));
}

function testCase(check: CheckResult): XmlNode {
  const details = [findingDetails(check), attestationLine(check)].filter(Boolean).join("\n");
  return element("testcase", outcomeNodes(check, details), {
    name: `${check.vuln_id} ${check.title}`,
    classname: `scanstream.${check.check}`,
  });
}

function outcomeNodes(check: CheckResult, details: string): readonly XmlNode[] {
  const state = stateOf(check);
  if (state === "fail") {
    const why = failureText(check, check.detail);
    const message = isWaived(check) ? `waived: ${why}` : why;
    return [element("failure", details, { message, type: levelOf(check) })];
  }
  const why = state === "not_applicable" ? "not applicable" : (check.reason ?? "");
  const skipped = state === "pass" ? [] : [element("skipped", "", { message: `${why}: ${check.detail}` })];
  return [...skipped, element("system-out", details)];
}
