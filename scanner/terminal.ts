import { stripVTControlCharacters, styleText } from "node:util";
import type { Status } from "../shared/report.ts";

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
  return stripVTControlCharacters(text).replace(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]+/g, " ");
}
