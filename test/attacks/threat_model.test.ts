import { existsSync, readFileSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseAst } from "vitest/node";

const root = join(import.meta.dirname, "../..");
const files = ["test", "soak"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => join(folder, file)),
);
const imported = new Set(files.flatMap((file) => read(file).match(/(?<=\/)\w+\.ts(?=")/g) ?? []));

/** A page that names a test which is gone, or is skipped, makes a promise that no test holds. */
describe.each([
  "docs/promises.md",
  "docs/reliability.md",
  "bench/faults.md",
  "docs/threat_model.md",
  "docs/threat_model_details.md",
  "docs/approval.md",
  "docs/stig_deployment.md",
])("%s", (page) => {
  const named = [...read(page).matchAll(/`((?:test|soak)\/[\w./]+\.ts)`(?:: ([^|·`\n]+))?/g)];
  const titles = Map.groupBy(named, ([, file = ""]) => file);

  test("names tests", () => {
    expect(named.length).toBeGreaterThan(5);
  });

  test.each([...titles])("names tests of %s that run", (file, rows) => {
    expect(existsSync(join(root, file)), "the file is gone").toBe(true);
    expect(file.endsWith(".test.ts") || imported.has(basename(file)), "no test file imports it").toBe(true);
    const running = testTitles(read(file));
    for (const [, , title] of rows) {
      if (title === undefined) continue;
      const found = running.filter((text) => text.startsWith(title.trim()));
      expect(found, `no test that runs begins with "${title}"`).not.toEqual([]);
    }
  });
});

describe.each(["docs/approval.md", "docs/stig_deployment.md", "docs/threat_model.md"])("%s", (page) => {
  const text = read(page);

  test("has a proof in each row of a table with proofs", () => {
    const tables = text.split(/\n\n/).filter((block) => /^\|.* (?:proof|test) \|\n/.test(block));
    const rows = tables.flatMap((table) => table.trim().split("\n").slice(2));
    expect(rows.length).toBeGreaterThan(4);
    expect(rows.filter((row) => !/`[^`]+` *\|$|: [^|`]+\|$|PostgreSQL \|$/.test(row))).toEqual([]);
  });

  test("names files and scripts that are there", () => {
    const paths = [...text.matchAll(/`((?:tools|deploy|shared|test|\.github|docs)\/[\w./@-]+|\w+\.md)`/g)];
    expect(paths.map(([, path = ""]) => path).filter((path) => !existsSync(join(root, path)))).toEqual([]);
    const { scripts } = JSON.parse(read("package.json")) as { readonly scripts: object };
    const named = [...text.matchAll(/`npm run ([\w:-]+)/g)].map(([, script = ""]) => script);
    expect(named.filter((script) => !(script in scripts))).toEqual([]);
  });
});

describe("the budgets of docs/threat_model_details.md", () => {
  const [, section = ""] = read("docs/threat_model_details.md").split("\n## Budgets\n");
  const [table = ""] = section.split("\n## ");
  const rows = [...table.matchAll(/^\| [^|]+ \| `([\w/.]+)` `(\w+)` \| ([^|]+) \| `[^|]+ \|$/gm)];
  const [, sizes = ""] = read("docs/operate.md").split("\n### What one tenant may take\n");

  test("are all that the code shares out", () => {
    const sources = ["gateway", "shared", "drizzle"].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
        .filter((file) => file.endsWith(".ts"))
        .map((file) => `${folder}/${file}`),
    );
    const shared = sources.flatMap((file) =>
      [...read(file).matchAll(/(?:#|this\.|const )(\w+) = [^;]*?\bnew (?:FairShare|FairTurns|PolledTurns)\(/g)].map(
        ([, name]) => `${file} ${name}`,
      ),
    );
    const uses = sources.flatMap((file) => read(file).match(/\bnew (?:FairShare|FairTurns|PolledTurns)\(/g) ?? []);
    expect(shared).toHaveLength(uses.length);
    expect(shared.length).toBeGreaterThan(10);
    const documented = new Set(rows.map(([, file, name]) => `${file} ${name}`));
    expect(shared.filter((budget) => !documented.has(budget))).toEqual([]);
  });

  test.each(rows.map(([, file = "", name = "", bound = ""]) => ({ file, name, bound })))(
    "$file has $name, and its bound is $bound",
    ({ file, name, bound }) => {
      const source = read(file);
      expect(source).toMatch(new RegExp(`\\b${name}\\b`));
      for (const [, constant = "", amount = ""] of bound.matchAll(/`(\w+)` ([\d,]+)/g)) {
        const digits = amount.replaceAll(",", "");
        const given = new RegExp(`\\b${constant} (?:=|\\?\\?) (\\d[\\d_]*)`).exec(source)?.[1]?.replaceAll("_", "");
        expect(given, constant).toBe(digits);
        // 3 and 16 are words there, too.
        expect(sizes, "docs/operate.md").toMatch(new RegExp(`(?<![\\d,])${amount}(?![\\d,]\\d)`));
      }
    },
  );
});

test("a title counts where a test runs under it only", () => {
  const source = `
    // test("in a comment")
    const text = 'test("in a text")';
    test("plain", () => {});
    test.each([1])("in a table of %s", () => {});
    describe(\`in a template of \${1}\`, () => {});
    test.skip("skipped", () => {});
    test.todo("to do");
    log("of another call");`;
  expect(testTitles(source)).toEqual(["plain", "in a table of %s", "in a template of "]);
});

function read(file: string): string {
  return readFileSync(join(root, file), "utf8");
}

/** What the parser's nodes have in common. */
type Node = Readonly<Record<string, unknown>>;

/** The titles of all tests and groups of a file that are not skipped. */
function testTitles(source: string): readonly string[] {
  const titles: string[] = [];
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    const node = value as Node;
    if (node["type"] === "CallExpression" && isTestCall(node["callee"] as Node)) {
      const [title] = node["arguments"] as readonly Node[];
      const text = title === undefined ? null : textOf(title);
      if (text !== null) titles.push(text);
    }
    Object.values(node).forEach(visit);
  };
  visit(parseAst(source, { lang: "ts" }));
  return titles;
}

/** `test`, `describe.each(…)` and the like. */
function isTestCall(callee: Node): boolean {
  if (callee["type"] === "Identifier") return callee["name"] === "test" || callee["name"] === "describe";
  if (callee["type"] === "CallExpression") return isTestCall(callee["callee"] as Node);
  const { name } = (callee["property"] ?? {}) as Node;
  return (
    callee["type"] === "MemberExpression" &&
    !/^(?:skip|todo|fails)/.test(String(name)) &&
    isTestCall(callee["object"] as Node)
  );
}

/** A text, or the beginning of a template. */
function textOf(node: Node): string | null {
  if (typeof node["value"] === "string") return node["value"];
  const [first] = (node["quasis"] ?? []) as readonly { readonly value: { readonly cooked: string } }[];
  return first?.value.cooked ?? null;
}
