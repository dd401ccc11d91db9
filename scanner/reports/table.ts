import type { CheckResult, Finding, Report } from "../../shared/report.ts";
import { stateOf, type RuleState } from "../../shared/rule_result.ts";
import { shorten } from "../../shared/text.ts";
import { paintStatus, textWidth, wrapped } from "../../command_line/terminal.ts";
import { levelOf, type RenderOptions } from "./report_format.ts";
import { bracketedMarks, failuresFirst, noteOf, ruleDecisions, stateLabels, verdictOf } from "./result_text.ts";
import { countOf } from "../../shared/outcome_text.ts";
import { firstScreen } from "./first_screen.ts";
import { changeLines, listRules, orgPolicyText, roleText, summaryParts } from "./statement.ts";

/** The width of a terminal that does not report its columns. */
const defaultWidth = 80;
const minWidth = 40;
/** One name or text of a finding; the other formats have all of it. */
const maxTextLength = 300;

/** A list for people: failures first, then what needs a person, each with its findings; one line for each check that passes. */
export function renderTable(report: Report, options: RenderOptions): string {
  const width = Math.max(options.width || defaultWidth, minWidth);
  if (options.isBrief === true) return [...firstScreen(report, { ...options, width }), ""].join("\n");
  const { reached, interruptedLine, selectionLine } = listRules(report, options);
  const { scan } = report;
  const header = [
    `Scan ${scan.id} of ${scan.org_url} (${scan.engine} engine), ${scan.status}`,
    `Role: ${roleText(report)} · scopes granted: ${scan.granted_scopes.length} of ${scan.requested_scopes.length} · requests: ${scan.requests.total}`,
    orgPolicyText(report),
    selectionLine,
  ];
  return [
    ...header.filter(Boolean).flatMap((line) => wrapped(line, 2, width)),
    "",
    ...causeLines(report, width),
    ...reached.flatMap((check) => checkLines(check, { ...options, width })),
    ...(interruptedLine === "" ? [] : wrapped(interruptedLine, 2, width)),
    "",
    ...summary(report, { ...options, width }),
    "",
  ].join("\n");
}

/** More changes than this are counted; the other formats have all of them. */
const maxChanges = 20;

function causeLines(report: Report, width: number): readonly string[] {
  const { headline, changes, left } = changeLines(report, maxChanges);
  if (changes.length === 0) return [];
  return [
    ...wrapped(`${headline}:`, 2, width),
    ...changes.flatMap(({ number, change, closes, id }) =>
      wrapped(`${number}. ${change} (${closes}; ${id})`, 3, width),
    ),
    ...(left > 0 ? [`and ${countOf(left, "more change")}`] : []),
    "",
  ];
}

function checkLines(check: CheckResult, options: RenderOptions): readonly string[] {
  const state = stateOf(check);
  const status = stateLabels[state];
  const margin = options.width < 60 ? 2 : 7;
  const label = `${status.padEnd(6)} ${check.vuln_id}  ${levelOf(check).padEnd(7)} ${check.title}`;
  const [first = "", ...more] = wrapped(label, margin, options.width);
  const open = state === "pass" ? [] : failuresFirst(check.findings).filter(({ status }) => status !== "PASS");
  // The expectation is mostly the same for every resource of a check, so it is printed once.
  const details = [...Map.groupBy(open, ({ expected }) => expected)].flatMap(([expected, findings]) => [
    `expected ${shorten(expected, maxTextLength)}`,
    ...findings.map(findingText),
  ]);
  return [
    paintStatus(first.slice(0, status.length), status, options) + first.slice(status.length),
    ...more,
    ...[...details, ...ruleDecisions(check)].flatMap((text) =>
      wrapped(text, 2, options.width - margin).map((line) => " ".repeat(margin) + line),
    ),
  ];
}

function findingText(finding: Finding): string {
  const shown = (text: string) => shorten(text, maxTextLength);
  // Cut part by part: the last one is what a person verifies.
  const note = noteOf(finding).split("; ").map(shown).join("; ");
  const texts = [shown(finding.resource.name), shown(finding.actual), note].filter(Boolean);
  return `${verdictOf(finding)} ${texts.join(": ")}${bracketedMarks(finding)}`;
}

/** One line, or a line for each part where that is too long. */
function summary(report: Report, options: RenderOptions): readonly string[] {
  const parts = summaryParts(report);
  const paint = (text: string, state: RuleState) => paintStatus(text, stateLabels[state], options);
  if (textWidth(parts.map(({ text }) => text).join("; ")) <= options.width) {
    return [parts.map(({ text, state }) => paint(text, state)).join("; ")];
  }
  return parts.flatMap(({ text, state }) => wrapped(text, 2, options.width).map((line) => paint(line, state)));
}
