import { stateOf, type RuleState, type Verdict } from "../../../shared/report.ts";
import type { Scan, ScanStatus } from "../scan_wire.ts";

const timeOfDay = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const dayAndTime = new Intl.DateTimeFormat(undefined, {
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
});
const day = new Intl.DateTimeFormat(undefined, { year: "numeric", month: "short", day: "numeric" });
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
const count = new Intl.NumberFormat();

export function formatCount(value: number): string {
  return count.format(value);
}

export function formatClock(timeMs: number): string {
  return timeOfDay.format(timeMs);
}

export function formatTime(timeMs: number): string {
  return dayAndTime.format(timeMs);
}

/** To the second, with the day where it is another one than today. */
export function formatMoment(timeMs: number): string {
  const isToday = new Date(timeMs).toDateString() === new Date().toDateString();
  return isToday ? timeOfDay.format(timeMs) : `${day.format(timeMs)}, ${timeOfDay.format(timeMs)}`;
}

export function formatVerdict(verdict: Verdict): string {
  return stateNames[stateOf(verdict)];
}

export const stateNames: Readonly<Record<RuleState, string>> = {
  fail: "Fail",
  manual: "Manual",
  pass: "Pass",
  not_applicable: "N/A",
};

export function formatAgo(timeMs: number, nowMs: number): string {
  const seconds = Math.round((timeMs - nowMs) / 1000);
  if (seconds > -45) return "just now";
  if (seconds > -3600) return relative.format(Math.round(seconds / 60), "minute");
  if (seconds > -86_400) return relative.format(Math.round(seconds / 3600), "hour");
  return seconds > -7 * 86_400 ? relative.format(Math.round(seconds / 86_400), "day") : day.format(timeMs);
}

export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** The org's host, which is how people call it; the whole address where it is no address. */
export function formatOrg(scan: Pick<Scan, "orgUrl">): string {
  if (scan.orgUrl === null || scan.orgUrl === "") return "Unnamed organization";
  return URL.canParse(scan.orgUrl) ? new URL(scan.orgUrl).host : scan.orgUrl;
}

export const statusWords: Readonly<Record<ScanStatus, string>> = {
  pending: "Waiting",
  running: "Running",
  completed: "Completed",
  cancelled: "Cancelled",
  failed: "Failed",
  expired: "Expired",
};

/** `signon_global_session_lifetime_18h` as words, for a check whose title is not known. */
export function formatCheckName(check: string): string {
  const words = check.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
