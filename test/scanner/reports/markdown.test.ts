import { expect, test } from "vitest";
import type { Report } from "../../../shared/report.ts";
import { aCheckResult, aFinding, aReport, hostileText, renderAs } from "../../support/report_builders.ts";

/** Texts of which GitHub, GitLab or plain CommonMark would make more than text. */
const references: readonly string[] = [
  "see https://evil.example now",
  "@user",
  "deadbeef",
  "[link](https://evil.example)",
  "<img src=x onerror=alert(1)>",
  "&#64;user &commat;user",
  "`code` and ``more`` and ```fence",
  "\\` @user `",
  "*bold* _under_ ~~gone~~ __all__",
  "| cell | @user |",
  "a\\| @user |",
  "1. list\n# heading\n\n@user",
  "@\u200buser ＠user",
  hostileText,
];

/** Words of letters and figures with the punctuation of a sentence; no renderer links them. */
const plainWord = /^["(]*[\p{L}\p{M}\p{Nd}]+([-'’]\p{L}+)*[")]*[,;.:]?[")]*[,;.:]?$/u;

/** The text of a line outside its code spans (https://spec.commonmark.org/0.31.2/#code-spans). */
function outsideCode(line: string): string {
  let outside = "";
  let rest = line;
  for (;;) {
    const opening = /(?<!`)`+(?!`)/.exec(rest);
    if (opening === null) return outside + rest;
    // A backslash before the run would make its first backtick a character.
    expect(rest[opening.index - 1]).not.toBe("\\");
    const [run] = opening;
    const after = rest.slice(opening.index + run.length);
    const closing = new RegExp(`(?<!\`)${run}(?!\`)`).exec(after);
    if (closing === null) throw new Error(`A code span is not closed: ${line}`);
    outside += `${rest.slice(0, opening.index)}code`;
    rest = after.slice(closing.index + run.length);
  }
}

/** Text without the markup that the format writes itself. */
function wordsOf(markdown: string): readonly string[] {
  return markdown
    .split("\n")
    .filter((line) => !line.startsWith("|---"))
    .flatMap((line) => outsideCode(line.replace(/^(?:#{1,2} |- |\| )/, "").replace(/ \|$/, "")).split(/ \| | /))
    .map((word) => word.replaceAll(/\*\*|&[lg]t;/g, ""))
    .filter((word) => !["", "·", "❌", "✅", "✋", "➖", "|", "N/A", "N/A;"].includes(word));
}

function reportWith(text: string): Report {
  const findings = [
    aFinding({ resource: { type: text, id: text, name: text }, detail: text, expected: text, actual: text }),
    aFinding({ waived: true, waiver: { reason: text, expires: text } }),
  ];
  const attestation = { status: "FAIL", reason: text, by: text, expires: text } as const;
  const check = aCheckResult({ findings, attestation, check: text, title: text, vuln_id: text, stig_id: text });
  const report = aReport([check]);
  return { ...report, scan: { ...report.scan, org_url: text, id: text } };
}

test.each(references)("%j in Markdown becomes no markup, no link, no reference, and no column of a table", (text) => {
  const markdown = renderAs("markdown", reportWith(text));
  expect(markdown).not.toMatch(/[<>]/);
  for (const word of wordsOf(markdown)) {
    expect(word).toMatch(plainWord);
    expect(word).not.toMatch(/^\P{L}*[0-9a-f]{7,}\P{L}*$/iu);
  }
  const rows = markdown.split("\n").filter((line) => line.startsWith("|"));
  // That of the checks, and that of the two controls of the rule.
  expect(rows).toHaveLength(3 + 4);
  for (const row of rows) expect(row.match(/(?<!\\)\|/g)).toHaveLength(6);
});

test("rules that were not examined are named; prose stays prose, and what is unusual in it stands as code", () => {
  const detail = `Policy "Default Policy": expected a session of 1 to 15 minutes, found x@y.example (built-in) in rule "A | B" (IA-2(1)).`;
  const markdown = renderAs("markdown", aReport([aCheckResult({ findings: [aFinding({ detail })] })]));
  expect(markdown).toMatch(/^- Not examined: `28` rules: `V-273187, .*, V-279693`$/m);
  expect(markdown).toContain(
    `- FAIL: Policy "Default Policy": expected a session of 1 to 15 minutes, found \`x@y.example\` (built-in) in rule "A \`|\` B" (\`IA-2(1)\`).\n`,
  );
});
