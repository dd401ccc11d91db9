import { stripVTControlCharacters, styleText } from "node:util";
import { toLine } from "../shared/text.ts";

/** Messages for a person: stderr, so that a report on stdout stays alone there. */
export interface Terminal {
  readonly isTTY: boolean;
  /** Width of the terminal; 100 without one. */
  readonly columns: number;
  readonly color: boolean;
  write(text: string): void;
}

const statusColors = { PASS: "green", FAIL: "red", MANUAL: "yellow", "N/A": "gray" } as const;
const maxPrintableLength = 10_000;

/** The text in the color of the status, where there are colors. */
export function paintStatus(
  text: string,
  status: keyof typeof statusColors,
  terminal: { readonly color: boolean },
): string {
  return terminal.color ? styleText(statusColors[status], text, { validateStream: false }) : text;
}

/**
 * Text of the provider must not steer the terminal, or the runner of a pipeline: one line, no control characters, no escape
 * sequences, no bidi overrides, no workflow commands, at most 10,000 UTF-16 units.
 */
export function printable(text: string): string {
  const shown = stripVTControlCharacters(text.slice(0, 2 * maxPrintableLength)).replace(runnerCommand, "$& ");
  return toLine(shown, maxPrintableLength);
}

/**
 * The beginning of `##[name]` and `##vso[name]`, which runners obey anywhere in a line, and of `::name::`, which they obey at the
 * beginning of a line, as a wrapped text may have it; not of an address such as `fe80::1`.
 */
const runnerCommand = /#(?=#\w*\[)|:(?=:[a-f]*[g-z-][a-z-]*(?: .*?)?::)/gis;

/** Writes lines for a person. */
export function writeLines(
  { terminal }: { readonly terminal: Pick<Terminal, "write"> },
  ...lines: readonly string[]
): void {
  for (const line of lines) terminal.write(`${printable(line)}\n`);
}

interface AnswerIo {
  readonly stdout: (text: string) => void;
  readonly isStdoutTerminal: boolean;
  readonly terminal: Pick<Terminal, "columns">;
}

/** Writes the lines of an answer. In a pipe each stays one line, so that it can be searched. */
export function printLines(io: AnswerIo, ...lines: readonly string[]): void {
  const width = io.isStdoutTerminal ? io.terminal.columns : Infinity;
  io.stdout(lines.map((line) => `${wrapped(line, 2, width).join("\n")}\n`).join(""));
}

/** Columns that text takes, also painted: East Asian wide characters and emoji take two, combining marks none. */
export function textWidth(text: string): number {
  let width = 0;
  for (const character of stripVTControlCharacters(text))
    width += combining.test(character) ? 0 : wide.test(character) ? 2 : 1;
  return width;
}

const combining = /^[\p{M}\p{Cf}]$/u;
/** Unicode has no property escape for East_Asian_Width (UAX #11): the blocks that are wide as a whole, and emoji. */
const wide =
  /^[\p{Emoji_Presentation}\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]$/u;

/** Printable text as lines of at most `width` columns, broken between words; a word that is too long inside itself. */
export function wrapText(text: string, width: number): readonly string[] {
  const pieces = text.split(/(?<= )/).flatMap((word) => (textWidth(word) <= width ? [word] : breakWord(word, width)));
  const lines: string[] = [];
  let line = "";
  for (const piece of pieces) {
    if (line !== "" && textWidth(line) + textWidth(piece.trimEnd()) > width) {
      lines.push(line.trimEnd());
      line = "";
    }
    line += piece;
  }
  return [...lines, line.trimEnd()];
}

/** Each line broken between words where it is too long for the terminal; a line that moves the cursor stays. */
export function wrapLines(text: string, width: number): string {
  const lines = text.split("\n");
  return lines.flatMap((line) => (/[\r\u001b]/.test(line) ? [line] : wrapText(line, width))).join("\n");
}

/** The text as lines of `width` columns, all but the first behind a margin. */
export function wrapped(text: string, margin: number, width: number): readonly string[] {
  const [first = "", ...more] = wrapText(printable(text), width - margin);
  return [first, ...more.map((line) => " ".repeat(margin) + line)];
}

/** Breaks the lines of a text that are too long, each behind its own margin. */
export function fitText(text: string, width: number): string {
  const marginOf = (line: string) => (/^[ →]*/.exec(line)?.[0].length ?? 0) + 2;
  return text
    .split("\n")
    .flatMap((line) => wrapped(line, marginOf(line), width))
    .join("\n");
}

/** Breaks at the joints of names; else anywhere. */
function breakWord(word: string, width: number): readonly string[] {
  return word.split(/(?<=[_/.:-])/).flatMap((part) => {
    if (textWidth(part) <= width) return [part];
    const pieces: string[] = [];
    let piece = "";
    let columns = 0;
    for (const character of part) {
      const more = textWidth(character);
      if (columns + more > width) {
        pieces.push(piece);
        piece = "";
        columns = 0;
      }
      piece += character;
      columns += more;
    }
    return [...pieces, piece];
  });
}

/** Rows of text as lines, two blanks between columns that are as wide as their widest cell. */
export function columnLines(
  rows: readonly (readonly string[])[],
  alignments: readonly ("left" | "right")[] = [],
): readonly string[] {
  const cells = rows.map((row) => row.map(printable));
  const widths = (cells[0] ?? []).map((_, at) => Math.max(...cells.map((row) => textWidth(row[at] ?? ""))));
  return cells.map((row) =>
    row
      .map((cell, at) => {
        const blanks = " ".repeat((widths[at] ?? 0) - textWidth(cell));
        return alignments[at] === "right" ? blanks + cell : cell + blanks;
      })
      .join("  ")
      .trimEnd(),
  );
}
