import { paintStatus, printable, textWidth } from "../command_line/terminal.ts";
import { shorten } from "../shared/text.ts";
import type { Resource } from "../command_line/gateway_api.ts";

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

/** `name: value` lines of what is set; an id that stands there under two names is shown once. */
export function entriesText(resource: Resource): string {
  return Object.entries(resource)
    .filter(([name, value]) => valueText(value) !== "" && !(name.endsWith("_id") && value === resource["id"]))
    .map(([name, value]) => `${printable(name)}: ${valueText(value)}\n`)
    .join("");
}

/** Rows of cells, each column as wide as its widest cell but the last. */
export function tableText(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...all.map((row) => textWidth(row[column] ?? ""))));
  return all
    .map((row) => {
      const cells = row.map((cell, column) => cell + " ".repeat((widths[column] ?? 0) - textWidth(cell)));
      return `${cells.join("  ").trimEnd()}\n`;
    })
    .join("");
}
