import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { newCheck } from "./new_check.ts";
import { newFeature } from "./new_feature.ts";
import { newFormat } from "./new_format.ts";
import type { Edit, Start } from "./start.ts";

/**
 * `npm run new -- check|format|feature NAME …`: writes a start that types, lint and tests accept, and says what to do next. A file that
 * exists is never overwritten.
 */
const root = dirname(import.meta.dirname);
const formatter = ["node_modules/oxfmt/bin/oxfmt"];
const kinds = { check: newCheck, format: newFormat, feature: newFeature };
const usage = "npm run new -- check NAME V-NUMBER | format NAME | feature NAME";

const [kind = "", name = "", ...more] = process.argv.slice(2);
try {
  if (!isKind(kind)) throw new RangeError(`${JSON.stringify(kind)} is nothing that can be made: expected ${usage}`);
  if (!/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(name)) {
    throw new RangeError(`${JSON.stringify(name)} is not a name: expected snake_case, as in ${usage}`);
  }
  write(kinds[kind](name, more));
} catch (error) {
  if (!(error instanceof RangeError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}

function isKind(text: string): text is keyof typeof kinds {
  return Object.hasOwn(kinds, text);
}

function write({ files, edits, migration, commands, derived = [], next }: Start): void {
  for (const path of Object.keys(files)) {
    if (existsSync(join(root, path))) throw new RangeError(`${path} exists: choose another name, or remove it first`);
  }
  const edited = new Map<string, string>();
  for (const edit of edits)
    edited.set(edit.path, applied(edit, edited.get(edit.path) ?? readFileSync(join(root, edit.path), "utf8")));
  for (const [path, text] of [...Object.entries(files), ...edited]) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const written = [...Object.keys(files), ...edited.keys()];
  const code = written.filter((path) => path.endsWith(".ts"));
  run([...formatter, ...code]);
  if (migration !== undefined) written.push(...migrate(migration));
  for (const args of commands) run(args);
  const lines = ["Written:", ...written.map((path) => `  ${path}`), "Next:", ...next.map((step) => `  ${step}`)];
  const made = written.filter((path) => !edited.has(path));
  lines.push("To undo it, with what you changed in these files:");
  lines.push(
    `  git restore ${[...edited.keys(), ...derived, ...(migration === undefined ? [] : ["drizzle/migrations/meta/_journal.json"])].join(" ")} && rm ${made.join(" ")}`,
  );
  process.stdout.write(`${lines.join("\n")}\n`);
}

function applied({ path, text, before, from }: Edit, source: string): string {
  const start = from === undefined ? 0 : source.indexOf(from);
  const place = start < 0 ? -1 : source.indexOf(before, start);
  if (place < 0)
    throw new RangeError(`${path} has changed: found no place for ${JSON.stringify(text)}; add it by hand`);
  return source.slice(0, place) + text + source.slice(place);
}

function run(args: readonly string[]): void {
  execFileSync(process.execPath, args, { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
}

/** The paths of the new migration and of its snapshot. */
function migrate({ name, sql }: NonNullable<Start["migration"]>): readonly string[] {
  run(["node_modules/drizzle-kit/bin.cjs", "generate", "--config", "drizzle/drizzle.config.ts", "--name", name]);
  const journal = JSON.parse(readFileSync(join(root, "drizzle/migrations/meta/_journal.json"), "utf8")) as {
    readonly entries: readonly { readonly tag: string }[];
  };
  const tag = journal.entries.at(-1)?.tag ?? "";
  const path = `drizzle/migrations/${tag}.sql`;
  appendFileSync(join(root, path), `--> statement-breakpoint\n${sql}`);
  return [path, `drizzle/migrations/meta/${tag.slice(0, 4)}_snapshot.json`];
}
