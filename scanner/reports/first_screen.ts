import { countOf } from "../../shared/outcome_text.ts";
import { countStates, openFindings, ruleStates, stateOf } from "../../shared/rule_result.ts";
import type { CheckResult, ManualReason, Report } from "../../shared/report.ts";
import { shorten } from "../../shared/text.ts";
import { paintStatus, printable, wrapText } from "../../command_line/terminal.ts";
import { builtIn, revisionName } from "../catalog/catalog.ts";
import { levelOf } from "./benchmark_rules.ts";
import { causesLine } from "./cause_lines.ts";
import { severityOrder, stateLabels, worstFirst } from "./result_text.ts";
import { revisionOf, type RenderOptions } from "./report_format.ts";
import { interruptedLine, roleText, splitInterrupted, summaryParts } from "./summary_parts.ts";

/** The rules on the first screen: with the lines around them they fit 24 lines. */
const maxRules = 4;
/** The changes on the first screen, each in place of a rule. */
const maxChanges = 2;

/** The answer on one screen of 24 lines and 80 columns: what was scanned, the counts by category, and the worst rules. */
export function firstScreen(report: Report, options: RenderOptions): readonly string[] {
  const { width } = options;
  const { reached, interrupted } = splitInterrupted(report.checks);
  const open = reached
    .filter((check) => ["fail", "manual"].includes(stateOf(check)))
    .toSorted((one, other) => Number(isWaived(one)) - Number(isWaived(other)) || worstFirst(one, other));
  const changes = changeLines(report, options);
  const shown = maxRules - Math.max(changes.length - 1, 0);
  const left = open.length - shown;
  const lines = [
    `${report.scan.org_url}: ${summaryParts(report)[0]?.text ?? ""}`,
    `Role: ${roleText(report)}.${interrupted.length === 0 ? ` ${unreadLine(reached)}` : ""}`,
    ...revisionLines(reached, options),
    ...(interrupted.length === 0 ? [] : [shorten(interruptedLine(interrupted), width * 2 - 10)]),
    "",
    ...categoryLines(report.checks, width),
    "",
  ];
  return [
    ...lines.flatMap((line) => indented(line, width)),
    ...changes,
    ...open.slice(0, shown).flatMap((check) => ruleLines(check, options)),
    ...(left > 0 ? [`and ${countOf(left, "more rule")} that failed or ${left === 1 ? "needs" : "need"} review`] : []),
  ];
}

/** `4 changes close 14 of 17 rules`, and the first of them. */
function changeLines(report: Report, { width }: RenderOptions): readonly string[] {
  if (report.causes.length === 0) return [];
  return [
    ...indented(`${causesLine(report)}. The first:`, width),
    ...report.causes.slice(0, maxChanges).map((cause) => {
      const count = `  ${countOf(cause.checks.length, "rule")}: `;
      return `${count}${cut(cause.change, width - count.length)}`;
    }),
  ];
}

/** Where another revision of the STIG was chosen: which, and what of it no check judges. */
function revisionLines(checks: readonly CheckResult[], options: RenderOptions): readonly string[] {
  const { benchmark } = revisionOf(options);
  if (benchmark.id === builtIn.benchmark.id) return [];
  const left = checks.filter(({ reason }) => reason === "rule_changed" || reason === "not_automated").length;
  const rest = left === 0 ? "" : `; ${countOf(left, "rule")} of it ${left === 1 ? "needs" : "need"} manual review`;
  return [`STIG ${revisionName(benchmark)} (${benchmark.release_info})${rest}.`];
}

const unreadReasons: ReadonlySet<ManualReason | null> = new Set([
  "missing_scope",
  "missing_role",
  "provider_error",
  "unreadable",
]);

function isWaived(check: CheckResult): boolean {
  return openFindings(check).every(({ waived }) => waived);
}

/** What the scan could not see, and why. */
function unreadLine(checks: readonly CheckResult[]): string {
  const unread = checks.filter(({ status, reason }) => status === "MANUAL" && unreadReasons.has(reason));
  if (unread.length === 0) return "All evidence was readable.";
  const reasons = [...Map.groupBy(unread, ({ reason }) => reason)].map(
    ([reason, { length }]) => `${String(reason)}: ${length}`,
  );
  return `Could not read evidence for ${countOf(unread.length, "rule")} (${reasons.join(", ")}); run scanstream doctor.`;
}

/** `CAT I: 1 FAIL, 2 MANUAL · CAT II: 16 FAIL, …`, broken between categories. */
function categoryLines(checks: readonly CheckResult[], width: number): readonly string[] {
  const sorted = checks.toSorted((one, other) => severityOrder[one.severity] - severityOrder[other.severity]);
  const byLevel = Map.groupBy(sorted, levelOf);
  const parts = [...byLevel].map(([level, ofLevel]) => {
    const counts = countStates(ofLevel);
    const words = ruleStates
      .filter((state) => counts[state] > 0)
      .map((state) => `${counts[state]} ${stateLabels[state]}`);
    return `${level}: ${words.join(", ")}`;
  });
  const whole = parts.join(" · ");
  return whole.length <= width ? [whole] : parts;
}

function ruleLines(check: CheckResult, options: RenderOptions): readonly string[] {
  const label = stateLabels[stateOf(check)];
  const head = ` ${check.vuln_id} ${levelOf(check)} ${check.title}`;
  const [first, ...more] = openFindings(check).toSorted((one, other) => Number(one.waived) - Number(other.waived));
  const others = more.length === 0 ? "" : ` (and ${countOf(more.length, "more finding")})`;
  const found = first === undefined ? "" : `${first.waived ? "[waived] " : ""}${first.resource.name}: ${first.actual}`;
  const room = options.width - margin.length - others.length;
  return [
    paintStatus(label, label, options) + cut(head, options.width - label.length),
    ...(found === "" ? [] : [`${margin}${cut(found, room)}${others}`]),
  ];
}

const margin = "       ";
/** More of a text than this is never looked at. */
const maxTextLength = 400;

/** One line: what fits, and "…" where something does not. */
function cut(text: string, room: number): string {
  const [first = "", ...more] = wrapText(printable(shorten(text, maxTextLength)), room - 1);
  return more.length === 0 ? first : `${first}…`;
}

function indented(text: string, width: number): readonly string[] {
  const [first = "", ...more] = wrapText(printable(text), width - 2);
  return [first, ...more.map((line) => `  ${line}`)];
}
