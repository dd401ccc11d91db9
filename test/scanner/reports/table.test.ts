import { describe, expect, test } from "vitest";
import { textWidth } from "../../../command_line/terminal.ts";
import type { CheckResult } from "../../../shared/report.ts";
import { aCheckResult, aFinding, aReport, everyVerdict, hostileText, renderAs } from "../../support/report_builders.ts";

function linesOf(checks: readonly CheckResult[], width: number, color = false): readonly string[] {
  return renderAs("table", aReport(checks), { color, width }).split("\n");
}

const longNames = ["x".repeat(500), "日本語".repeat(100), "a_b".repeat(100), hostileText, `${"word ".repeat(200)}end`];
const commands = ["##[stop-commands]x", `a##vso[x]b ${"::error title=a:b::c ".repeat(40)}`];
const checks = [
  ...everyVerdict(),
  aCheckResult({
    findings: [...longNames, ...commands].map((name) =>
      aFinding({ resource: { type: "app", id: name, name }, expected: name, actual: name, detail: name }),
    ),
  }),
];

test.each([40, 60, 80, 120, 200])(
  "at %i columns every line fits, and none steers a terminal or a pipeline",
  (width) => {
    const lines = linesOf(checks, width);
    expect(Math.max(...lines.map(textWidth))).toBeLessThanOrEqual(width);
    expect(lines.filter((line) => /[\p{Cc}\u202e]|##\w*\[|^\s*::\w+.*::/u.test(line))).toEqual([]);
  },
);

test.each(["json", "hdf", "sarif", "oscal"])("no text in %s steers a terminal or a pipeline", (format) => {
  const text = renderAs(format, aReport(checks));
  expect(text).not.toMatch(/(?!\n)\p{Cc}|\u202e|##\w*\[/u);
  expect(JSON.stringify(JSON.parse(text))).toContain("##[stop-commands]x");
});

describe("the first screen", () => {
  const render = (shown: readonly CheckResult[], width = 80) =>
    renderAs("table", aReport(shown), { width, isBrief: true }).trimEnd().split("\n");
  const many = Array.from({ length: 10 }, () => checks).flat();

  test("fits 80 columns and leaves 6 lines of 24 for messages", () => {
    const lines = render(many);
    expect(lines.length).toBeLessThanOrEqual(18);
    expect(Math.max(...lines.map(textWidth))).toBeLessThanOrEqual(80);
  });

  test("counts the decisions of people that never expire", () => {
    const waivers = [
      { reason: "accepted", by: "A. Person", expires: null },
      { reason: "accepted", by: "A. Person", expires: "2099-01-01" },
      { reason: "met by the organization's own limit", expires: null },
    ];
    const attestation = { status: "PASS", reason: "seen", by: "A. Person", expires: null } as const;
    const lines = render([
      ...waivers.map((waiver) => aCheckResult({ findings: [aFinding({ waived: true, waiver })] })),
      aCheckResult({ findings: [aFinding({ status: "MANUAL" })], attestation }),
      aCheckResult({
        findings: [aFinding({ status: "MANUAL" })],
        attestation: { ...attestation, source: "checklist" },
      }),
    ]);
    expect(lines).toContain("Decisions that never expire: 1 waived finding, 1 attested rule.");
  });

  test("begins with what has no result, and names the role", () => {
    const findings = [aFinding({ status: "MANUAL", reason: "missing_role" })];
    const text = (vulnId: string, check: string) =>
      render([aCheckResult({ findings, vuln_id: vulnId, check })])
        .join(" ")
        .replaceAll(/ +/g, " ");
    const zones = text("V-279693", "application_authentication_policy_network_zone_enforced");
    expect(zones).toMatch(/^1 rule has no result \(missing_role: 1\): V-279693 https:/);
    expect(zones).toContain("Role: Read-Only Administrator (or a similar role).");
    const session = text("V-273186", "signon_global_session_idle_timeout_15min");
    expect(session).toContain("Role: custom, less than Read-Only Administrator.");
    expect(text("V-273193", "application_admin_console_mfa_required")).toMatch(/^https:/);
  });
});
