import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { stateLabels } from "../../scanner/reports/disposition.ts";
import { summaryLine } from "../../scanner/reports/summary_parts.ts";
import { tableFormat } from "../../scanner/reports/table.ts";
import { outcomeText } from "../../shared/outcome_text.ts";
import { ruleStates } from "../../shared/report.ts";
import { manualReasonSchema, severitySchema } from "../../shared/schemas/finding.ts";
import { aReport, everyVerdict } from "../support/report_builders.ts";

const root = join(import.meta.dirname, "../..");

const page = await readFile(join(root, "docs/glossary.md"), "utf8");

/** The cells of the table below a heading, without its head. */
function rowsOf(heading: string): readonly (readonly string[])[] {
  const section = page.split(`## ${heading}\n`)[1]?.split("\n## ")[0] ?? "";
  const rows = section.split("\n").filter((line) => line.startsWith("| "));
  return rows.slice(1).map((row) => row.replaceAll(/^\| | \|$|`/g, "").split(" | "));
}

const states = rowsOf("States of a rule");

test("the states and their words are those of reports, table and page", () => {
  expect(states.map(([state]) => state)).toEqual(ruleStates);
  expect(states.map(([state, , label]) => [state, label])).toEqual(
    ruleStates.map((state) => [state, stateLabels[state]]),
  );
  for (const [, words = ""] of states) expect(outcomeText(() => 2)).toContain(`2 ${words}`);
});

test("the first screen has the STIG's words, and the summary the glossary's", () => {
  const report = aReport(everyVerdict());
  const options = { color: false, width: 80, toolVersion: "1.2.3", isBrief: true };
  for (const [, words = "", , stig = ""] of states) {
    expect(summaryLine(report)).toContain(words);
    expect(tableFormat.render(report, options)).toContain(stig.toLowerCase());
  }
});

test("the reasons and severities are those of the report schema", () => {
  expect(rowsOf("Reasons for manual review").map(([reason]) => reason)).toEqual(manualReasonSchema.options);
  expect(rowsOf("Severities").map(([severity]) => severity)).toEqual(severitySchema.options);
});

test("every count of a summary names a unit of the glossary, or a state of rules", () => {
  const [units = ""] = /^Every count names its unit: .*$/m.exec(page) ?? [];
  for (const [, unit = ""] of summaryLine(aReport(everyVerdict())).matchAll(/\d+ (rules?|findings?)\b/g)) {
    expect(units).toContain(unit.replace(/s?$/, "s"));
  }
});

/** Phrases that make a reader go back; plain words say the same. */
const unplain = /\b(?:beside|whatever|of its own|those that|is none|so many|meanwhile|none of|of ours)\b/gi;

test("product and documents have fewer than 30 phrases that a reader has to read twice", async () => {
  const folders = "command_line docs drizzle examples gateway gateway_commands practice_org scanner shared".split(" ");
  const files = (await Promise.all(folders.map((folder) => readdir(join(root, folder), { recursive: true }))))
    .flatMap((names, index) => names.map((name) => join(folders[index] ?? "", name)))
    // The STIG's texts are DISA's.
    .filter((file) => /\.(?:md|ts|tsx|css|sql)$/.test(file) && !file.startsWith("scanner/catalog/"));
  const top = (await readdir(root)).filter((file) => /\.(?:md|ts)$/.test(file));
  expect(files.length).toBeGreaterThan(500);
  const found = await Promise.all(
    [...files, ...top].map(async (file) =>
      [...(await readFile(join(root, file), "utf8")).matchAll(unplain)].map(([phrase]) => `${file}: ${phrase}`),
    ),
  );
  expect(found.flat().length, found.flat().join("\n")).toBeLessThan(30);
});

test("README has at most 120 lines, and no sentence of more than 25 words", async () => {
  const readme = await readFile(join(root, "README.md"), "utf8");
  expect(readme.split("\n").length).toBeLessThanOrEqual(121);
  const prose = readme.replaceAll(/^```.*?^```|<[^>]*>|\]\([^)]*\)/gms, "");
  const sentences = prose.split(/[.!?:](?:\*\*)?\s|\n\n|\n(?=[-|#\d])|\|/);
  expect(sentences.filter((sentence) => (sentence.match(/[\p{L}\d]\S*/gu) ?? []).length > 25)).toEqual([]);
});
