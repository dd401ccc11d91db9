import type { XMLBuilder } from "xmlbuilder2/lib/interfaces.js";
import type { CheckResult } from "../../shared/report.ts";
import { isWaived, stateOf } from "../../shared/rule_result.ts";
import { attestationLine, findingDetails } from "./result_text.ts";
import { orgNameOf, levelOf } from "./benchmark_rules.ts";
import type { ReportFormat } from "./report_format.ts";
import { createXml, xmlString, xmlText } from "./xml.ts";

/** One test case for each rule, for the test reports of pipelines: FAIL is a failure, what needs a person is skipped. */
export const junitFormat: ReportFormat = {
  name: "junit",
  extension: "junit.xml",
  isMachine: true,
  render(report) {
    const { scan, checks } = report;
    const failures = checks.filter((check) => outcomeOf(check) === "failure").length;
    const skipped = checks.filter((check) => outcomeOf(check) === "skipped").length;
    const seconds = ((Date.parse(scan.ended_at) - Date.parse(scan.started_at)) / 1000).toFixed(3);
    const counts = { tests: checks.length, failures, errors: 0, skipped, time: seconds };
    const document = createXml();
    const suite = document
      .ele("testsuites", { name: "scanstream", tests: checks.length, failures, errors: 0, time: seconds })
      .ele("testsuite", {
        name: xmlText(orgNameOf(report)),
        ...counts,
        timestamp: scan.started_at.replace(/\.\d+Z$/, ""),
      });
    for (const check of checks) addTestCase(suite, check);
    return xmlString(document);
  },
};

function addTestCase(suite: XMLBuilder, check: CheckResult): void {
  const name = `${check.vuln_id} ${check.title}`;
  const testCase = suite.ele("testcase", { name: xmlText(name), classname: xmlText(`scanstream.${check.check}`) });
  const details = xmlText([findingDetails(check), attestationLine(check)].filter((text) => text !== "").join("\n"));
  const outcome = outcomeOf(check);
  if (outcome === "failure") {
    testCase.ele("failure", { message: xmlText(check.detail), type: levelOf(check) }).txt(details);
  } else if (outcome === "skipped") {
    testCase.ele("skipped", { message: xmlText(`${skippedReason(check)}: ${check.detail}`) });
    testCase.ele("system-out").txt(details);
  } else {
    testCase.ele("system-out").txt(details);
  }
}

function skippedReason(check: CheckResult): string {
  const state = stateOf(check);
  if (state === "fail") return "waived";
  return state === "not_applicable" ? "not applicable" : (check.reason ?? "");
}

/** A failure that is waived in all its findings does not fail the pipeline; it is skipped, visibly. */
function outcomeOf(check: CheckResult): "failure" | "skipped" | "passed" {
  const state = stateOf(check);
  if (state === "pass") return "passed";
  return state === "fail" && !isWaived(check) ? "failure" : "skipped";
}
