import type { Mutation } from "./mutation.ts";

const testFile = "test/attacks/decision_files.test.ts";
const hours = "a waiver's pattern and a provider's name that keep the scanner busy for hours";
const hidden =
  "a waiver that covers more than a reader of the file sees: a repeated key, a key of every object, brackets that are a pattern, a day that no month has";
const endless = "files without end, all brackets, a million entries, cut short";

const checklist = "a checklist whose XML names other files, grows when it is read, or keeps the reader busy for hours";
const checklistTest = "test/scanner/checklists/checklist.test.ts";
const busyRule = "a company's rule that keeps the scanner busy, or runs code";
const looserValue =
  "a value looser than the STIG's that closes a rule in a checklist, or a company's rule that looks like one of DISA's";

/** Files that a scan is given: the table of `docs/threat_model.md`. */
export const decisionFiles: readonly Mutation[] = [
  {
    mistake: "a pattern whose match is unknown waives the finding",
    holds: [hours],
    file: "shared/decisions/resource_index.ts",
    find: "if (isMatch === null) break;",
    replace: "if (isMatch === null) return entries[index];",
    testFile,
    test: "%s take no time",
  },
  {
    mistake: "patterns may take a hundred times as many steps",
    holds: [hours],
    file: "shared/decisions/resource_index.ts",
    find: "const maxSteps = 30_000_000;",
    replace: "const maxSteps = 3_000_000_000;",
    testFile,
    test: "thousands of hostile patterns",
  },
  {
    mistake: "of a key that is given twice the last value counts",
    holds: [hidden],
    file: "scanner/decisions/decision_file.ts",
    find: 'repeatedKeys: "refuse"',
    replace: 'repeatedKeys: "allow"',
    testFile,
    test: "%s: refused at once",
  },
  {
    mistake: "February 30 is March 2",
    holds: [hidden],
    file: "shared/decisions/expiry.ts",
    find: "if (!isDay(day)) return Number.NaN;",
    replace: 'if (day === "") return Number.NaN;',
    testFile,
    test: "%s: refused at once",
  },
  {
    mistake: "a bracket stands for any character",
    holds: [hidden],
    file: "shared/decisions/name_pattern.ts",
    find: "wanted === anyCharacter ||",
    replace: "wanted === anyCharacter || wanted === 0x5b ||",
    testFile,
    test: "brackets, braces",
  },
  {
    mistake: "a file that is too large is refused without its name",
    holds: [endless],
    file: "command_line/files.ts",
    find: "error instanceof FileContentError ? error.message : isFileError",
    replace: "isFileError",
    testFile,
    test: "a file of %s that never ends",
  },
  {
    mistake: "the depth of a file is not checked",
    holds: [endless],
    file: "scanner/evidence/json_text.ts",
    find: "if (depth > maxDepth) throw",
    replace: "if (depth < 0) throw",
    testFile,
    test: "%s of brackets only",
  },
  {
    mistake: "the error of JSON.parse for a baseline is shown as it is",
    holds: [endless],
    file: "scanner/decisions/baseline.ts",
    find: 'throw fail("it is not JSON: expected a report written with --format json");',
    replace: "throw error;",
    testFile,
    test: "%s cut short",
  },
  {
    mistake: "a checklist may have a document type",
    holds: [checklist],
    file: "scanner/checklists/xml_elements.ts",
    find: "<!--([^]*?)-->|",
    replace: "<!--([^]*?)-->|<!DOCTYPE[^]*?\\]>|",
    testFile: checklistTest,
    test: "refuses %s in one line that names the file",
  },
  {
    mistake: "a plan waives its finding",
    holds: [hidden],
    file: "scanner/decisions/waivers.ts",
    find: "planned === undefined || expires !== null",
    replace: "planned !== undefined || expires === null",
    testFile: "test/scanner/decisions/plans.test.ts",
    test: "is a plan, and no waiver",
  },
  {
    mistake: "a company's rule may take any number of steps",
    holds: [busyRule],
    file: "scanner/checks/company_check.ts",
    find: "const maxSteps = 50_000_000;",
    replace: "const maxSteps = 50_000_000_000;",
    testFile: "test/scanner/decisions/company_rules.test.ts",
    test: "a list that would take too long",
  },
  {
    mistake: "a looser value closes a rule in a checklist",
    holds: [looserValue],
    file: "scanner/reports/disposition.ts",
    find: 'return own === "pass" ? "not_reviewed" : own;',
    replace: "return own;",
    testFile: "test/scanner/decisions/parameters.test.ts",
    test: "and %s does not close",
  },
  {
    mistake: "what is wrong with an expression is a bug of ours",
    holds: [busyRule],
    file: "scanner/decisions/own_rules/company_rules.ts",
    find: "if (!(error instanceof ExpressionError)) throw error;",
    replace: "if (error instanceof ExpressionError) throw error;",
    testFile: "test/scanner/decisions/company_rules.test.ts",
    test: "any text is a rule, or is refused",
  },
  {
    mistake: "a company's rule may have an id of DISA's",
    holds: [looserValue],
    file: "shared/schemas/report.ts",
    find: "(?!(?:S?V-\\d|SRG-|CCI-|OKTA-APP-))",
    replace: "",
    testFile: "test/scanner/decisions/company_rules.test.ts",
    test: "refuses %j",
  },
];
