import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");
let folder: string;
/** What each file was told, by its path. */
let found: Map<string, readonly string[]>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "boundary-rules-"));
  await cp(join(root, ".oxlintrc.json"), join(folder, ".oxlintrc.json"));
  await mkdir(join(folder, "test/lint"), { recursive: true });
  await cp(join(root, "test/lint/boundary_rules.ts"), join(folder, "test/lint/boundary_rules.ts"));
  for (const [file, source] of [...mustFail, ...mustPass]) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), source);
  }
  found = await lintAll();
});

afterAll(() => rm(folder, { recursive: true, force: true }));

const needsEnvironment = "only mains and config read the environment: take";
const needsTenant = "only drizzle/with_tenant.ts opens a transaction: query through";

const mustFail: readonly (readonly [file: string, source: string, message: string])[] = [
  ["shared/a.ts", `import "../gateway/app.ts";`, "shared/ imports nothing of ours outside shared/: take"],
  ["shared/b.ts", `import "node:fs/promises";`, "no node: import: take"],
  ["shared/b2.ts", `import "fs/promises";`, "no node: import: take"],
  ["shared/c.ts", `export const a = Buffer.from("");`, "may not name Buffer: take"],
  ["shared/c2.ts", `export const a = globalThis.Buffer.from("");`, "may not name Buffer"],
  ["shared/c3.ts", `export const a = globalThis["process"];`, "may not name process"],
  ["shared/c4.ts", `export const { document } = globalThis;`, "may not name document"],
  ["shared/c5.ts", `export const a = { Deno };`, "may not name Deno"],
  ["shared/c6.ts", `export const a = process as unknown;`, "may not name process"],
  ["shared/c7.ts", `export const a = (map: any) => map[process];`, "may not name process"],
  ["shared/c8.ts", `export const a = { now: process };`, "may not name process"],
  ["scanner/a.ts", `export * from "../gateway/app.ts";`, "scanner/ never imports gateway/ nor practice_org/: put"],
  ["scanner/a2.ts", `export type A = import("../gateway/app.ts").A;`, "scanner/ never imports gateway/ nor"],
  [
    "scanner/a3.ts",
    `import type { A } from "../gateway/app.ts";\nexport type B = A;`,
    "scanner/ never imports gateway/ nor practice_org/",
  ],
  [
    "gateway_commands/a.ts",
    `import "../scanner/streaming/stream_config.ts";`,
    "gateway_commands/ are clients of a gateway's API: they",
  ],
  ["gateway_commands/a2.ts", `import "../gateway/app.ts";`, "gateway_commands/ are clients of a gateway's API"],
  ["scanner/a4.ts", `import "../gateway_commands/commands.ts";`, "scanner/ never imports gateway/"],
  ["gateway/a.ts", `void import("../scanner/main.ts");`, "gateway/ never imports scanner/: put"],
  ["gateway/a2.ts", "void import(`../scanner/main.ts`);", "gateway/ never imports scanner/"],
  ["gateway/a3.ts", "export const a = (path: string) => import(path);", "is named as text: write"],
  ["gateway/a4.ts", `import "scanstream/report";`, "by its relative path: write"],
  ["gateway/a5.ts", `import "/scanner/main.ts";`, "by its relative path"],
  ["drizzle/a.ts", `import "../gateway/app.ts";`, "drizzle/ imports only shared/: take"],
  ["gateway/b.ts", `import "../test/support/x.ts";`, "product code never imports test/: move"],
  [
    "scanner/checks/a.ts",
    `import "../okta/idp_client.ts";`,
    "a check sees only artifacts.ts, check.ts and shared/: have",
  ],
  ["scanner/checks/b.ts", `import "node:crypto";`, "no node: import: have"],
  ["scanner/checks/b2.ts", `import "crypto";`, "no node: import"],
  ["scanner/checks/c.ts", `export const now = () => new Date();`, "may not name Date: judge"],
  ["scanner/checks/d.ts", `export const a = () => fetch("https://example.com");`, "may not name fetch"],
  ["scanner/checks/e.ts", `export const a = () => crypto.randomUUID();`, "may not name crypto"],
  ["scanner/checks/f.ts", `export const a = globalThis;`, "may not name globalThis"],
  ["scanner/checks/g.ts", `export const a = { fetch };`, "may not name fetch"],
  ["gateway/c.ts", `export const port = process.env["PORT"];`, needsEnvironment],
  ["gateway/c2.ts", `export const port = process["env"];`, needsEnvironment],
  ["gateway/c3.ts", `export const { env } = process;`, needsEnvironment],
  ["gateway/c4.ts", `export const { env: variables } = globalThis.process;`, needsEnvironment],
  ["gateway/c5.ts", `import { env } from "node:process";\nexport const a = env;`, needsEnvironment],
  ["gateway/c6.ts", `import here from "node:process";\nexport const a = here;`, needsEnvironment],
  ["gateway/c7.ts", `const here = process;\nexport const a = here;`, needsEnvironment],
  ["gateway/c8.ts", `export const port = Deno?.env.get("PORT");`, needsEnvironment],
  ["gateway/c9.ts", `export const a = (process as any).env;`, needsEnvironment],
  ["gateway/c10.ts", `export const a = import.meta.env;`, needsEnvironment],
  ["gateway/c11.ts", `export const { ...all } = process;`, needsEnvironment],
  ["gateway/d.ts", `export const f = (db: any) => db.transaction(() => 1);`, needsTenant],
  ["gateway/d2.ts", `export const f = (db: any) => db["transaction"](() => 1);`, needsTenant],
  ["gateway/d3.ts", `export const f = (db: any) => db.transact([]);`, needsTenant],
  ["gateway/d4.ts", `export const f = (db: any) => db["transact"]([]);`, needsTenant],
  ["gateway/d5.ts", `export const f = (db: any) => db?.transact?.([]);`, needsTenant],
  ["gateway/d6.ts", `export const f = ({ transact }: any) => transact([]);`, needsTenant],
  ["gateway/d7.ts", `export const f = ({ transact: send }: any) => send([]);`, needsTenant],
  ["gateway/d8.ts", `export const f = (db: any) => {\n  const send = db.transact;\n  return send;\n};`, needsTenant],
  ["gateway/d9.ts", "export const f = (db: any) => db[`transact`]([]);", needsTenant],
  ["gateway/d10.ts", `export const f = (db: any) => Reflect.get(db, "transact");`, needsTenant],
  ["drizzle/d.ts", `export const f = (db: any) => db.transact([]);`, needsTenant],
  ["gateway/e.ts", `import "pg";`, "only drizzle/ speaks to a database: query"],
  ["gateway/e2.ts", `import "drizzle-orm/pglite";`, "only drizzle/ speaks to a database"],
  ["gateway/streaming/f.ts", `import "../http/body.ts";`, "gateway/http/ stands above gateway/streaming/: take"],
  ["gateway/auth/f.ts", `import type { A } from "../streaming/a.ts";`, "gateway/streaming/ stands above gateway/auth/"],
  ["gateway/http/f.ts", `export * from "../features/scans/scan.ts";`, "gateway/features/ stands above gateway/http/"],
  ["gateway/features/f.ts", `void import("../runtime/a.ts");`, "gateway/runtime/ stands above gateway/features/"],
  ["scanner/okta/f.ts", `import "../evidence/collect.ts";`, "scanner/evidence/ stands above scanner/okta/"],
  ["scanner/reports/f.ts", `import "../streaming/outbox.ts";`, "scanner/streaming/ stands beside scanner/reports/"],
  ["scanner/f.ts", `import "../practice_org/a.ts";`, "scanner/ never imports gateway/ nor practice_org/"],
  ["practice_org/f.ts", `import "../scanner/run_scan.ts";`, "practice_org/ is a program of its own"],
  ["command_line/f.ts", `import "../scanner/run_scan.ts";`, "command_line/ imports only shared/: take"],
  ["practice_org/one/a.ts", `import "../two/a.ts";`, "practice_org/two/ imports practice_org/one/ too: move"],
  [
    "practice_org/two/a.ts",
    `export { b } from "../one/b.ts";`,
    "practice_org/one/ imports practice_org/two/ too: move",
  ],
  ["gateway/g.ts", `import type { B } from "./g2.ts";\nexport type A = B;`, "Dependency cycle"],
  ["gateway/g2.ts", `import type { A } from "./g.ts";\nexport type B = A;`, "Dependency cycle"],
  ["scanner/e.ts", `import "@electric-sql/pglite";`, "only drizzle/ speaks to a database"],
];

