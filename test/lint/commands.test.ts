import { stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { createProgram } from "../../program.ts";
import { documentedLines } from "../support/documented_commands.ts";

/** Every command in the documents is one that exists: npm scripts, the command line's commands and options, programs and files. */

const root = join(import.meta.dirname, "../..");

/** Programs that examples call beside ours, and why nothing here runs them. */
const otherPrograms: Readonly<Record<string, string>> = {
  ".": "of the shell",
  awk: "reads what a stream says",
  cd: "of the shell",
  chmod: "of the shell",
  curl: "test/gateway and test/e2e read the same addresses",
  docker: "needs Docker; the image is built in ci.yml",
  do: "of the shell",
  done: "of the shell",
  echo: "of the shell",
  export: "of the shell",
  for: "of the shell",
  gh: "needs an account at GitHub, and a release",
  helm: "comes from no registry that tests use; test/deploy reads the chart",
  kill: "of the shell",
  mkdir: "of the shell",
  openssl: "test/scanner/idp reads keys in the forms it writes",
  set: "of the shell",
  sha256sum: "test/e2e/executable.test.ts",
  source: "of the shell",
  sudo: "apt, for the benchmarks",
  systemctl: "needs systemd",
  terraform: "needs the provider from its registry; test/scanner/fix reads what it would",
  tofu: "needs the provider from its registry; test/scanner/fix reads what it would",
  wrangler: "needs an account at Cloudflare; test/edge runs the Worker in workerd",
};

/** What a line runs, one after another, without variables that are set before a program's name. */
function commandsOf(line: string): readonly (readonly string[])[] {
  return line
    .replaceAll(/<\(([^)]*)\)/g, "; $1")
    .replaceAll(/'[^']*'|"[^"]*"/g, (quoted) => quoted.replaceAll(/[\s;&|]+/g, "_"))
    .split(/&&|\|\||[;|&]/)
    .map((part) =>
      part
        .trim()
        .replace(/^\(|\)$/g, "")
        .replace(/^do\b/, ""),
    )
    .map((part) => part.split(/\s+/).filter((word) => word !== ""))
    .map((words) => words.slice(words.findIndex((word) => !/^\w+=/.test(word))))
    .filter((words) => words.length > 0 && !/^\w+=/.test(words[0] ?? ""));
}

const program = createProgram(() => Promise.resolve());

/** Why these arguments of ours are not understood; null: they are. */
function misuse(args: readonly string[]): string | null {
  let command = program;
  const rest = [...args];
  for (;;) {
    const next = command.commands.find((each) => each.name() === rest[0] || each.aliases().includes(rest[0] ?? ""));
    if (next === undefined) break;
    command = next;
    rest.shift();
  }
  if (command === program && rest[0] !== undefined && !/^--(?:version|help)$/.test(rest[0]))
    return `no command "${rest[0]}"`;
  const beforeDashes = rest.includes("--") ? rest.slice(0, rest.indexOf("--")) : rest;
  const flags = beforeDashes.filter((word) => /^--?[a-z]/.test(word)).map((word) => word.split("=")[0]);
  const known = command.options.flatMap(({ long, short }) => [long, short]);
  const unknown = flags.find(
    (flag) => !known.includes(flag) && !["--help", "--version", "--no-color"].includes(flag ?? ""),
  );
  return unknown === undefined ? null : `${command.name()} has no option ${unknown}`;
}

async function problemOf(words: readonly string[]): Promise<string | null> {
  const [name = "", ...args] = words;
  if (name === "npm") {
    if (args[0] !== "run") return null;
    const rest = args.slice(1).filter((word) => word !== "-s");
    const [script = ""] = rest;
    if (!(script in packageJson.scripts)) return `no script "${script}"`;
    return script === "scanstream" ? misuse(rest.slice(rest.indexOf("--") + 1)) : null;
  }
  if (name === "npx") return problemOf(args.filter((word) => !word.startsWith("-")));
  if (name === "vitest" || name === "drizzle-kit") return null;
  if (/(?:^|\/)scanstream$/.test(name)) return misuse(args);
  if (name === "node") {
    if (args[0]?.endsWith("scanstream.ts") === true) return misuse(args.slice(1));
    return (await stat(join(root, args[0] ?? "")).catch(() => null)) === null ? `no file ${args[0]}` : null;
  }
  return name in otherPrograms ? null : `an unknown program, ${name}`;
}

test("every example in the documents is of commands, options, scripts and files that exist", async () => {
  const lines = await documentedLines();
  expect(lines.length).toBeGreaterThan(50);
  const problems = lines.flatMap(({ file, text }) =>
    commandsOf(text).map(async (words) => {
      const problem = await problemOf(words);
      return problem === null ? [] : [`${file}: ${words.join(" ")}: ${problem}`];
    }),
  );
  expect((await Promise.all(problems)).flat()).toEqual([]);
});

test.each([
  ["npm run nothing", 'no script "nothing"'],
  ["npm run -s scanstream -- scan --formats json", "scan has no option --formats"],
  ["scanstream scann", 'no command "scann"'],
  ["A=1 node_modules/.bin/scanstream admin tenant create --nam x", "create has no option --nam"],
  ["node tools/nothing.ts", "no file tools/nothing.ts"],
  ["rm -rf /", "an unknown program, rm"],
])("finds what is wrong with %s", async (line, problem) => {
  expect(await Promise.all(commandsOf(line).map(problemOf))).toEqual([problem]);
});

test.each([
  "npm run -s scanstream -- diff a.json b.json --format table",
  "mkdir project && cd project",
  "scanstream --version",
])("takes %s", async (line) => {
  expect((await Promise.all(commandsOf(line).map(problemOf))).filter((problem) => problem !== null)).toEqual([]);
});
