import { revisionName } from "../catalog/catalog.ts";
import { sha256 } from "../digest.ts";
import type { CheckResult, Report } from "../../shared/report.ts";
import { stateOf } from "../../shared/rule_result.ts";
import { benchmarkRules, orgNameOf, type RuleOutcome, toJson, type RenderOptions } from "./report_format.ts";
import { attestationLine, findingLine, waiverLine } from "./result_text.ts";

/** InSpec's and heimdall's convention for STIG severities. */
const impacts = { high: 0.7, medium: 0.5, low: 0.3 } as const;

/** Heimdall Data Format ("exec-json"): what heimdall and the SAF tools load. */
export function renderHdf(report: Report, { toolVersion, revision }: RenderOptions): string {
  const { scan } = report;
  const { benchmark } = revision;
  const controls = benchmarkRules(report, revision).map((outcome) => toControl(outcome, scan.ended_at));
  return toJson({
    platform: { name: "scanstream", release: toolVersion, target_id: orgNameOf(report) },
    version: toolVersion,
    statistics: { duration: (Date.parse(scan.ended_at) - Date.parse(scan.started_at)) / 1000 },
    profiles: [
      {
        name: benchmark.benchmark_id,
        version: revisionName(benchmark),
        title: benchmark.title,
        summary: `Scan ${scan.id} of ${scan.org_url}`,
        sha256: sha256(JSON.stringify(controls)),
        status: "loaded",
        supports: [],
        attributes: [],
        groups: [],
        controls,
      },
    ],
  });
}

function toControl({ rule, check, state, comments }: RuleOutcome, time: string): object {
  return {
    id: rule.vuln_id,
    title: rule.title,
    desc: rule.discussion,
    descriptions: [
      { label: "default", data: rule.discussion },
      { label: "check", data: rule.check_text },
      { label: "fix", data: rule.fix_text },
      ...(comments === "" ? [] : [{ label: "comments", data: comments }]),
    ],
    // Heimdall takes an impact of 0 for "not applicable".
    impact: state === "not_applicable" ? 0 : impacts[rule.severity],
    refs: [],
    tags: {
      gtitle: rule.group_title,
      gid: rule.vuln_id,
      rid: rule.rule_id,
      stig_id: rule.stig_id,
      severity: rule.severity,
      check_id: rule.check,
      check: rule.check_text,
      fix: rule.fix_text,
      cci: rule.ccis,
      nist: rule.nist_800_53_r5,
      satisfies: rule.satisfies,
    },
    code: "",
    source_location: { ref: rule.check },
    results: check === null ? [skipped("Not selected in this scan", time)] : toResults(check, time),
    ...(check === null ? {} : waiverOf(check)),
  };
}

function toResults(check: CheckResult, time: string): readonly object[] {
  const attestation = attestationLine(check);
  const state = stateOf(check);
  // An attestation decides what the findings leave open; it is its own result, next to the evidence.
  if (attestation !== "" && check.status !== "FAIL") {
    const status = state === "fail" ? "failed" : "passed";
    return [{ status, code_desc: attestation, start_time: time, message: check.findings.map(findingLine).join("\n") }];
  }
  return check.findings.map((finding) => {
    const message = findingLine(finding);
    // One result that passed would make heimdall call the control passed: what needs a person is skipped as a whole.
    if (state === "manual") return skipped(message, time);
    const { type, id, name } = finding.resource;
    const about = { code_desc: `${type} ${name}: ${finding.expected}`, start_time: time, resource_id: id };
    if (finding.status === "MANUAL") return { ...about, status: "skipped", skip_message: message };
    return { ...about, status: finding.status === "PASS" ? "passed" : "failed", message };
  });
}

function skipped(message: string, time: string): object {
  return { status: "skipped", code_desc: message, skip_message: message, start_time: time };
}

function waiverOf(check: CheckResult): object {
  const waivers = check.findings.flatMap(({ waiver }) => (waiver === null ? [] : [waiver]));
  if (waivers.length === 0) return {};
  const justification = [...new Set(waivers.map(waiverLine))].join("; ");
  const [expires] = waivers
    .map((waiver) => waiver.expires)
    .filter((date) => date !== null)
    .toSorted((a, b) => Date.parse(a) - Date.parse(b));
  return {
    waiver_data: {
      justification,
      message: `${waivers.length} of ${check.findings.length} findings are waived`,
      run: true,
      skipped_due_to_waiver: false,
      ...(expires === undefined ? {} : { expiration_date: expires }),
    },
  };
}
