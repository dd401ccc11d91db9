import { expect, test } from "vitest";
import { exitCodes, worstOf } from "../../command_line/exit_code.ts";
import { wantsColor } from "../../command_line/process_io.ts";
import { textWidth, wrapLines } from "../../command_line/terminal.ts";

test.each<[variables: Record<string, string>, withoutTerminal: boolean, onTerminal: boolean]>([
  [{}, false, true],
  [{ FORCE_COLOR: "1" }, true, true],
  [{ FORCE_COLOR: "0" }, false, false],
  [{ FORCE_COLOR: "false" }, false, false],
  [{ FORCE_COLOR: "" }, false, true],
  [{ NO_COLOR: "1" }, false, false],
  [{ NO_COLOR: "" }, false, true],
  // As Node itself decides.
  [{ NO_COLOR: "1", FORCE_COLOR: "1" }, true, true],
  [{ TERM: "dumb" }, false, false],
])("with %j: colors without a terminal %s, on one %s", (env, withoutTerminal, onTerminal) => {
  expect([wantsColor({ isTTY: false }, env), wantsColor({ isTTY: true }, env)]).toEqual([withoutTerminal, onTerminal]);
});

test("wrapLines breaks lines between words, and leaves those that move the cursor", () => {
  const bar = `\r\u001b[2K${"#".repeat(30)}`;
  expect(textWidth("\u001b[31mFAIL\u001b[39m")).toBe(4);
  expect(wrapLines(`V-273195 and V-273193 failed\n${bar}\n`, 20)).toBe(`V-273195 and\nV-273193 failed\n${bar}\n`);
});

test("the worst of what happened decides the exit code: 130, 4, 3 (nothing evaluated), 2, 1, 3 (unread), 0", () => {
  const order = ["interrupted", "bug", "refused", "usage", "findings", "unread", "ok"] as const;
  expect(order.map((outcome) => exitCodes[outcome])).toEqual([130, 4, 3, 2, 1, 3, 0]);
  for (const [at, outcome] of order.entries()) expect(worstOf(order.slice(at).toReversed())).toBe(outcome);
});
