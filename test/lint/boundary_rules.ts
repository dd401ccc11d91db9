/**
 * The dependency rules of ARCHITECTURE.md as lint rules. oxlint loads this file as a plugin; `boundary_rules.test.ts`
 * proves each rule by a file that must fail.
 */
import { readdirSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { dirname, join, relative, sep } from "node:path";

/** What the rules read of an ESTree node, https://github.com/estree/estree */
interface Node {
  readonly type: string;
  readonly parent?: Node;
  readonly name?: string;
  readonly value?: unknown;
  readonly source?: Node | null;
  readonly object?: Node;
  readonly property?: Node;
  readonly callee?: Node;
  readonly key?: Node;
  readonly computed?: boolean;
  readonly shorthand?: boolean;
  readonly id?: Node;
  readonly init?: Node | null;
  readonly left?: Node;
  readonly right?: Node;
  readonly expression?: Node;
  readonly operator?: string;
  readonly properties?: readonly Node[];
  readonly specifiers?: readonly Node[];
  readonly imported?: Node;
  readonly local?: Node;
  readonly quasis?: readonly { readonly value: { readonly cooked: string } }[];
}

interface Context {
  readonly filename: string;
  readonly cwd: string;
  report(problem: { readonly node: Node; readonly message: string }): void;
}

type Visitor = Record<string, (node: Node) => void>;

interface Rule {
  create(context: Context): Visitor;
}

/** Who may import what of ours, by folder; files of their own are always allowed. */
const imports: Rule = {
  create(context) {
    const file = pathOf(context);
    const check = (node: Node) => {
      if (node.source === null || node.source === undefined) return;
      const problem = importProblem(context, file, textOf(node.source));
      if (problem !== null) context.report({ node, message: problem });
    };
    return {
      ImportDeclaration: check,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check,
      ImportExpression: check,
      TSImportType: check,
    };
  },
};

function importProblem(context: Context, file: string, source: string | null): string | null {
  const isProduct = !aroundProduct.test(file);
  if (source === null) return isProduct ? "a module that is imported is named as text: write its path out" : null;
  if (source.startsWith(".")) {
    const target = relativeTo(context, source);
    return forbiddenOwnImport(file, target) ?? (isProduct ? folderCircle(context, file, target) : null);
  }
  if (isProduct && /^(?:[/#]|file:|scanstream(?:$|\/))/.test(source)) {
    return "a file of ours is imported by its relative path: write ./ or ../ before it";
  }
  return forbiddenPackage(file, source);
}

/** Suites and programs around the product: they may use all of it, and it uses none of them. */
const aroundProduct = /^(?:test|bench|conformance|soak|tools|examples\/clients)\//;

/**
 * The floors of each house, from the ground up: a file uses its own floor and those below it. The longest entry that begins a path is its
 * floor; entries of one list are side by side and do not use each other.
 */
const houses: readonly (readonly (readonly string[])[])[] = [
  [
    ["gateway/key_set.ts"],
    ["gateway/config.ts", "gateway/observability/", "gateway/description/"],
    ["gateway/auth/"],
    ["gateway/streaming/"],
    ["gateway/http/"],
    ["gateway/features/"],
    ["gateway/app.ts", "gateway/operator/"],
    ["gateway/runtime/"],
    ["gateway/commands.ts"],
  ],
  [
    ["scanner/evidence/artifacts.ts"],
    ["scanner/checks/"],
    ["scanner/catalog/", "scanner/okta/"],
    ["scanner/config.ts", "scanner/evidence/", "scanner/evaluate.ts"],
    ["scanner/checklists/", "scanner/causes/"],
    ["scanner/streaming/", "scanner/reports/", "scanner/decisions/"],
    ["scanner/explain/"],
    ["scanner/run_scan.ts"],
    ["scanner/follow/", "scanner/fix/", "scanner/diff/", "scanner/signing/"],
    ["scanner/impact/"],
    ["scanner/commands/"],
  ],
];

interface Floor {
  readonly name: string;
  readonly height: number;
}

function floorOf(house: readonly (readonly string[])[], path: string): Floor | null {
  const floors = house.flatMap((names, height) => names.map((name) => ({ name, height })));
  const fitting = floors.filter(({ name }) => path.startsWith(name));
  return fitting.sort((one, other) => other.name.length - one.name.length)[0] ?? null;
}

function forbiddenFloor(file: string, target: string): string | null {
  for (const house of houses) {
    const from = floorOf(house, file);
    const to = floorOf(house, target);
    if (from === null || to === null || from.name === to.name || to.height < from.height) continue;
    const where = to.height > from.height ? "above" : "beside";
    return `${to.name} stands ${where} ${from.name}: take it as an argument, or move what both need below them`;
  }
  return null;
}

/** Which folders of the product a folder may import, beside itself and `shared/`. */
const neighbours: readonly (readonly [folder: string, allowed: RegExp, instead: string])[] = [
  ["shared/", /^$/, "shared/ imports nothing of ours outside shared/: take it as an argument, or move it into shared/"],
  ["command_line/", /^package\.json$/, "command_line/ imports only shared/: take it as an argument"],
  ["drizzle/", /^package\.json$/, "drizzle/ imports only shared/: take it as an argument"],
  [
    "practice_org/",
    /^command_line\//,
    "practice_org/ is a program of its own: it imports only command_line/ and shared/",
  ],
  [
    "gateway_commands/",
    /^command_line\//,
    "gateway_commands/ are clients of a gateway's API: they import only command_line/ and shared/",
  ],
  ["scanner/", /^command_line\//, "scanner/ never imports gateway/ nor practice_org/: put what both need into shared/"],
  [
    "gateway/",
    /^(?:command_line|drizzle)\/|^package\.json$/,
    "gateway/ never imports scanner/: put what both need into shared/",
  ],
  ["examples/", /^(?:gateway|drizzle)\//, "examples/ import what a feature may: gateway/, drizzle/ and shared/"],
];

function forbiddenOwnImport(file: string, target: string): string | null {
  if (aroundProduct.test(file)) return null;
  if (aroundProduct.test(target))
    return `product code never imports ${target.split("/")[0]}/: move what it needs out of there`;
  if (file.startsWith("scanner/checks/") && !/^(scanner\/(checks\/|evidence\/artifacts\.ts)|shared\/)/.test(target)) {
    return "a check sees only artifacts.ts, check.ts and shared/: have a collector put it into an artifact";
  }
  for (const [folder, allowed, instead] of neighbours) {
    if (
      file.startsWith(folder) &&
      !target.startsWith(folder) &&
      !target.startsWith("shared/") &&
      !allowed.test(target)
    ) {
      return instead;
    }
  }
  return forbiddenFloor(file, target);
}

/** Two folders that import each other are one room, or hide a third. A folder and one inside it may. */
function folderCircle({ cwd }: Context, file: string, target: string): string | null {
  const [from, to] = [dirname(file), dirname(target)];
  if (from === to || isInside(from, to) || isInside(to, from) || isFloorByItself(target)) return null;
  if (!foldersUsedBy(to, cwd).has(from)) return null;
  return `${to}/ imports ${from}/ too: move what both need below them, or take it as an argument`;
}

function isInside(folder: string, outer: string): boolean {
  return outer === "." || folder.startsWith(`${outer}/`);
}

function isFloorByItself(file: string): boolean {
  return houses.some((house) => house.some((floor) => floor.includes(file)));
}

const usedFolders = new Map<string, ReadonlySet<string>>();

/** By the files that are directly in the folder. Read once: nothing changes while it is linted. */
function foldersUsedBy(folder: string, cwd: string): ReadonlySet<string> {
  const known = usedFolders.get(folder);
  if (known !== undefined) return known;
  const used = new Set<string>();
  for (const name of readdirSync(join(cwd, folder)).filter((each) => /\.tsx?$/.test(each))) {
    const text = readFileSync(join(cwd, folder, name), "utf8");
    for (const [, path = ""] of text.matchAll(/(?:from|import\(?)\s*"(\.[^"]+)"/g)) {
      const target = join(folder, path);
      if (!isFloorByItself(target)) used.add(dirname(target));
    }
  }
  usedFolders.set(folder, used);
  return used;
}

/** What speaks to a database. */
const drivers = /^(?:pg|@electric-sql\/pglite|@neondatabase\/serverless)(?:$|\/)|^drizzle-orm\/(?!pg-core$)/;
const driverUsers = /^(?:drizzle|test|bench|soak)\//;

function forbiddenPackage(file: string, source: string): string | null {
  const isRuntimes = /^(?:node|deno|bun|cloudflare):/.test(source) || builtinModules.includes(source);
  if (isRuntimes && file.startsWith("shared/"))
    return "shared/ runs on every runtime: no node: import: take what it gives as an argument";
  if (isRuntimes && file.startsWith("scanner/checks/"))
    return "a check is a pure function of artifacts: no node: import: have a collector put it into an artifact";
  if (drivers.test(source) && !driverUsers.test(file))
    return "only drizzle/ speaks to a database: query through drizzle/with_tenant.ts";
  return null;
}

/** Globals that a folder may not name. */
const globals: Rule = {
  create(context) {
    const file = pathOf(context);
    const { names, instead } = forbiddenGlobals(file);
    const report = (node: Node, name: string) => {
      const folder = file.split("/").slice(0, -1).join("/");
      context.report({ node, message: `${folder}/ may not name ${name}: ${instead}` });
    };
    return {
      Identifier(node) {
        if (node.name !== undefined && names.has(node.name) && !isNoValue(node)) report(node, node.name);
      },
      MemberExpression(node) {
        const name = propertyOf(node);
        if (node.object?.name === "globalThis" && name !== null && names.has(name)) report(node, name);
      },
      ObjectPattern(node) {
        if (sourceOf(node)?.name !== "globalThis") return;
        for (const key of keysOf(node)) if (names.has(key)) report(node, key);
      },
    };
  },
};

const impure = new Set(["fetch", "Date", "process", "crypto", "performance", "globalThis", "global", "self", "eval"]);
const runtimeOwned = new Set(["process", "Buffer", "Deno", "window", "document"]);

function forbiddenGlobals(file: string): { readonly names: ReadonlySet<string>; readonly instead: string } {
  if (file.startsWith("scanner/checks/"))
    return { names: impure, instead: "judge artifacts and their collection time" };
  // The one file that asks whether it runs in a browser's page.
  const isPortable = file.startsWith("shared/") && file !== "shared/client/page_wake.ts";
  return { names: isPortable ? runtimeOwned : new Set(), instead: "take it as an argument" };
}

/** Only mains, config and tests read the environment. */
const environment: Rule = {
  create(context) {
    const file = pathOf(context);
    const isAllowed =
      /(^|\/)(main\w*|config)\.ts$/.test(file) ||
      /^((test|bench|soak|tools|examples\/clients)\/|scanstream\.ts|start\.ts|[\w.]+\.config\.ts)/.test(file);
    if (isAllowed) return {};
    const report = (node: Node) =>
      context.report({ node, message: "only mains and config read the environment: take the value as an argument" });
    return {
      MemberExpression(node) {
        if (propertyOf(node) === "env" && isProcess(node.object)) report(node);
      },
      ObjectPattern(node) {
        if (isProcess(sourceOf(node)) && keysOf(node).some((key) => key === "env" || key === "...")) report(node);
      },
      ImportDeclaration(node) {
        if (!/^(?:node:)?process$/.test(textOf(node.source) ?? "")) return;
        // Under another name it would not be seen any more.
        const isHidden = ({ imported, local }: Node) =>
          imported === undefined ? local?.name !== "process" : ["env", "default"].includes(nameOf(imported) ?? "");
        if (node.specifiers?.some(isHidden) === true) report(node);
      },
      Identifier(node) {
        if (isProcess(node) && !isNoValue(node) && isAliased(node)) report(node);
      },
    };
  },
};

function isProcess(node: Node | null | undefined): boolean {
  if (node === null || node === undefined) return false;
  if (node.type === "MetaProperty" || node.name === "process" || node.name === "Deno") return true;
  const property = propertyOf(node);
  return property === "process" || property === "Deno";
}

/** Given another name, or to somebody else, so that what is read of it cannot be seen here. */
function isAliased(node: Node): boolean {
  const { parent } = node;
  if (parent === undefined || parent.type.startsWith("Import")) return false;
  if (parent.type === "MemberExpression") return parent.object !== node && parent.computed === true;
  const target = parent.type === "VariableDeclarator" ? parent.id : parent.left;
  return target?.type !== "ObjectPattern" && parent.operator !== "typeof";
}

/** Only drizzle/with_tenant.ts opens a transaction, so no query runs without its tenant. */
const transaction: Rule = {
  create(context) {
    const file = pathOf(context);
    const isAllowed = /^(?:drizzle\/(?:with_tenant\.ts|database\.ts|databases\/)|(?:test|bench|soak)\/)/.test(file);
    if (isAllowed) return {};
    const report = (node: Node) =>
      context.report({
        node,
        message: "only drizzle/with_tenant.ts opens a transaction: query through withTenant, asOwner or withPrincipal",
      });
    const named = (node: Node) => {
      if (nameOf(node) === "transact") report(node);
    };
    return {
      // However it is reached: a call, an alias, a pattern, a key in brackets.
      Identifier: named,
      Literal: named,
      TemplateLiteral: named,
      CallExpression(node) {
        if (node.callee !== undefined && propertyOf(node.callee) === "transaction") report(node);
      },
    };
  },
};

/** An identifier's name, or the text of a string. */
function nameOf(node: Node | null | undefined): string | null {
  return node?.type === "Identifier" ? (node.name ?? null) : textOf(node);
}

/** The text of a string or of a template without holes; null for anything else. */
function textOf(node: Node | null | undefined): string | null {
  if (typeof node?.value === "string") return node.value;
  return node?.type === "TemplateLiteral" && node.quasis?.length === 1 ? (node.quasis[0]?.value.cooked ?? null) : null;
}

/** The name of a member, also in brackets; null when it is computed, or the node is no member. */
function propertyOf(node: Node): string | null {
  if (node.type !== "MemberExpression") return null;
  return node.computed === true && node.property?.type === "Identifier" ? null : nameOf(node.property);
}

/** What a pattern takes its values from. */
function sourceOf({ parent }: Node): Node | null {
  const source = (parent?.type === "VariableDeclarator" ? parent.init : parent?.right) ?? null;
  return source?.type.startsWith("TS") === true ? (source.expression ?? null) : source;
}

/** The keys of a pattern; `...` for the rest of them. */
function keysOf(node: Node): readonly string[] {
  return (node.properties ?? []).map(({ key }) => (key === undefined ? "..." : (nameOf(key) ?? "...")));
}

/** A name that stands for no value: of a property, or in a type. */
function isNoValue(node: Node): boolean {
  const { parent } = node;
  if (parent === undefined) return false;
  if (parent.type === "MemberExpression") return parent.property === node && parent.computed !== true;
  if (/^(?:Property|MethodDefinition|PropertyDefinition)$/.test(parent.type))
    return parent.key === node && parent.computed !== true && parent.shorthand !== true;
  return parent.type.startsWith("TS") && parent.expression !== node;
}

function pathOf(context: Context): string {
  return relative(context.cwd, context.filename).split(sep).join("/");
}

function relativeTo(context: Context, source: string): string {
  return relative(context.cwd, join(dirname(context.filename), source))
    .split(sep)
    .join("/");
}

export default { meta: { name: "boundaries" }, rules: { imports, globals, environment, transaction } };
