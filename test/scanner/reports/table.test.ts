import { describe, expect, test } from "vitest";
import { tableFormat } from "../../../scanner/reports/table.ts";
import { textWidth } from "../../../command_line/terminal.ts";
import type { CheckResult } from "../../../shared/report.ts";
import { aCheckResult, aFinding, aReport, everyVerdict, hostileText } from "../../support/report_builders.ts";

function linesOf(checks: readonly CheckResult[], width: number, color = false): readonly string[] {
  return tableFormat.render(aReport(checks), { color, width, toolVersion: "1.2.3" }).split("\n");
}

const longNames = ["x".repeat(500), "日本語".repeat(100), "a_b".repeat(100), hostileText, `${"word ".repeat(200)}end`];
const checks = [
  ...everyVerdict(),
  aCheckResult({
    findings: longNames.map((name) =>
      aFinding({ resource: { type: "app", id: name, name }, expected: name, actual: name, detail: name }),
    ),
  }),
];

describe.each([40, 60, 80, 120, 200])("at %i columns", (width) => {
  test("every line fits", () => {
    expect(Math.max(...linesOf(checks, width).map(textWidth))).toBeLessThanOrEqual(width);
  });

  test("no word is broken that fits a line", () => {
    const words = 'expected an active rule at priority 1, not the built-in "Default Rule"';
    const detail = `Policy "P": ${words}, found none.`;
    const finding = aFinding({ expected: words.slice(9), actual: "none", detail });
    expect(
      linesOf([aCheckResult({ findings: [finding] })], width)
        .join(" ")
        .replaceAll(/ +/g, " "),
    ).toContain(words);
  });
});

test("a wide terminal is used: fewer lines than on a narrow one", () => {
  expect(linesOf(checks, 200).length).toBeLessThan(linesOf(checks, 80).length);
});

test("a terminal of unknown width is taken for one of 80 columns", () => {
  expect(linesOf(checks, 0)).toEqual(linesOf(checks, 80));
});

test("prints what a check expects once, and what was found for each open resource", () => {
  const findings = ["One", "Two"].map((name) =>
    aFinding({
      resource: { type: "policy", id: name, name },
      detail: `Policy "${name}": expected 15 minutes, found 120 minutes: see the rule.`,
    }),
  );
  const closed = aFinding({ status: "PASS", resource: { type: "policy", id: "three", name: "Three" } });
  const lines = linesOf([aCheckResult({ findings: [...findings, closed] })], 80);
  expect(lines.slice(lines.indexOf("") + 1, -3)).toEqual([
    "FAIL   V-273186  CAT II  signon_global_session_idle_timeout_15min",
    "       expected 15 minutes",
    "       FAIL One: 120 minutes: see the rule.",
    "       FAIL Two: 120 minutes: see the rule.",
  ]);
});

test("shows a sentence whole that does not hold what was expected and found", () => {
  const detail = "The provider did not answer within 30 seconds.";
  expect(linesOf([aCheckResult({ findings: [aFinding({ detail })] })], 80)).toContain(
    `       FAIL Default Policy: 120 minutes: The provider did not answer within 30`,
  );
});

test("colour changes nothing but the colour", () => {
  const plain = linesOf(checks, 80).join("\n");
  expect(
    linesOf(checks, 80, true)
      .join("\n")
      .replaceAll(/\u001b\[\d+m/g, ""),
  ).toBe(plain);
});
