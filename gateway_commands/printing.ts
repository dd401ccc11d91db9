import { paintStatus, printable } from "../command_line/terminal.ts";
import { shorten } from "../shared/text.ts";

const maxValueLength = 1000;

/** An unchecked value as one line that cannot steer the terminal. */
export function valueText(value: unknown): string {
  if (value === null || value === undefined) return "";
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "?");
  return printable(shorten(text, maxValueLength));
}

/** A verdict in its colour. */
export function statusText(status: unknown, color: boolean): string {
  const text = valueText(status).padEnd(6);
  return status === "PASS" || status === "FAIL" || status === "MANUAL" || status === "N/A"
    ? paintStatus(text, status, { color })
    : text;
}
