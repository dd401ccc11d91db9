import type { Severity } from "./report.ts";

/** From the worst. */
export const severities: readonly Severity[] = ["high", "medium", "low"];

/** As people read them. */
export const categoryNames = {
  high: "CAT I",
  medium: "CAT II",
  low: "CAT III",
} as const satisfies Readonly<Record<Severity, string>>;

/** Returns the category of a severity in unchecked data; the text itself if it is not a severity. */
export function categoryText(text: string): string {
  const severity = parseSeverity(text);
  return severity === null ? text : categoryNames[severity];
}

export const severityWords = "high, medium or low, or CAT I, CAT II or CAT III";

/** `high`, `CAT I`, `cat1` or `I` as a severity, in any case; null for anything else. */
export function parseSeverity(text: string): Severity | null {
  const word = text.trim().toLowerCase();
  const category = /^(?:cat(?:egory)?[\s_-]*)?(i{1,3}|[123])$/.exec(word)?.[1];
  const place = Number(category) || category?.length;
  return severities.find((severity, index) => severity === word || index + 1 === place) ?? null;
}
