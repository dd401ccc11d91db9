import { camelCase, type Start } from "./start.ts";

/** A report format: one file, one line in the list, and a test; the suite of all formats takes it by itself. */
export function newFormat(name: string): Start {
  const constant = `${camelCase(name)}Format`;
  return {
    files: {
      [`scanner/reports/${name}.ts`]: `import { toJson } from "./json.ts";
import type { ReportFormat } from "./report_format.ts";

/** TODO: who reads it, and a link to its specification. */
export const ${constant}: ReportFormat = {
  name: "${name.replaceAll("_", "-")}",
  extension: "${name.replaceAll("_", ".")}",
  isMachine: true,
  render: (report) => \`\${toJson(report)}\\n\`,
};
`,
      [`test/scanner/reports/${name}.test.ts`]: `import { expect, test } from "vitest";
import { ${constant} } from "../../../scanner/reports/${name}.ts";
import { aReport } from "../../support/report_builders.ts";

test("has every check of the report once", () => {
  const report = aReport();
  const text = ${constant}.render(report, { color: false, width: 80, toolVersion: "0.0.0" });
  const { checks } = JSON.parse(text) as typeof report;
  expect(checks.map(({ check }) => check)).toEqual(report.checks.map(({ check }) => check));
});
`,
    },
    edits: [
      {
        path: "scanner/reports/formats.ts",
        text: `import { ${constant} } from "./${name}.ts";\n`,
        before: "\n/** Every format",
      },
      { path: "scanner/reports/formats.ts", text: `  ${constant},\n`, before: "];", from: "reportFormats" },
    ],
    commands: [],
    next: [
      `scanner/reports/${name}.ts: write what the reader of the format wants`,
      "test/scanner/reports/outside_readers.test.ts: let a program of others read it",
      "README.md, docs/ci.md: say what it is for",
    ],
  };
}
