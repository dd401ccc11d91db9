/** When decisions of people end: a day (until its end, UTC) or a date-time with its offset. */

export const expiryMessage = "expected a day (2027-01-31) or a date-time (2027-01-31T12:00:00Z)";
/** Decisions have to say when they end, and may say `never`. */
export const endMessage = 'expected a day (2027-01-31), a date-time (2027-01-31T12:00:00Z) or "never"';

/** The end of a decision as it is kept: null for the word `never`. */
export function toExpires(text: string): string | null {
  return text === "never" ? null : text;
}

/** The last moment at which it holds, in milliseconds since the epoch; NaN for any other text. */
export function endOfExpiry(text: string): number {
  const [, day = "", time] = /^(\d{4}-\d{2}-\d{2})(T[\d:.]+(?:Z|[+-]\d{2}:\d{2}))?$/.exec(text) ?? [];
  if (!isDay(day)) return Number.NaN;
  return Date.parse(time === undefined ? `${day}T23:59:59.999Z` : text);
}

/** True when the decision no longer holds at that time. */
export function isExpired(expires: string | null, nowMs: number): boolean {
  return expires !== null && nowMs > endOfExpiry(expires);
}

/** True for a day such as 2027-01-31. `Date.parse` takes February 30 for March 2, and a year or a month for its first day. */
export function isDay(text: string): boolean {
  const startMs = Date.parse(`${text}T00:00:00Z`);
  return text.length === 10 && !Number.isNaN(startMs) && new Date(startMs).toISOString().startsWith(text);
}
