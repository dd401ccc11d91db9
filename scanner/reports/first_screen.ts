import { countOf } from "../../shared/outcome_text.ts";
import { openFindings, ruleStates, stateOf } from "../../shared/rule_result.ts";
import type { CheckResult, Finding, Report } from "../../shared/report.ts";
import { shorten } from "../../shared/text.ts";
import { paintStatus, printable, wrapped, wrapText } from "../../command_line/terminal.ts";
import { builtIn, revisionName } from "../catalog/catalog.ts";
import { unreadRules, unreadText } from "../decisions/gates.ts";
import { idsOf, levelOf, type RenderOptions } from "./report_format.ts";
import { attestationLine, noteOf, stateLabels } from "./result_text.ts";
import {
  categoryCounts,
  changeLines,
  listRules,
  orgPolicyText,
  ownLimitsText,
  roleText,
  summaryParts,
} from "./statement.ts";

/** The lines of the answer, which fit 24 lines with those around them. */
const maxLines = 18;
const maxRules = 4;
const maxChanges = 2;

/** The answer on one screen of 24 lines and 80 columns: what was scanned, the counts by category, and the worst rules. */
export function firstScreen(report: Report, options: RenderOptions): readonly string[] {
  const { width } = options;
  const { reached, interrupted, interruptedLine } = listRules(report);
  const open = reached
    .filter((check) => ["fail", "manual"].includes(stateOf(check)))
    .toSorted((one, other) => Number(isWaived(one)) - Number(isWaived(other)));
  const changes = changeTexts(report, width);
  const unread = unreadRules(report).filter((check) => !interrupted.includes(check));
  const twoLines = (text: string) => shorten(text, width * 2 - 10);
  const limits = ownLimitsText(report) && twoLines(`Own limits: ${ownLimitsText(report)}`);
  const lines = [
    ...(unread.length === 0 ? [] : [twoLines(`${unreadText(unread)}: ${idsOf(unread)}`)]),
    `${report.scan.org_url}: ${summaryParts(report)[0]?.text ?? ""}`,
    `Role: ${roleText(report)}.`,
    ...revisionLines(reached, options),
    ...(interruptedLine === "" ? [] : [twoLines(interruptedLine)]),
    "",
    ...categoryLines(report.checks, width),
    ...[orgPolicyText(report), baselineText(report), limits, neverExpiresText(report.checks)].filter(Boolean),
    "",
  ].flatMap((line) => wrapped(line, 2, width));
  const room = maxLines - 1 - lines.length - changes.length;
  const shown = Math.max(1, Math.min(maxRules, Math.floor(room / 2)));
  const left = open.length - shown;
  return [
    ...lines,
    ...changes,
    ...open.slice(0, shown).flatMap((check) => ruleLines(check, options)),
    ...(left > 0 ? [`and ${countOf(left, "more rule")} that failed or ${left === 1 ? "needs" : "need"} review`] : []),
  ];
}

function baselineText({ baseline }: Report): string {
  if (baseline === null) return "";
  return `Against the baseline: ${baseline.new} new, ${baseline.resolved} resolved, ${baseline.unchanged} unchanged.`;
}

/** Decisions of people only: an own limit has no author, and an answer in a checklist has no end. */
function neverExpiresText(checks: readonly CheckResult[]): string {
  const findings = checks.flatMap((check) => check.findings);
  const waived = findings.filter(({ waiver }) => waiver?.by !== undefined && waiver.expires === null).length;
  const attested = checks.filter(
    ({ attestation }) => attestation?.expires === null && attestation.source !== "checklist",
  );
  const parts = [
    waived === 0 ? "" : countOf(waived, "waived finding"),
    attested.length === 0 ? "" : countOf(attested.length, "attested rule"),
  ].filter(Boolean);
  return parts.length === 0 ? "" : `Decisions that never expire: ${parts.join(", ")}.`;
}

/** The first changes, each with what it closes. */
function changeTexts(report: Report, width: number): readonly string[] {
  const { headline, changes } = changeLines(report, maxChanges);
  const texts = changes.flatMap(({ number, change, closes }) => [`  ${number}. ${change}`, `     ${closes}`]);
  return changes.length === 0 ? [] : [...wrapText(`${headline}:`, width), ...texts.map((text) => cut(text, width))];
}

/** Names another revision of the STIG than the built-in one, and counts its rules that no check judges. */
function revisionLines(checks: readonly CheckResult[], { revision: { benchmark } }: RenderOptions): readonly string[] {
  if (benchmark.id === builtIn.benchmark.id) return [];
  const left = checks.filter(({ reason }) => reason === "rule_changed" || reason === "not_automated").length;
  const rest = left === 0 ? "" : `; ${countOf(left, "rule")} of it ${left === 1 ? "needs" : "need"} manual review`;
  return [`STIG ${revisionName(benchmark)} (${benchmark.release_info})${rest}.`];
}

function isWaived(check: CheckResult): boolean {
  return openFindings(check).every(({ waived }) => waived);
}

/** `CAT I: 1 FAIL, 2 MANUAL · CAT II: 16 FAIL, …`, broken between categories. */
function categoryLines(checks: readonly CheckResult[], width: number): readonly string[] {
  const parts = categoryCounts(checks).map((counts) => {
    const words = ruleStates
      .filter((state) => counts[state] > 0)
      .map((state) => `${counts[state]} ${stateLabels[state]}`);
    return `${counts.level}: ${words.join(", ")}`;
  });
  const whole = parts.join(" · ");
  return whole.length <= width ? [whole] : parts;
}

function ruleLines(check: CheckResult, options: RenderOptions): readonly string[] {
  const label = stateLabels[stateOf(check)];
  const head = ` ${check.vuln_id} ${levelOf(check)} ${check.title}`;
  const [first, ...more] = openFindings(check).toSorted(byWeight);
  const others =
    more.length === 0 || check.attestation !== null ? "" : ` (and ${countOf(more.length, "more finding")})`;
  const waived = first?.waived ? "[waived] " : "";
  // A finding that passes does not explain a rule that somebody attested as FAIL.
  const found =
    attestationLine(check) || (first === undefined ? "" : `${waived}${first.resource.name}: ${textOf(first)}`);
  const room = options.width - margin.length - others.length;
  return [
    paintStatus(label, label, options) + cut(head, options.width - label.length),
    ...(found === "" ? [] : [`${margin}${cut(found, room)}${others}`]),
  ];
}

/** First what fails and nobody waived. */
function byWeight(one: Finding, other: Finding): number {
  const rank = (finding: Finding) => Number(finding.waived) * 2 + Number(finding.status !== "FAIL");
  return rank(one) - rank(other);
}

/** The part that a person verifies, if the automated one passed. */
function textOf(finding: Finding): string {
  const [note = ""] = finding.automated === "PASS" ? noteOf(finding).split("; ").slice(-1) : [];
  return note === "" ? finding.actual : note;
}

const margin = "       ";
/** More of a text than this is never looked at. */
const maxTextLength = 400;

/** One line: what fits, and "…" where something does not. */
function cut(text: string, room: number): string {
  const [first = "", ...more] = wrapText(printable(shorten(text, maxTextLength)), room - 1);
  return more.length === 0 ? first : `${first}…`;
}
