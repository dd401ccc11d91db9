import { causesHeadline, closesText, rankCauses } from "../../shared/causes.ts";
import { countOf } from "../../shared/outcome_text.ts";
import type { CheckResult, Report } from "../../shared/report.ts";
import { countStates, isWaived, ruleStates, stateOf, type RuleState } from "../../shared/rule_result.ts";
import { categoryNames, severities } from "../../shared/severity.ts";
import { catalog, revisionName } from "../catalog/catalog.ts";
import { rankableFailures } from "../causes/causes.ts";
import { limitsText } from "../own_limits.ts";
import { idsOf, type RenderOptions } from "./report_format.ts";
import { openFailuresOf, worstFirst } from "./result_text.ts";

/** Words that every document for people shares: the subject of a report, its role, its counts, and the documents that it rests on. */

/** Names and texts of the statement that a document begins with; those that say nothing are left out. */
export function statementRows(
  report: Report,
  options: Pick<RenderOptions, "toolVersion" | "revision">,
): readonly (readonly [name: string, text: string])[] {
  const { scan } = report;
  const { benchmark } = options.revision;
  const { total, retried } = scan.requests;
  const examined = new Set(report.checks.map(({ vuln_id: id }) => id));
  const others = options.revision.checks.flatMap(({ rule }) => (examined.has(rule.vuln_id) ? [] : [rule]));
  const rows = [
    ["Organization", scan.org_url],
    ["STIG", `${benchmark.title}, ${revisionName(benchmark)} (${benchmark.release_info})`],
    ["Not examined", others.length === 0 ? "" : `${countOf(others.length, "rule")}: ${idsOf(others)}`],
    ["Read", `${timeText(scan.started_at)} to ${timeText(scan.ended_at)}, ${scan.status}`],
    ["Client", `${scan.client_id} (${scan.engine} engine), ${countOf(total, "request")}, ${retried} repeated`],
    ["Role", `${roleText(report)}. ${unseenText(report)}`],
    ["Access Control policy", orgPolicyText(report)],
    ["Policy as data", report.org_policy === undefined ? "" : `SHA-256 ${report.org_policy.sha256}`],
    ["Own limits", ownLimitsText(report)],
    ["Baseline", baselineText(report)],
    ["Evidence", report.evidence_sha256 === undefined ? "" : `SHA-256 ${report.evidence_sha256}`],
    ["Scan", `${scan.id}, written by scanstream ${options.toolVersion}`],
  ] as const;
  return rows.filter(([, text]) => text !== "");
}

function timeText(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
}

const unreadReasons = [["missing_role"], ["missing_scope"], ["provider_error", "unreadable", "not_available"]];

/** Names the rules that need what the client of a scan was not shown. */
function unseenText({ scan, checks }: Report): string {
  const [ofRole = "", ofScopes = "", ofAnswers = ""] = unreadReasons.map((reasons) =>
    idsOf(checks.filter(({ findings }) => findings.some(({ reason }) => reasons.includes(reason ?? "")))),
  );
  const missing = scan.requested_scopes.filter((scope) => !scan.granted_scopes.includes(scope));
  const parts = [
    ...(ofRole === "" ? [] : [`It cannot see what these rules need: ${ofRole}.`]),
    ...(scan.role === "super_admin" ? [] : ["Apps that are hidden from it count for no rule."]),
    ...(missing.length === 0 ? [] : [`Scopes not granted: ${missing.join(", ")}.`]),
    ...(ofScopes === "" ? [] : [`For want of scopes these rules cannot be read: ${ofScopes}.`]),
    ...(ofAnswers === "" ? [] : [`Okta's answers leave these rules without a result: ${ofAnswers}.`]),
  ];
  return parts.length === 0 ? "It sees everything that the rules ask about." : parts.join(" ");
}

/** Limits of the organization's own by which rules were judged; empty without one. */
export function ownLimitsText({ checks }: Report): string {
  const limits = checks.flatMap(({ tailoring }) => tailoring?.parameters ?? []);
  return limitsText([...new Map(limits.map((limit) => [limit.name, limit])).values()]);
}

/** Empty without a baseline. */
function baselineText({ baseline }: Report): string {
  if (baseline === null) return "";
  const { scan_id: id, new: added, resolved, unchanged } = baseline;
  return `against scan ${id}: ${added} new, ${unchanged} unchanged, ${resolved} resolved`;
}

/** Counts of rules by DISA's category, the most severe first; `waived` are those of `fail` of which everything that fails is waived. */
export function categoryCounts(checks: readonly CheckResult[]) {
  return severities.flatMap((severity) => {
    const own = checks.filter((check) => check.severity === severity);
    const waived = own.filter((check) => stateOf(check) === "fail" && isWaived(check)).length;
    return own.length === 0 ? [] : [{ level: categoryNames[severity], ...countStates(own), waived }];
  });
}

/** The role in words, by what the scan could see: custom roles have no name that a scan could read. */
export function roleText({ scan, checks }: Report): string {
  if (scan.role === "super_admin") return "Super Administrator";
  if (scan.role === "unknown") return "unknown";
  const refused = new Set(checks.filter(({ reason }) => reason === "missing_role").map(({ check }) => check));
  // Read-Only Administrator reads everything that these rules need but all apps.
  const seesLess = catalog.some(
    ({ rule }) => refused.has(rule.check) && rule.role === "read_only_admin" && !rule.scopes.includes("apps.read"),
  );
  return seesLess ? "custom, less than Read-Only Administrator" : "Read-Only Administrator (or a similar role)";
}

