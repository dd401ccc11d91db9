import { describe, expect, test } from "vitest";
import { createProgress, type ProgressForm } from "../../../scanner/commands/progress.ts";
import { textWidth, type Terminal } from "../../../command_line/terminal.ts";
import { everyVerdict } from "../../support/report_builders.ts";

interface RecordedTerminal extends Terminal {
  written(): string;
  /** The lines on the screen, each as it was written last. */
  screen(): readonly string[];
  /** Every state that a line ever had. */
  drawn(): readonly string[];
}

function recordTerminal(options: { readonly isTTY: boolean; readonly columns: number }): RecordedTerminal {
  let text = "";
  const states = () => text.split("\n").map((line) => line.split(/\r\u001b\[2K/));
  return {
    ...options,
    color: false,
    write: (more) => void (text += more),
    written: () => text,
    screen: () => states().map((line) => line.at(-1) ?? ""),
    drawn: () => states().flat(),
  };
}

const checks = everyVerdict();
const total = checks.length;

function scanOn(terminal: Terminal, form: ProgressForm = terminal.isTTY ? "bar" : "lines"): void {
  let nowMs = 0;
  const progress = createProgress(terminal, form, () => nowMs);
  progress.started(checks.map(({ check }) => check));
  for (const [index, check] of checks.entries()) {
    nowMs += 1500;
    progress.checkEvaluated(check, {
      checks_done: index + 1,
      checks_total: total,
      pass: 10,
      fail: index,
      manual: 0,
      not_applicable: 0,
    });
    if (index === 14) progress.message("The gateway does not answer");
  }
  progress.ended();
}

describe("on a terminal", () => {
  test.each([20, 80, 200])("of %i columns the bar fits and is never cut", (columns) => {
    const terminal = recordTerminal({ isTTY: true, columns });
    scanOn(terminal);
    const bars = terminal.drawn().filter((line) => line.startsWith("["));
    expect(bars.length).toBeGreaterThan(total);
    for (const bar of bars) {
      expect(textWidth(bar)).toBeLessThan(columns);
      expect(bar).toContain(`/${total}`);
      expect(bar).toMatch(
        /^\[#*-*\] \d+\/\d+( · \d+ passed, \d+ failed, \d+ needs? manual review, \d+ N\/A( · about \d+ s left)?( · V-\d+)?)?$/,
      );
    }
  });

  test("leaves only messages and one line of totals", () => {
    const terminal = recordTerminal({ isTTY: true, columns: 80 });
    scanOn(terminal);
    expect(terminal.screen()).toEqual([
      "The gateway does not answer",
      `${total} of ${total} checks evaluated in ${Math.ceil(total * 1.5)} s`,
      "",
    ]);
  });
});

describe("without a terminal", () => {
  test("each check is a line with its verdict, without the details that the report has", () => {
    const terminal = recordTerminal({ isTTY: false, columns: 0 });
    scanOn(terminal);
    const lines = terminal.written().trimEnd().split("\n");
    expect(lines).toHaveLength(1 + total + 1);
    expect(lines[1]).toContain(`[ 1/${total}] ${checks[0]?.status.padEnd(6)} ${checks[0]?.vuln_id} `);
    expect(lines[1]).toContain(checks[0]?.title.slice(0, 40));
    expect(lines).toContainEqual(expect.stringMatching(/^\[ 3\/\d+\] MANUAL V-\d+ \(missing_role\) \w/));
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
    expect(terminal.written()).not.toMatch(/[\r\u001b]/);
  });
});

test("quiet progress is its messages", () => {
  const terminal = recordTerminal({ isTTY: true, columns: 80 });
  scanOn(terminal, "quiet");
  expect(terminal.written()).toBe("The gateway does not answer\n");
});