test.each(mustFail)("%s must fail: %s", (file, _source, message) => {
  expect(found.get(file)?.join("\n")).toContain(message);
});

const mustPass: readonly (readonly [file: string, source: string])[] = [
  ["shared/ok.ts", `export { a } from "./other.ts";`],
  [
    "shared/ok2.ts",
    `export const a = (fetch = globalThis.fetch) => fetch;\nexport interface B {\n  document: string;\n}`,
  ],
  ["scanner/checks/ok.ts", `export { worstStatus } from "../../shared/report.ts";`],
  ["scanner/checks/ok2.ts", `export const a = (policy: any) => ({ process: policy.process, Date: 1 });`],
  ["gateway/config.ts", `export const port = process.env["PORT"];`],
  ["gateway/main_x.ts", `const { env } = process;\nexport const a = env;`],
  ["gateway/ok.ts", `export const a = process.platform;\nexport const b = (io: any) => io.env;`],
  [
    "gateway/ok2.ts",
    `import process from "node:process";\nexport const a = typeof process === "object" && process.pid;`,
  ],
  ["gateway/ok3.ts", `export { pgTable } from "drizzle-orm/pg-core";\nexport { sql } from "drizzle-orm";`],
  ["gateway/http/ok.ts", `import "../auth/principal.ts";\nimport "./body.ts";`],
  ["scanner/okta/ok.ts", `import type { JsonObject } from "../evidence/artifacts.ts";\nexport type A = JsonObject;`],
  ["practice_org/one/ok.ts", `import "../ok.ts";\nimport "./inner/ok.ts";`],
  ["practice_org/one/inner/ok.ts", `import "../b.ts";`],
  ["gateway/ok4.ts", `export const a = (event: any) => event.transaction.id;`],
  ["drizzle/with_tenant.ts", `export const f = (db: any) => [db.transaction(), db.transact([])];`],
  ["drizzle/databases/ok.ts", `import "pg";\nexport const a = { transact: async () => {} };`],
  ["test/ok.ts", `import "../gateway/app.ts";\nexport const f = (db: any) => db.transact([]);`],
];

test.each(mustPass)("%s passes", (file) => {
  expect(found.get(file)).toBeUndefined();
});

/** Only what these rules say: the files are no good code otherwise. */
async function lintAll(): Promise<Map<string, readonly string[]>> {
  const oxlint = join(root, "node_modules/oxlint/bin/oxlint");
  const result = await run(process.execPath, [oxlint, "--format", "json", "."], { cwd: folder }).catch(
    (error: { stdout: string }) => error,
  );
  const { diagnostics } = JSON.parse(result.stdout) as {
    diagnostics: readonly { readonly code: string; readonly filename: string; readonly message: string }[];
  };
  const ours = diagnostics.filter(({ code }) => code.startsWith("boundaries") || code.includes("no-cycle"));
  const byFile = Map.groupBy(ours, ({ filename }) => filename);
  return new Map(Array.from(byFile, ([file, problems]) => [file, problems.map(({ message }) => message)]));
}
