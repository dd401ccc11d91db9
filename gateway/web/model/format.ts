import { stateOf, type Verdict } from "../../../shared/rule_result.ts";
import type { ScanStatus } from "../../../shared/schemas/scan.ts";
import type { ShownState } from "./rules.ts";

/** In which zone times are shown: this machine's, or UTC. */
type Zone = "local" | "utc";

/** Texts are American English, and so are its dates, no matter what the browser speaks. */
const language = "en-US";
const zoneKey = "scanstream.zone";
let zone: Zone = readZone();

export function isUtc(): boolean {
  return zone === "utc";
}

/** Keeps the choice in this browser. The page shows it the next time that it is drawn. */
export function setUtc(isUtc: boolean): void {
  zone = isUtc ? "utc" : "local";
  try {
    localStorage.setItem(zoneKey, zone);
  } catch {
    // A browser that keeps nothing shows local times again the next time.
  }
}

function readZone(): Zone {
  try {
    return localStorage.getItem(zoneKey) === "utc" ? "utc" : "local";
  } catch {
    return "local";
  }
}

const date = { year: "numeric", month: "short", day: "numeric" } as const;
const clock = { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" } as const;
const toFormats = (timeZone?: string) => {
  const of = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(language, { ...options, ...(timeZone === undefined ? {} : { timeZone }) });
  return {
    clock: of(clock),
    day: of(date),
    short: of({ month: "short", day: "numeric" }),
    full: of({ ...date, ...clock, timeZoneName: "short" }),
  };
};
const formats = { local: toFormats(), utc: toFormats("UTC") };
const relative = new Intl.RelativeTimeFormat(language, { numeric: "auto" });
const count = new Intl.NumberFormat(language);

export function formatCount(value: number): string {
  return count.format(value);
}

/** Below a heading or next to a word that says the day. */
export function formatClock(timeMs: number): string {
  return formats[zone].clock.format(timeMs);
}

/** Such as 2026-11-28, in UTC. */
export function toDay(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}

/** With year and zone, so that it stays true on paper and past midnight. */
export function formatTime(timeMs: number): string {
  return formats[zone].full.format(timeMs);
}

export function formatVerdict(verdict: Verdict): string {
  return stateNames[stateOf(verdict)];
}

export const stateNames: Readonly<Record<ShownState, string>> = {
  fail: "FAIL",
  manual: "MANUAL",
  pass: "PASS",
  not_applicable: "N/A",
  none: "Not evaluated",
};

export function formatAgo(timeMs: number, nowMs: number): string {
  const seconds = Math.round((timeMs - nowMs) / 1000);
  // A clock that was set back puts it into the future.
  if (seconds > -45) return "just now";
  if (seconds > -3600) return relative.format(Math.round(seconds / 60), "minute");
  if (seconds > -86_400) return relative.format(Math.round(seconds / 3600), "hour");
  return seconds > -7 * 86_400
    ? relative.format(Math.round(seconds / 86_400), "day")
    : formats[zone].day.format(timeMs);
}

/** `05:02` for today, else `Nov 26`, with the year where it is another one. */
export function formatSince(timeMs: number, nowMs: number): string {
  const { short, day } = formats[zone];
  if (short.format(timeMs) === short.format(nowMs) && nowMs - timeMs < 2 * 86_400_000)
    return formatClock(timeMs).slice(0, 5);
  return nowMs - timeMs < 300 * 86_400_000 ? short.format(timeMs) : day.format(timeMs);
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

/** The org's host, which is how people call it; the whole text where it is no address. */
export function formatOrg(orgUrl: string | null): string {
  if (orgUrl === null || orgUrl === "") return "Unnamed organization";
  return URL.canParse(orgUrl) ? new URL(orgUrl).host : orgUrl;
}

export const statusWords: Readonly<Record<ScanStatus, string>> = {
  pending: "Waiting",
  running: "Running",
  completed: "Completed",
  cancelled: "Cancelled",
  failed: "Failed",
  expired: "Expired",
};
