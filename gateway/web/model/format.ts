import { stateOf, type RuleState, type Verdict } from "../../../shared/rule_result.ts";

export const dayMs = 86_400_000;
/** Texts are American English, and so are its dates, no matter what the browser speaks. */
const language = "en-US";
const date = { year: "numeric", month: "short", day: "numeric" } as const;
const clock = { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" } as const;
const clockFormat = new Intl.DateTimeFormat(language, clock);
/** Made once: `toLocaleDateString` makes one for each call, which was most of the CPU time of a page that nobody touches. */
const dayFormats = {
  here: new Intl.DateTimeFormat(language, date),
  UTC: new Intl.DateTimeFormat(language, { ...date, timeZone: "UTC" }),
};
const fullFormat = new Intl.DateTimeFormat(language, { ...date, ...clock, timeZoneName: "short" });

/** Below a heading or next to a word that says the day. */
export function formatClock(timeMs: number): string {
  return clockFormat.format(timeMs);
}

/** Such as 2026-11-28, in UTC. */
export function toDay(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}

/** Formats a time with year and zone, so that it stays true on paper and past midnight. */
export function formatTime(timeMs: number): string {
  return fullFormat.format(timeMs);
}

export function formatVerdict(verdict: Verdict | null): string {
  return verdict === null ? "gone" : stateNames[stateOf(verdict)];
}

/** `none`: no finding of the rule is known. */
export type ShownState = RuleState | "none";

export const stateNames: Readonly<Record<ShownState, string>> = {
  fail: "FAIL",
  manual: "MANUAL",
  pass: "PASS",
  not_applicable: "N/A",
  none: "Not evaluated",
};

export function formatAgo(timeMs: number, nowMs: number): string {
  const ageMs = nowMs - timeMs;
  return ageMs < 7 * dayMs ? `${formatDuration(ageMs)} ago` : dayFormats.here.format(timeMs);
}

/** `Nov 26`, with the year where it is another one. */
export function formatDay(timeMs: number, nowMs: number, zone: keyof typeof dayFormats = "here"): string {
  const day = dayFormats[zone].format(timeMs);
  return nowMs - timeMs < 300 * dayMs ? day.replace(/,.*/, "") : day;
}

/** `05:02` for today, else `Nov 26`, with the year where it is another one. */
export function formatSince(timeMs: number, nowMs: number): string {
  const day = formatDay(timeMs, nowMs);
  return day === formatDay(nowMs, nowMs) ? formatClock(timeMs).slice(0, 5) : day;
}

export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return inTwo([minutes, "min"], [seconds % 60, "s"]);
  const hours = Math.floor(minutes / 60);
  return hours < 48
    ? inTwo([hours, "h"], [minutes % 60, "min"])
    : inTwo([Math.floor(hours / 24), "d"], [hours % 24, "h"]);
}

function inTwo(large: readonly [number, string], small: readonly [number, string]): string {
  return [large, small].flatMap(([count, unit]) => (count === 0 ? [] : [`${count} ${unit}`])).join(" ");
}

const turning =
  /[\u0590-\u08ff\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** Isolates a name or text, so that words from right to left and direction marks in it do not reorder the text around it. */
export function isolated(text: string): string {
  return turning.test(text) ? `\u2068${text.replaceAll(/[\u202a-\u202e\u2066-\u2069]/g, "")}\u2069` : text;
}

/** True for a text that has each of these words, in any case. */
export function wordsFinder(text: string): (searched: string) => boolean {
  const words = text.toLowerCase().split(/\s+/);
  return (searched) => words.every((word) => searched.toLowerCase().includes(word));
}

/** The org's host, which is how people call it; the whole text where it is not an address. */
export function formatOrg(orgUrl: string | null): string {
  if (orgUrl === null || orgUrl === "") return "Unnamed organization";
  return URL.canParse(orgUrl) ? new URL(orgUrl).host : orgUrl;
}
