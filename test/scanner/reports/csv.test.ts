import { parse } from "csv-parse/sync";
import { expect, test } from "vitest";
import { aCheckResult, aFinding, aReport, renderAs } from "../../support/report_builders.ts";

const formula = "=cmd|'/c calc'!A1";

/** Names that become, or hold, a formula for some reader: Excel, LibreOffice, or a program that splits by itself. */
const names = [
  formula,
  "+1+1",
  "-1+1",
  "@SUM(1)",
  "＝1+1",
  ` ${formula}`,
  `\t${formula}`,
  `x\n${formula}`,
  `x\r${formula}`,
  `x\r\n${formula}`,
  `x\n\n  ${formula}`,
  `x\u2028${formula}`,
  `x\u0085${formula}`,
  `x\u000b${formula}`,
  `x"\n${formula}`,
  `x",\n${formula}`,
  `x;${formula}`,
  `x; "${formula}`,
  `x\t${formula}`,
  `\u0000${formula}`,
  `\ufeff${formula}`,
  `a\rb`,
  `a\nb`,
];
const findings = names.map((name, index) =>
  aFinding({ resource: { type: "policy", id: name, name }, detail: name, fingerprint: `fingerprint-${index}` }),
);
const text = renderAs("csv", aReport([aCheckResult({ findings })]));
/** Beginnings of a cell that a spreadsheet runs, blanks and quotes before it left aside. */
const runs = /^[\s"\ufeff\u0000]*[=+\-@＝＋－＠]/u;

test.each([
  ["RFC 4180", "\r\n"],
  ["LF", "\n"],
  ["CR", "\r"],
])("a reader with %s between the records finds the same rows, and no formula", (_, delimiter) => {
  const rows = parse(text, { record_delimiter: delimiter, trim: true }).slice(1);
  const fingerprints = rows.map((row) => row.at(-1)?.trim()).filter((cell) => cell !== undefined && cell !== "");
  expect(fingerprints).toEqual(findings.map(({ fingerprint }) => fingerprint));
  for (const cell of rows.flat()) expect(cell).not.toMatch(runs);
});

test.each([
  ["lines", /\r\n|[\n\r\v\f\u0085\u2028\u2029]/, ","],
  ["lines, and at semicolons where those separate lists", /\r\n|[\n\r\v\f\u0085\u2028\u2029]/, ";"],
  ["lines, and at tabs", /\r\n|[\n\r\v\f\u0085\u2028\u2029]/, "\t"],
])("a reader that knows no quotes and splits at %s finds a row for each finding, and no formula", (_, lines, comma) => {
  const rows = text.split(lines).filter((line) => line !== "");
  expect(rows).toHaveLength(findings.length + 1);
  for (const cell of rows.flatMap((row) => row.split(comma))) expect(cell).not.toMatch(runs);
});

test("a cell is never longer than a spreadsheet takes, which puts the rest into the next cell", () => {
  const name = `${"x".repeat(32_767)}${formula}`;
  const long = renderAs("csv", aReport([aCheckResult({ findings: [aFinding({ detail: name })] })]));
  const cells = parse(long).flat();
  expect(Math.max(...cells.map((cell) => cell.length))).toBe(32_767);
});
