import { columnLines, printable, wrapped } from "../../command_line/terminal.ts";
import { countOf } from "../../shared/outcome_text.ts";
import { vulnIdOf } from "../../shared/rule_names.ts";
import { actorText } from "../../shared/actor.ts";
import type { Exposure, History, Interval, RuleHistory } from "../../shared/schemas/history.ts";
import { categoryNames } from "../../shared/severity.ts";
import { toJson, type Format } from "../reports/report_format.ts";
import { toCsv } from "../reports/csv.ts";

export const historyFormats: readonly Format<History, { readonly width: number }>[] = [
  {
    name: "table",
    extension: "txt",
    render(history, { width }) {
      // A table is narrower than any terminal; the text around it is wrapped.
      return historyLines(history)
        .flatMap((line) => (typeof line === "string" ? wrapped(line, 2, Math.max(width, 60)) : columnLines(line)))
        .map((line) => `${line}\n`)
        .join("");
    },
  },
  { name: "json", extension: "json", render: toJson },
  { name: "csv", extension: "csv", render: historyCsv },
];

/** A text, or the rows of a table. */
type Line = string | readonly (readonly string[])[];

const shownDays = 30;

function historyLines(history: History): readonly Line[] {
  return [
    `History of verdicts, ${timeText(history.from)} to ${timeText(history.to)} (UTC)`,
    ...history.organizations.flatMap(({ org_url: orgUrl, rules, documents = [] }) => {
      const exposures = rules.flatMap((rule) => rule.exposures.map((exposure) => ({ rule, exposure })));
      const open = exposures.filter(({ exposure }) => exposure.closed === null).length;
      return [
        "",
        printable(orgUrl),
        knownText(rules, history),
        `${countOf(exposures.length, "exposure")}: ${open} open, ${exposures.length - open} closed.`,
        ...documents.map(
          ({ document, from, to, checks }) =>
            `${document}: ${checks.map(vulnIdOf).join(", ")} rested on it from ${timeText(from)} to ${timeText(to)}.`,
        ),
        ...(rules.length === 0 ? [] : ["", ...ruleLines(rules)]),
        ...(exposures.length === 0
          ? []
          : ["", "Exposures: from the first known FAIL until a PASS (of its automated part, too) or Not Applicable"]),
        ...exposures.map(({ rule, exposure }) => `${ruleText(rule)}: ${exposureText(exposure)}`),
      ];
    }),
  ];
}

const dayMarks = { PASS: "✓", FAIL: "✗", MANUAL: "?", UNKNOWN: "·" } as const;

function ruleLines(rules: readonly RuleHistory[]): readonly Line[] {
  const days = Math.min(shownDays, Math.max(0, ...rules.map((rule) => rule.days.length)));
  return [
    "Days (UTC): ✓ passed, ✗ failed, ? needs manual review, – not applicable, · unknown; a day has the worst that was known. A date after the result: it was not known later.",
    [
      ["RULE", "NOW", `LAST ${countOf(days, "day").toUpperCase()}`, "KNOWN", "FAILED"],
      ...rules.map((rule) => [
        ruleText(rule),
        nowText(rule.intervals),
        rule.days
          .slice(-shownDays)
          .map(({ status, reason }) => (reason === "not_applicable" ? "–" : dayMarks[status]))
          .join(""),
        durationText(secondsOf(rule.intervals.filter(isKnown)), 1),
        durationText(secondsOf(rule.intervals.filter(({ status }) => status === "FAIL")), 1),
      ]),
    ],
  ];
}

/** How much of the time is known: between two scans nothing is. */
function knownText(rules: readonly RuleHistory[], period: Pick<History, "from" | "to">): string {
  const whole = secondsOf([period]);
  const known = secondsOf(rules.flatMap(({ intervals }) => intervals.filter(isKnown))) / Math.max(1, rules.length);
  const share = whole === 0 ? 0 : known / whole;
  // Rounded down, so that only the whole is 100 %.
  const percent = (Math.floor(share * 1000) / 10).toFixed(1);
  const advice =
    share < 0.5
      ? " A scan knows only the time from its start to its end, so it gives a value for its day; `scanstream follow` knows the time between scans."
      : "";
  return `Known for each rule on average: ${durationText(known)} of ${durationText(whole)} (${percent} %). The rest is unknown, which is not a PASS.${advice}`;
}

function isKnown({ status }: Interval): boolean {
  return status !== "UNKNOWN";
}

function secondsOf(spans: readonly Pick<Interval, "from" | "to">[]): number {
  return spans.reduce((sum, { from, to }) => sum + (Date.parse(to) - Date.parse(from)) / 1000, 0);
}

/** The present verdict, or the last that was known with its day. */
function nowText(intervals: readonly Interval[]): string {
  const last = intervals.findLast(isKnown);
  if (last === undefined) return "unknown";
  const verdict = last.reason === "not_applicable" ? "N/A" : last.status;
  return last === intervals.at(-1) ? verdict : `${verdict} ${last.to.slice(5, 10)}`;
}

/** `2026-11-24 11:00 to 2026-11-24 12:30, 1 h to 1 h 30 min; opened by ada, closed by ben`. */
function exposureText({ opened, closed, actor, least_seconds, most_seconds }: Exposure): string {
  const least = durationText(least_seconds);
  const most = most_seconds === null ? null : durationText(most_seconds);
  const begun = opened.not_before === null ? `${timeText(opened.known_at)} or before` : timeText(opened.not_before);
  const ended = closed === null ? "now" : timeText(closed.known_at);
  const by = [
    actor === null ? "" : `opened by ${actorText(actor) ?? "not known"}`,
    closed === null ? "open" : closed.actor === null ? "" : `closed by ${actorText(closed.actor) ?? "not known"}`,
  ].filter((text) => text !== "");
  const lasted = most === null ? `${least} or more` : least === most ? most : `${least} to ${most}`;
  return `${begun} to ${ended}, ${lasted}; ${by.join(", ") || "by whom is not known"}`;
}

function ruleText({ vuln_id: vulnId, check, severity }: RuleHistory): string {
  return [vulnId ?? vulnIdOf(check), ...(severity === null ? [] : [categoryNames[severity]])].join(" ");
}

function timeText(time: string): string {
  return time.slice(0, 16).replace("T", " ");
}

const units = [
  [86_400, "d"],
  [3600, "h"],
  [60, "min"],
  [1, "s"],
] as const;

/** `3 h 5 min`: the largest unit, and the next one unless it is 0. */
function durationText(seconds: number, most: 1 | 2 = 2): string {
  const first = units.findIndex(([length]) => seconds >= length);
  if (first === -1) return "0 s";
  let rest = seconds;
  const parts = units.slice(first, first + most).map(([length, name]) => {
    const count = Math.floor(rest / length);
    rest -= count * length;
    return count === 0 ? "" : `${count} ${name}`;
  });
  return parts.join(" ").trimEnd();
}

/** A row for each interval. */
function historyCsv({ organizations }: History): string {
  const rows = organizations.flatMap(({ org_url: orgUrl, rules }) =>
    rules.flatMap(({ vuln_id, check, intervals }) =>
      intervals.map((interval) => {
        const { from, to, status, reason } = interval;
        return [orgUrl, vuln_id ?? "", check, from, to, String(secondsOf([interval])), status, reason ?? ""];
      }),
    ),
  );
  return toCsv(["org_url", "vuln_id", "check", "from", "to", "seconds", "status", "reason"], rows);
}
