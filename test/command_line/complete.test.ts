import { describe, expect, test } from "vitest";
import { complete } from "../../command_line/completion/complete.ts";
import { createProgram } from "../../command_line/program.ts";
import { catalog } from "../../scanner/catalog/catalog.ts";
import { reportFormats } from "../../scanner/reports/formats.ts";

const program = createProgram(() => Promise.resolve());

async function offered(...words: readonly string[]) {
  const { kind, values } = await complete(program, words);
  return { kind, words: values.map(({ value }) => value) };
}

describe("complete", () => {
  test.each<[line: string, expected: readonly string[]]>([
    ["sc", ["scan"]],
    ["scan --decisions x --sev", ["--severity"]],
    // An option that was given is not offered again; one that takes several is.
    ["scan -f json --for", []],
    ["practice-org --fault html --fau", ["--fault"]],
    ["scan --fail-on manual:", ["manual:high", "manual:medium", "manual:low"]],
    ["admin tenant list --format ", ["text", "json"]],
    ["explain user_ina", ["user_inactivity_automation_35d_enabled"]],
    ["explain V-27319", Array.from({ length: 10 }, (_, last) => `V-27319${last}`)],
    // Behind what is no command, or after --, nothing is known.
    ["nonsense --fo", []],
    ["scan -- --fo", []],
    ["scan --nonsense --quie", ["--quiet"]],
  ])("%j: %j", async (line, expected) => {
    expect((await offered(...line.split(" "))).words).toEqual(expected);
  });

  test("offers all that a list has not, each with what stands before it", async () => {
    const all = [...reportFormats.map(({ name }) => name), "all"];
    expect(await offered("scan", "--format", "")).toEqual({ kind: "list", words: all });
    const left = all.filter((name) => name !== "json" && name !== "table").map((name) => `json,table,${name}`);
    expect((await offered("scan", "-f", "json,table,")).words).toEqual(left);
    expect((await offered("scan", "--format=json,mark")).words).toEqual(["--format=json,markdown"]);
    expect((await offered("collect", "-c", "")).words).toEqual(expect.arrayContaining(catalog.map(({ name }) => name)));
  });

  test.each([
    [["scan", "--decisions", "w"], "files"],
    [["diff", "a.json", ""], "files"],
    [["scan", "--output=re"], "directories"],
  ])("leaves paths to the shell: %j", async (words, kind) => {
    expect(await offered(...words)).toEqual({ kind, words: [] });
  });

  test("offers the global options and help, and never what is hidden", async () => {
    expect((await offered("scan", "--")).words).toEqual(expect.arrayContaining(["--help", "--no-color", "--verbose"]));
    expect((await offered("")).words).not.toContain("__complete");
  });

  test("shows what a word means", async () => {
    const { values } = await complete(program, ["scan", "--check", "signon_dod"]);
    expect(values).toEqual([{ value: expect.any(String), description: expect.stringMatching(/^V-\d+ Okta must/) }]);
  });
});
