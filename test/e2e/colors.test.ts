import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startCommandOrg } from "../support/command_gateway.ts";
import { runCommand, temporaryFolder } from "../support/command_line.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;

beforeAll(async () => {
  folder = await temporaryFolder();
  await using org = await startCommandOrg(folder.path);
  const args = ["collect", "--check", "V-273187", "--save-artifacts", "artifacts.json"];
  await runCommand(args, { cwd: folder.path, env: org.env });
});
afterAll(() => folder[Symbol.asyncDispose]());

describe("colours", () => {
  test.each([
    ["no terminal", {}, [], false],
    ["FORCE_COLOR=1", { FORCE_COLOR: "1" }, [], true],
    ["FORCE_COLOR=true", { FORCE_COLOR: "true" }, [], true],
    ["FORCE_COLOR=0", { FORCE_COLOR: "0" }, [], false],
    ["FORCE_COLOR that is empty", { FORCE_COLOR: "" }, [], false],
    ["FORCE_COLOR on a dumb terminal", { FORCE_COLOR: "1", TERM: "dumb" }, [], true],
    ["FORCE_COLOR and NO_COLOR, as Node decides it", { NO_COLOR: "1", FORCE_COLOR: "1" }, [], true],
    ["FORCE_COLOR=0 and NO_COLOR", { NO_COLOR: "1", FORCE_COLOR: "0" }, [], false],
    ["--no-color and FORCE_COLOR", { FORCE_COLOR: "1" }, ["--no-color"], false],
  ] as const)("with %s", async (_, env: Record<string, string>, args, isColored) => {
    const options = { cwd: folder.path, env };
    const { stdout } = await runCommand(["evaluate", "--from-artifacts", "artifacts.json", ...args], options);
    expect(stdout).toContain("FAIL");
    expect(stdout.includes("\u001b[31mFAIL")).toBe(isColored);
  });

  test.each([
    ["a terminal", "", "", true],
    ["a terminal and NO_COLOR", "NO_COLOR=1", "", false],
    ["a terminal and an empty NO_COLOR", "NO_COLOR=", "", true],
    ["a terminal and --no-color", "", "--no-color", false],
    ["a dumb terminal", "TERM=dumb", "", false],
  ])("on %s", async (_, variable, option, isColored) => {
    // util-linux's script runs a command on a terminal of its own.
    const line = `printf -v command '%q ' env TERM=xterm ${variable} "$@" ${option}; script -qec "$command" /dev/null`;
    const options = { cwd: folder.path, shell: line };
    const { stdout } = await runCommand(["evaluate", "--from-artifacts", "artifacts.json"], options);
    expect(stdout).toContain("FAIL");
    expect(stdout.includes("\u001b[31mFAIL")).toBe(isColored);
  });
});
