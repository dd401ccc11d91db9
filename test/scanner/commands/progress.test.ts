import { expect, test } from "vitest";
import { textWidth } from "../../../command_line/terminal.ts";
import { createProgress, type ProgressForm } from "../../../scanner/commands/progress.ts";
import { everyVerdict } from "../../support/report_builders.ts";

const checks = everyVerdict();
const total = checks.length;
/** Begins a line anew on the screen. */
const eraseLine = "\r\u001b[2K";

/** Everything that a scan of every verdict writes, with one message in between. */
function written(form: ProgressForm, columns: number): string {
  let text = "";
  const terminal = { isTTY: form === "bar", columns, color: false, write: (more: string) => void (text += more) };
  let nowMs = 0;
  const progress = createProgress(terminal, form, () => nowMs);
  progress.started(checks.map(({ check }) => check));
  for (const [fail, check] of checks.entries()) {
    nowMs += 1500;
    const counts = { pass: 10, fail, manual: 0, not_applicable: 0 };
    progress.checkEvaluated(check, { checks_done: fail + 1, checks_total: total, ...counts });
    if (fail === 14) progress.message("The gateway does not answer");
  }
  progress.ended();
  return text;
}

test.each([20, 80, 200])("on a terminal of %i columns the bar fits and is never cut", (columns) => {
  const drawn = written("bar", columns).replaceAll(eraseLine, "\n").split("\n");
  const bars = drawn.filter((line) => line.startsWith("["));
  expect(bars.length).toBeGreaterThan(total);
  for (const bar of bars) {
    expect(textWidth(bar)).toBeLessThan(columns);
    expect(bar).toContain(`/${total}`);
    expect(bar).toMatch(
      /^\[#*-*\] \d+\/\d+( · \d+ PASS, \d+ FAIL, \d+ MANUAL, \d+ N\/A( · about \d+ s left)?( · V-\d+)?)?$/,
    );
  }
});

test("without a terminal each check is a line with its verdict, without the details that the report has", () => {
  const text = written("lines", 0);
  const lines = text.trimEnd().split("\n");
  expect(lines).toHaveLength(1 + total + 1);
  expect(lines[1]).toContain(`[ 1/${total}] ${checks[0]?.status.padEnd(6)} ${checks[0]?.vuln_id} `);
  expect(lines[1]).toContain(checks[0]?.title.slice(0, 40));
  expect(lines).toContainEqual(expect.stringMatching(/^\[ 3\/\d+\] MANUAL V-\d+ \(missing_role\) \w/));
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
  expect(text).not.toMatch(/[\r\u001b]/);
});
