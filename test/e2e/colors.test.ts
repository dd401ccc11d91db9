import { afterAll, beforeAll, expect, test } from "vitest";
import { wantsColor } from "../../command_line/process_io.ts";
import { callCommand } from "../support/called_command.ts";
import { startCommandOrg } from "../support/command_gateway.ts";
import { runCommand, temporaryFolder } from "../support/command_line.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;

beforeAll(async () => {
  folder = await temporaryFolder();
  await using org = await startCommandOrg(folder.path);
  const args = ["collect", "--check", "V-273187", "--save-artifacts", "artifacts.json"];
  await callCommand(args, { cwd: folder.path, env: org.env });
});
afterAll(() => folder[Symbol.asyncDispose]());

test.each<[variables: Record<string, string>, withoutTerminal: boolean, onTerminal: boolean]>([
  [{}, false, true],
  [{ FORCE_COLOR: "1" }, true, true],
  [{ FORCE_COLOR: "true" }, true, true],
  [{ FORCE_COLOR: "0" }, false, false],
  [{ FORCE_COLOR: "false" }, false, false],
  [{ FORCE_COLOR: "" }, false, true],
  [{ FORCE_COLOR: "1", TERM: "dumb" }, true, true],
  [{ NO_COLOR: "1" }, false, false],
  [{ NO_COLOR: "" }, false, true],
  // As Node itself decides.
  [{ NO_COLOR: "1", FORCE_COLOR: "1" }, true, true],
  [{ NO_COLOR: "1", FORCE_COLOR: "0" }, false, false],
  [{ TERM: "dumb" }, false, false],
])("with %j: colors without a terminal %s, on one %s", (env, withoutTerminal, onTerminal) => {
  expect([wantsColor({ isTTY: false }, env), wantsColor({ isTTY: true }, env)]).toEqual([withoutTerminal, onTerminal]);
});

// util-linux's script runs a command on a terminal.
const terminal = (variable: string, option: string) =>
  `printf -v command '%q ' env TERM=xterm ${variable} "$@" ${option}; script -qec "$command" /dev/null`;

test.each([
  ["a terminal", terminal("", ""), {}, true],
  ["a terminal and NO_COLOR", terminal("NO_COLOR=1", ""), {}, false],
  ["a terminal and --no-color", terminal("", "--no-color"), {}, false],
  ["no terminal and FORCE_COLOR", '"$@" | cat', { FORCE_COLOR: "1" }, true],
])("on %s", async (_, shell, env: Record<string, string>, isColored) => {
  const options = { cwd: folder.path, env, shell };
  const { stdout } = await runCommand(["evaluate", "--from-artifacts", "artifacts.json"], options);
  expect(stdout).toContain("FAIL");
  expect(stdout.includes("\u001b[31mFAIL")).toBe(isColored);
});
