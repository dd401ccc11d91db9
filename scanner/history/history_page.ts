import { countOf } from "../../shared/outcome_text.ts";
import type { Exposure, History, HistoryActor, RuleHistory } from "../../shared/schemas/history.ts";

import { catalog } from "../catalog/catalog.ts";
import { levelOf } from "../reports/benchmark_rules.ts";

/** Content for people, before it is laid out. */
export interface HistoryPage {
  readonly title: string;
  readonly about: string;
  readonly sections: readonly HistorySection[];
}

export interface HistorySection {
  readonly title: string;
  readonly lines: readonly string[];
  readonly tables: readonly HistoryTable[];
}

export interface HistoryTable {
  readonly caption: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** A day, for a row of days. */
const dayMarks = { PASS: "✓", FAIL: "✗", MANUAL: "?", UNKNOWN: "·" } as const;
const dayLegend =
  "Days (UTC): ✓ passed, ✗ failed, ? needs manual review, – not applicable, · unknown; a day has the worst that was known";
const maxShownDays = 30;

export function historyPage(history: History): HistoryPage {
  const { from, to, organizations } = history;
  return {
    title: "History of verdicts",
    about: `${timeText(from)} to ${timeText(to)} (UTC)`,
    sections: organizations.map(({ org_url: orgUrl, rules }) => {
      const exposures = rules.flatMap((rule) => rule.exposures.map((exposure) => ({ rule, exposure })));
      const open = exposures.filter(({ exposure }) => exposure.closed === null);
      return {
        title: orgUrl,
        lines: [
          knownText(rules, history),
          `${countOf(exposures.length, "exposure")}: ${open.length} open, ${exposures.length - open.length} closed.`,
        ],
        tables: [
          {
            caption: dayLegend,
            columns: ["Rule", "Now", `Last ${Math.min(daysIn(rules), maxShownDays)} days`, "Known", "Failed"],
            rows: rules.map((rule) => [
              ruleText(rule),
              nowText(rule),
              rule.days.slice(-maxShownDays).map(dayMark).join(""),
              durationText(secondsIn(rule, isKnown)),
              durationText(secondsIn(rule, ({ status }) => status === "FAIL")),
            ]),
          },
          {
            caption: "Exposures: from the first known FAIL until a PASS or Not Applicable",
            columns: ["Rule", "Opened", "Closed", "Lasted", "Opened by", "Closed by"],
            rows: exposures.map(({ rule, exposure }) => exposureCells(rule, exposure)),
          },
        ],
      };
    }),
  };
}

function daysIn(rules: readonly RuleHistory[]): number {
  return Math.max(0, ...rules.map(({ days }) => days.length));
}

function dayMark({ status, reason }: RuleHistory["days"][number]): string {
  return reason === "not_applicable" ? "–" : dayMarks[status];
}

/** How much of the time is known: between two scans nothing is. */
function knownText(rules: readonly RuleHistory[], { from, to }: Pick<History, "from" | "to">): string {
  const whole = secondsBetween({ from, to });
  const known = rules.reduce((sum, rule) => sum + secondsIn(rule, isKnown), 0) / Math.max(1, rules.length);
  const share = whole === 0 ? 0 : known / whole;
  const advice =
    share < 0.5
      ? " A scan knows only the time from its start to its end, so it gives a value for its day; `scanstream follow` knows the time between scans."
      : "";
  return `Known for each rule on average: ${durationText(known)} of ${durationText(whole)} (${percentText(share)}). The rest is unknown, which is not a PASS.${advice}`;
}

type Interval = RuleHistory["intervals"][number];

function isKnown({ status }: Pick<Interval, "status">): boolean {
  return status !== "UNKNOWN";
}

export function secondsBetween({ from, to }: Pick<Interval, "from" | "to">): number {
  return (Date.parse(to) - Date.parse(from)) / 1000;
}

function secondsIn({ intervals }: RuleHistory, isWanted: (interval: Interval) => boolean): number {
  return intervals.filter(isWanted).reduce((sum, interval) => sum + secondsBetween(interval), 0);
}

/** The present verdict, or the last that was known. */
function nowText({ intervals }: RuleHistory): string {
  const last = intervals.findLast(isKnown);
  if (last === undefined) return "unknown";
  const verdict = last.reason === "not_applicable" ? "N/A" : last.status;
  return last === intervals.at(-1) ? verdict : `${verdict} at ${timeText(last.to)}`;
}

function exposureCells(
  rule: RuleHistory,
  { opened, closed, actor, least_seconds: least, most_seconds: most }: Exposure,
): readonly string[] {
  return [
    ruleText(rule),
    betweenText(opened.not_before, opened.known_at),
    closed === null ? "open" : betweenText(closed.not_before, closed.known_at),
    least === most ? durationText(most) : `${durationText(least)} to ${durationText(most)}`,
    actorText(actor),
    closed === null ? "" : actorText(closed.actor),
  ];
}

function ruleText({ vuln_id: vulnId, check }: RuleHistory): string {
  const known = catalog.find(({ name }) => name === check);
  return known === undefined ? (vulnId ?? check) : `${known.rule.vuln_id} ${levelOf(known.rule)}`;
}

function betweenText(notBefore: string | null, knownAt: string): string {
  if (notBefore === null) return `${timeText(knownAt)} or before`;
  return notBefore === knownAt ? timeText(knownAt) : `${timeText(notBefore)} to ${timeText(knownAt)}`;
}

function actorText(actor: HistoryActor | null): string {
  return actor?.login ?? actor?.name ?? actor?.id ?? "not known";
}

export function timeText(time: string): string {
  return time.slice(0, 16).replace("T", " ");
}

/** `3 h 5 min`: the two largest units. */
export function durationText(seconds: number): string {
  const units: readonly (readonly [number, string])[] = [
    [86_400, "d"],
    [3600, "h"],
    [60, "min"],
    [1, "s"],
  ];
  const first = units.findIndex(([length]) => seconds >= length);
  if (first === -1) return "0 s";
  const [[length, name], second] = [units[first] ?? [1, "s"], units[first + 1]];
  const count = Math.floor(seconds / length);
  const rest = second === undefined ? 0 : Math.floor((seconds - count * length) / second[0]);
  return rest === 0 || second === undefined ? `${count} ${name}` : `${count} ${name} ${rest} ${second[1]}`;
}

/** Rounded down, so that only what is whole is 100 %. */
export function percentText(share: number | null): string {
  if (share === null) return "unknown";
  return `${(Math.floor(share * 1000) / 10).toFixed(1)} %`;
}
