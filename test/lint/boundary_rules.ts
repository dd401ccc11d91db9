/**
 * The dependency rules of ARCHITECTURE.md as lint rules. oxlint loads this file as a plugin; `boundary_rules.test.ts`
 * proves each rule by a file that must fail.
 */
import { dirname, join, relative, sep } from "node:path";

interface Node {
  readonly type: string;
  readonly parent?: Node;
  readonly name?: string;
  readonly source?: { readonly value: unknown } | null;
  readonly object?: Node;
  readonly property?: Node;
  readonly callee?: Node;
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
      const source = node.source?.value;
      if (typeof source !== "string") return;
      const problem = source.startsWith(".")
        ? forbiddenOwnImport(file, relativeTo(context, source))
        : forbiddenPackage(file, source);
      if (problem !== null) context.report({ node, message: problem });
    };
    return {
      ImportDeclaration: check,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check,
      ImportExpression: check,
    };
  },
};

function forbiddenOwnImport(file: string, target: string): string | null {
  if (file.startsWith("shared/") && !target.startsWith("shared/"))
    return "shared/ imports nothing of ours outside shared/";
  if (file.startsWith("scanner/") && target.startsWith("gateway/")) return "scanner/ never imports gateway/";
  if (file.startsWith("gateway/") && target.startsWith("scanner/")) return "gateway/ never imports scanner/";
  if (file.startsWith("drizzle/") && !/^(drizzle|shared)\//.test(target)) return "drizzle/ imports only shared/";
  if (file.startsWith("scanner/checks/") && !/^(scanner\/(checks\/|artifacts\.ts|check\.ts)|shared\/)/.test(target)) {
    return "a check sees only artifacts.ts, check.ts and shared/";
  }
  if (!file.startsWith("test/") && target.startsWith("test/")) return "product code never imports test/";
  return null;
}

function forbiddenPackage(file: string, source: string): string | null {
  const isNode = source.startsWith("node:");
  if (isNode && file.startsWith("shared/")) return "shared/ runs on every runtime: no node: import";
  if (isNode && file.startsWith("scanner/checks/")) return "a check is a pure function of artifacts: no node: import";
  return null;
}

/** Globals that a folder may not name. */
const globals: Rule = {
  create(context) {
    const file = pathOf(context);
    const forbidden = forbiddenGlobals(file);
    return {
      Identifier(node) {
        if (node.name === undefined || !forbidden.has(node.name) || isPropertyName(node)) return;
        context.report({ node, message: `${file.split("/").slice(0, -1).join("/")}/ may not name ${node.name}` });
      },
    };
  },
};

const impure = new Set(["fetch", "Date", "process", "crypto"]);
const runtimeOwned = new Set(["process", "Buffer", "Deno", "window", "document"]);

function forbiddenGlobals(file: string): ReadonlySet<string> {
  if (file.startsWith("scanner/checks/")) return impure;
  if (file.startsWith("shared/")) return runtimeOwned;
  return new Set();
}

function isPropertyName(node: Node): boolean {
  const parent = node.parent;
  if (parent === undefined) return false;
  if (parent.type === "MemberExpression") return parent.property === node;
  return parent.type === "Property" || parent.type.startsWith("TS");
}

/** Only mains, config and tests read the environment. */
const environment: Rule = {
  create(context) {
    const file = pathOf(context);
    const isAllowed =
      /(^|\/)(main\w*|config)\.ts$/.test(file) || /^(test\/|scanstream\.ts|start\.ts|[\w.]+\.config\.ts)/.test(file);
    return {
      MemberExpression(node) {
        if (isAllowed || node.property?.name !== "env") return;
        if (node.object?.name === "process" || node.object?.name === "Deno") {
          context.report({ node, message: "only mains and config read the environment" });
        }
      },
    };
  },
};

/** Only drizzle/with_tenant.ts opens a transaction, so no query runs without its tenant. */
const transaction: Rule = {
  create(context) {
    const file = pathOf(context);
    const isAllowed =
      file === "drizzle/with_tenant.ts" || file.startsWith("drizzle/databases/") || file.startsWith("test/");
    return {
      CallExpression(node) {
        if (isAllowed || node.callee?.type !== "MemberExpression" || node.callee.property?.name !== "transaction")
          return;
        context.report({ node, message: "only drizzle/with_tenant.ts opens a transaction" });
      },
    };
  },
};

function pathOf(context: Context): string {
  return relative(context.cwd, context.filename).split(sep).join("/");
}

function relativeTo(context: Context, source: string): string {
  return relative(context.cwd, join(dirname(context.filename), source))
    .split(sep)
    .join("/");
}

export default { meta: { name: "boundaries" }, rules: { imports, globals, environment, transaction } };
