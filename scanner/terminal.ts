import { stripVTControlCharacters, styleText } from "node:util";
import type { Status } from "../shared/report.ts";
import { toLine } from "../shared/text.ts";

/** Where a person reads messages: stderr, so that a report on stdout stays alone there. */
export interface Terminal {
  readonly isTTY: boolean;
  readonly columns: number;
  readonly color: boolean;
  write(text: string): void;
}

const statusColors = { PASS: "green", FAIL: "red", MANUAL: "yellow" } as const;

/** The text in the colour of the status, where there is colour. */
export function paintStatus(text: string, status: Status, terminal: { readonly color: boolean }): string {
  return terminal.color ? styleText(statusColors[status], text, { validateStream: false }) : text;
}

/** Text of the provider must not steer the terminal: no control characters, no escape sequences, no bidi overrides. */
export function printable(text: string): string {
  return toLine(stripVTControlCharacters(text), text.length);
}
