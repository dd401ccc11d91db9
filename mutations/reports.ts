import type { Mutation } from "./mutation.ts";

const names = "names that a reader of a report takes for a formula, a link, a mention or markup";

/** What the scanner's reports and its terminal promise. */
export const reports: readonly Mutation[] = [
  {
    mistake: "a line break in a name begins a row of the CSV",
    holds: [names],
    file: "scanner/reports/csv.ts",
    find: "const line = toLine(text, maxCellLength)",
    replace: "const line = text",
    testFile: "test/scanner/reports/csv.test.ts",
    test: "a reader with %s between the records",
  },
  {
    mistake: "words that are no prose are not escaped, so sites make links and mentions of them",
    holds: [names],
    file: "scanner/reports/markdown_text.ts",
    find: "return word.length <= maxWordLength && plainWord.test(word) && !hexWord.test(word);",
    replace: 'return word !== "";',
    testFile: "test/scanner/reports/markdown.test.ts",
    test: "%j becomes no markup",
  },
  {
    mistake: "what may be a commit's id counts as prose, so sites make links of it",
    holds: [names],
    file: "scanner/reports/markdown_text.ts",
    find: " && !hexWord.test(word);",
    replace: ";",
    testFile: "test/scanner/reports/markdown.test.ts",
    test: "%j becomes no markup",
  },
  {
    mistake: "what looks like an entity is left to the XML writer, which does not escape it",
    holds: [names],
    file: "scanner/reports/xml.ts",
    find: '.replaceAll("&", "&amp;")',
    replace: "",
    testFile: "test/scanner/reports/hostile_text.test.ts",
    test: "of a report with %s in every text",
  },
  {
    mistake: "half a surrogate pair in an id ends the SARIF writer",
    holds: [names],
    file: "scanner/reports/sarif.ts",
    find: "encodeURIComponent(part.toWellFormed())",
    replace: "encodeURIComponent(part)",
    testFile: "test/scanner/reports/hostile_text.test.ts",
    test: "of a report with %s in every text",
  },
  {
    mistake: "names are written into the page unescaped",
    holds: [names],
    file: "scanner/reports/html.ts",
    find: "<h4>${badge(finding.status)} ${resource.name} <small>",
    replace: "<h4>${badge(finding.status)} ${raw(resource.name)} <small>",
    testFile: "test/scanner/reports/html.test.ts",
    test: "asks for nothing outside itself",
  },
];
