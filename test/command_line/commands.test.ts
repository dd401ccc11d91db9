import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Command, CommanderError, type Option } from "commander";
import { describe, expect, test } from "vitest";
import { offerOf } from "../../command_line/completion/offered_values.ts";
import { createProgram } from "../../command_line/program.ts";
import { catalog } from "../../scanner/catalog/catalog.ts";

/** Every command there is, whoever added it: what holds for one holds for all. */

function everyCommand(command: Command = createProgram(() => Promise.resolve())): readonly Command[] {
  return [command, ...command.commands.filter((below) => below.name() !== "__complete").flatMap(everyCommand)];
}

/** As a terminal of 80 columns shows it, with the examples. */
function helpOf(command: Command): string {
  let text = "";
  command.configureOutput({ writeOut: (part) => (text += part), getOutHelpWidth: () => 80 });
  command.outputHelp();
  return text;
}

function examplesOf(command: Command): readonly string[] {
  return [...helpOf(command).matchAll(/^ {2}\$ (.*)$/gm)].map(([, line = ""]) => line);
}

function wordsOf(command: Command): string {
  return command.parent === null ? command.name() : `${wordsOf(command.parent)} ${command.name()}`;
}

const commands = everyCommand().map((command) => [wordsOf(command), command] as const);
const root = join(import.meta.dirname, "../..");
const pages = ["README.md", ...readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md"))];
/** The command lines of the documents, up to a comment or what the shell does with them. */
const documented = pages.flatMap((name) => {
  const page = readFileSync(join(root, name === "README.md" ? "" : "docs", name), "utf8");
  const lines = [...page.matchAll(/^```sh\n(.*?)^```/gms)].flatMap(([, block = ""]) => block.split("\n"));
  const commands = lines.flatMap((line) => /^scanstream (?:(?! [#>&|]|\\$).)*/.exec(line)?.[0] ?? []);
  return commands.map((line) => [line.trim(), name] as const);
});
/** Those of the workflows and of `deploy/`, up to a redirection. */
const operated = [
  ".github/workflows/ci.yml",
  ".github/workflows/release.yml",
  "deploy/systemd/scanstream-gateway@.service",
].flatMap((name) =>
  [
    ...readFileSync(join(root, name), "utf8").matchAll(/[ /]scanstream(?::check|\.js|")? ([a-z](?:(?! [>&|]).)*)$/gm),
  ].map(([, words = ""]) => [`scanstream ${words}`, name] as const),
);
const examples = [
  ...commands.flatMap(([name, command]) => examplesOf(command).map((line) => [line, name] as const)),
  ...documented,
  ...operated,
];

describe("examples", () => {
  test.each(commands)("%s --help has one, of this command or one below it", (name, command) => {
    const lines = examplesOf(command);
    expect(lines.length).toBeGreaterThan(0);
    if (command.parent !== null) for (const line of lines) expect(line).toContain(name);
  });

  test.each(examples)("%s is parsed", async (line) => {
    let runs = 0;
    const program = createProgram(() => {
      runs += 1;
      return Promise.resolve();
    });
    program.configureOutput({ writeOut: () => {} });
    const words = wordsAfterName(line);
    await program.parseAsync(words, { from: "user" }).catch((error: unknown) => {
      if (!(error instanceof CommanderError) || error.exitCode !== 0) throw error;
      runs += 1;
    });
    expect(runs).toBe(1);
  });

  test.each(examples)("%s names formats, checks and levels that there are", async (line) => {
    for (const [option, value] of givenOptions(line)) {
      const offer = offerOf(option);
      if (offer === null || !("values" in offer) || option.long === "--org") continue;
      const known = (await offer.values()).map((offered) => offered.value);
      const parts = offer.kind === "list" ? value.split(",") : [value.split(":/")[0] ?? ""];
      // A rule may be named by its number, too.
      const names = parts.map((part) => catalog.find(({ rule }) => rule.vuln_id === part)?.name ?? part);
      expect(known).toEqual(expect.arrayContaining(names));
    }
  });
});

function wordsAfterName(line: string): readonly string[] {
  const [, after = ""] = /(?:^|[ (])scanstream (.*?)(?:\)$| > .*$|$)/.exec(line) ?? [];
  return [...after.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare = ""]) => quoted ?? bare);
}

function givenOptions(line: string): readonly (readonly [Option, string])[] {
  const words = wordsAfterName(line);
  let command = createProgram(() => Promise.resolve());
  for (const word of words) command = command.commands.find((below) => below.name() === word) ?? command;
  return words.flatMap((word, at) => {
    const option = command.options.find((one) => one.short === word || one.long === word);
    return option?.required === true ? [[option, words[at + 1] ?? ""] as const] : [];
  });
}

test.each([
  ["scan --quiet --verbose", /option '-v, --verbose' cannot be used with option '-q, --quiet'/],
  ["watch --format xml", /'xml' is invalid. Allowed choices are text, json, ndjson/],
])("%s is refused", async (words, message) => {
  const program = createProgram(() => Promise.resolve(), { writeErr: () => {} });
  await expect(program.parseAsync(words.split(" "), { from: "user" })).rejects.toThrow(message);
});

test.each(commands)("%s --help fits two screens of 80 × 24", (_, command) => {
  expect(helpOf(command).trimEnd().split("\n").length).toBeLessThanOrEqual(48);
});
