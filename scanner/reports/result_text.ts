import { limitsText } from "../own_limits.ts";
import { countOf } from "../../shared/outcome_text.ts";
import type { CheckResult, Finding, Plan, Waiver } from "../../shared/report.ts";
import { failuresOf, ruleStates, stateOf, type Verdict } from "../../shared/rule_result.ts";
import { severities } from "../../shared/severity.ts";
import { labelledNotes } from "../../shared/schemas/finding_notes.ts";

/** STIG Manager cuts details at 32,767 characters; this leaves room for what people write. */
const maxDetailsLength = 30_000;

/** A line for each finding, failures first, waived and changed ones marked; `evidence` says what was read. */
export function findingDetails(check: CheckResult, evidence: string = ""): string {
  const lines = [tailoringLine(check), evidence].filter(Boolean);
  const findings = failuresFirst(check.findings).map(findingLine);
  let length = lines.join("\n").length;
  const fitting = findings.findIndex((line) => (length += line.length + 1) > maxDetailsLength);
  if (fitting === -1) return [...lines, ...findings].join("\n");
  const left = `and ${countOf(findings.length - fitting, "more finding")}: the report as CSV lists them`;
  return [...lines, ...findings.slice(0, fitting), left].join("\n");
}

/** In the order in which a reader of a part needs them: an org may have thousands that only need a person. */
export function failuresFirst(findings: readonly Finding[]): readonly Finding[] {
  return findings.toSorted((one, other) => rankOf(one) - rankOf(other));
}

function rankOf(verdict: Verdict): number {
  return ruleStates.indexOf(stateOf(verdict));
}

/** The failures of a check that no waiver covers. */
export function openFailuresOf(check: CheckResult): readonly Finding[] {
  return failuresOf(check).filter(({ waived }) => !waived);
}

export function findingLine(finding: Finding): string {
  return `${verdictOf(finding)}: ${finding.detail}${bracketedMarks(finding)}`;
}

/** ` [waived by ada: why] [new]`; empty for most. */
export function bracketedMarks(finding: Finding): string {
  return findingMarks(finding)
    .map((mark) => ` [${mark}]`)
    .join("");
}

export function verdictOf({ status, reason }: Pick<Finding, "status" | "reason">): string {
  if (reason === "not_applicable") return "Not Applicable";
  return `${status}${reason === null ? "" : ` (${reason})`}`;
}

/** Sorts failures first, then what needs manual review; CAT I first among equals. */
export function worstFirst(one: CheckResult, other: CheckResult): number {
  const byState = rankOf(one) - rankOf(other);
  return byState || severities.indexOf(one.severity) - severities.indexOf(other.severity);
}

/** As people read the four states. */
export const stateLabels = { pass: "PASS", fail: "FAIL", manual: "MANUAL", not_applicable: "N/A" } as const;

/**
 * Returns what a finding's sentence adds to `expected` and `actual`, for reports that show these two by themselves: its note,
 * mostly nothing; the whole sentence where it does not hold them word for word.
 */
export function noteOf({ expected, actual, detail }: Finding): string {
  const shown = `expected ${expected}, found ${actual}`.replaceAll(/[\p{Cc}\s]+/gu, " ");
  const start = detail.indexOf(shown);
  if (start === -1) return detail;
  const rest = detail.slice(start + shown.length);
  return rest === "." ? "" : rest.replace(/^: /, "");
}

/** The decisions of people about a finding, and how it compares with the baseline; none for most. */
export function findingMarks(finding: Finding): readonly string[] {
  const { status, stig_status: stigStatus, change, advisory } = finding;
  return [
    ...(stigStatus === undefined || stigStatus === status ? [] : [`by the STIG's value: ${stigStatus}`]),
    ...findingDecisions(finding),
    ...labelledNotes(finding)
      .filter(({ isInReports }) => isInReports)
      .map(({ label, text }) => `${label}: ${text}`),
    ...(advisory ? ["does not change the result of the rule"] : []),
    ...(change === null ? [] : [change]),
  ];
}

/** Limits and the document of the organization's own, and an attestation, for the reader of a checklist. */
export function checkComments(check: CheckResult): string {
  const rests = new Set(check.findings.flatMap(({ rests_on: document }) => document ?? []));
  const documents = [...rests].map((document) => `Rests on ${document}`);
  return [tailoringLine(check), ...documents, attestationLine(check)].filter(Boolean).join("\n");
}

/** Lines about a rule as a whole: limits of the organization's own, and an attestation; none for most. */
export function ruleDecisions(check: CheckResult): readonly string[] {
  return [tailoringLine(check), attestationLine(check)].filter(Boolean);
}

/** Lines about one finding: its waiver and its plan; none for most. */
export function findingDecisions({ waiver, plan }: Finding): readonly string[] {
  return [...(waiver === null ? [] : [waiverLine(waiver)]), ...(plan === undefined ? [] : [planLine(plan)])];
}

/** A waiver as a line: `waived by ada (gateway) until 2027-01-31: why`. */
export function waiverLine(waiver: Waiver): string {
  const { reason, expires } = waiver;
  return `waived${byAuthor(waiver)}${expires === null ? "" : ` until ${expires}`}: ${reason}`;
}

/** Names who decided, and where that is kept: `ada (gateway)`; empty where a file does not say. */
export function authorOf({ by = "", source }: Pick<Waiver, "by" | "source">): string {
  return source === undefined ? by : `${by} (${source})`;
}

function byAuthor(decision: Pick<Waiver, "by" | "source">): string {
  const author = authorOf(decision);
  return author === "" ? "" : ` by ${author}`;
}

/** A plan as a line: `remediation planned by 2027-01-31: why`. */
export function planLine({ remediation_date: date, overdue, reason }: Plan): string {
  return `${overdue ? "overdue: remediation was planned by" : "remediation planned by"} ${date}: ${reason}`;
}

/** Names the organization's own values by which a check was judged, and the verdict by the STIG's; empty without own values. */
export function tailoringLine({ tailoring }: CheckResult): string {
  if (tailoring === undefined) return "";
  const { parameters, stig_status: status, stig_reason: reason } = tailoring;
  return `Evaluated with the organization's ${limitsText(parameters)}; with the STIG's own value: ${status}${reason === null ? "" : ` (${reason})`}`;
}

/** Why a rule fails: what was found, or who attested it; a finding that passes would be no reason. */
export function failureText(check: CheckResult, found: string): string {
  return check.status === "FAIL" ? found : attestationLine(check);
}

/** The attestation of a check as a line; empty when none exists. */
export function attestationLine({ attestation }: CheckResult): string {
  if (attestation === null) return "";
  const until = attestation.expires === null ? "" : ` until ${attestation.expires}`;
  return `Attested ${attestation.status}${byAuthor(attestation)}${until}: ${attestation.reason}`;
}