/** The organization's document: who approved it, and how many rules rest on it, or why none does; empty without one. */
export function orgPolicyText({ org_policy: policy, checks }: Report): string {
  if (policy === undefined) return "";
  const { reference, standing, expires, approved_by: by, approved_on: from } = policy;
  const which = `"${reference}", approved by ${by} on ${from},`;
  if (standing === "expired") return `${which} expired on ${expires}: it decides nothing.`;
  if (standing === "not_in_force_yet") return `${which} was not in force when this was read: it decides nothing.`;
  const resting = checks.filter(({ findings }) => findings.some(({ rests_on: document }) => document !== undefined));
  // One of a rule's tokens, policies or apps may not be in the document, or fail by the STIG.
  const isDecided = (one: CheckResult) =>
    stateOf(one) !== "manual" && one.findings.some((found) => found.rests_on && stateOf(found) === stateOf(one));
  const decided = resting.filter(isDecided);
  const inPart = resting.filter((one) => !isDecided(one));
  const ids = idsOf(decided);
  const part = inPart.length === 0 ? "" : `, and a part of ${countOf(inPart.length, "rule")}: ${idsOf(inPart)}`;
  return `${which} decides ${countOf(decided.length, "rule")} until ${expires}${ids === "" ? "" : `: ${ids}`}${part}.`;
}

/** The findings that are past the date by which they were planned to be remediated. */
export function overdueItems({ checks }: Report) {
  return checks.flatMap((check) =>
    openFailuresOf(check).flatMap((finding) => (finding.plan?.overdue === true ? [{ check, finding }] : [])),
  );
}

/**
 * Counts of a report, in the same words in every document for people: `17 of 29 rules failed (52 findings)`, then a part for each
 * other state, and for what was attested or is overdue. `state` is the one that colors it.
 */
export function summaryParts(report: Report): readonly { readonly state: RuleState; readonly text: string }[] {
  const { pass, fail, manual, not_applicable: notApplicable, automated, attested } = report.summary;
  const total = pass + fail + manual + notApplicable;
  const overdue = overdueItems(report).length;
  const notReached = report.checks.filter(({ reason }) => reason === "interrupted").length;
  const open = manual - notReached;
  const needs = `${countOf(open, "rule")} ${open === 1 ? "needs" : "need"} manual review`;
  const parts = [
    ["fail", `${fail} of ${countOf(total, "rule")} failed${failingFindings(report)}`],
    ["manual", automated === 0 ? needs : `${needs} (the automated part of ${automated} passed)`],
    ["manual", notReached === 0 ? "" : `${notReached} not evaluated`],
    ["pass", `${pass} passed`],
    ["not_applicable", `${notApplicable} N/A`],
    ["pass", attested === 0 ? "" : `${countOf(attested, "rule")} attested`],
    ["fail", overdue === 0 ? "" : `${countOf(overdue, "finding")} past the planned remediation date`],
  ] as const;
  return parts.flatMap(([state, text]) => (text === "" ? [] : [{ state, text }]));
}

export function summaryLine(report: Report): string {
  return summaryParts(report)
    .map(({ text }) => text)
    .join("; ");
}

/** ` (52 findings, 3 of them waived)`; a rule that only a person found to fail counts as one. */
function failingFindings({ checks }: Report): string {
  const failing = checks.filter((check) => stateOf(check) === "fail");
  const findings = failing.flatMap((check) => check.findings.filter(({ status }) => status === "FAIL"));
  const attestedOnly = failing.filter(({ status }) => status !== "FAIL").length;
  const waived = findings.filter((finding) => finding.waived).length;
  if (failing.length === 0) return "";
  return ` (${countOf(findings.length + attestedOnly, "finding")}${waived === 0 ? "" : `, ${waived} of them waived`})`;
}

/** The rules that a document for people lists, failures first; its counts are of all. */
export function listRules(
  { checks }: Pick<Report, "checks">,
  { states = ruleStates }: Pick<RenderOptions, "states"> = {},
) {
  const listed = checks.filter((check) => states.includes(stateOf(check))).toSorted(worstFirst);
  const isInterrupted = ({ reason, attestation }: CheckResult) => reason === "interrupted" && attestation === null;
  const interrupted = listed.filter(isInterrupted);
  return {
    listed,
    reached: listed.filter((check) => !isInterrupted(check)),
    /** Rules that the scan did not reach before it was interrupted. */
    interrupted,
    /** Names the interrupted rules in one line; empty without any. */
    interruptedLine:
      interrupted.length === 0
        ? ""
        : `${countOf(interrupted.length, "rule")} not evaluated, because the scan was interrupted: ${idsOf(interrupted)}`,
    /** Says that not every rule is listed; empty where each one is. */
    selectionLine:
      states.length === ruleStates.length
        ? ""
        : `Lists ${listed.length} of ${checks.length} rules (--status ${states.join(",")})`,
  };
}

export type ChangeList = ReturnType<typeof changeLines>;

/** The first changes of a report in order, the number that is `left`, and the headline above them; empty without changes. */
export function changeLines({ checks, causes }: Pick<Report, "checks" | "causes">, most = Infinity) {
  const known = new Map(causes.map(({ id, change }) => [id, change]));
  const failures = rankableFailures(checks).map((failure) => {
    const { cause } = failure;
    return cause === null || known.has(cause) ? failure : { ...failure, cause: null };
  });
  const ranked = rankCauses(failures);
  return {
    headline: causesHeadline(ranked),
    left: Math.max(0, ranked.causes.length - most),
    changes: ranked.causes.slice(0, most).map((cause) => {
      const { number, id } = cause;
      const vulnIds = checks.filter(({ check }) => cause.checks.includes(check)).map((check) => check.vuln_id);
      // `closes 1 rule now, 6 more together with change 3`, and the V-numbers of the rules that it closes findings of.
      return { number, id, change: known.get(id) ?? "", closes: closesText(cause), vulnIds };
    }),
  };
}
