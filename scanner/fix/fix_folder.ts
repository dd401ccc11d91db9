import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { hasCode } from "../../shared/error_code.ts";
import { isJsonObject } from "../../shared/json.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { digestOf, isAsWritten, marker, type EarlierRun } from "./fix_files.ts";

/** What is in the folder of a plan before it is written. */
export interface FixFolder extends EarlierRun {
  /** The organization that an earlier plan there is for; null if it has none. */
  readonly orgUrl: string | null;
  /** Terraform files of somebody else. */
  readonly others: readonly string[];
}

export const fixFileNames = ["main.tf", "variables.tf", "terraform.tfvars.example", "plan.md"] as const;

/**
 * Reads what an earlier run left, and the local Terraform state. Throws `UsageError` for a file that `fix` did
 * not write, or that was edited since: it is never overwritten.
 */
export async function readFixFolder(directory: string): Promise<FixFolder> {
  const option = `--output ${JSON.stringify(directory)}`;
  const problems: string[] = [];
  const texts = new Map<string, string>();
  for (const name of fixFileNames) {
    const text = await readIfThere(join(directory, name));
    if (text === null) continue;
    texts.set(name, text);
    if (!text.slice(0, 500).includes(marker)) {
      problems.push(`${option}: ${name} was not written by scanstream fix: expected another directory`);
    } else if (!isAsWritten(text)) {
      problems.push(
        `${option}: ${name} was edited after scanstream fix wrote it, and the edits would be lost: expected another directory, ` +
          "or the file moved away",
      );
    }
  }
  const main = texts.get("main.tf") ?? "";
  for (const [, name = "", digest] of main.matchAll(/^# (pages\/\w+\.html) (sha256:[0-9a-f]{64})$/gm)) {
    const page = await readIfThere(join(directory, name));
    if (page !== null && digestOf(page) !== digest) {
      problems.push(
        `${option}: ${name} was edited after scanstream fix wrote it, and the edits would be lost: expected another directory, ` +
          "or the file moved away",
      );
    }
  }
  const entries = await namesIn(directory);
  const others = entries.filter((name) => /\.tf(?:\.json)?$/.test(name) && !isFixFile(name));
  const declared = new Set<string>();
  for (const name of others) {
    for (const address of addressesIn((await readIfThere(join(directory, name))) ?? "")) declared.add(address);
  }
  const inState = new Set<string>();
  for (const path of await statesIn(directory)) {
    const addresses = readState((await readIfThere(path)) ?? "");
    if (addresses === null) {
      problems.push(
        `${option}: ${path} is not a readable Terraform state, so fix cannot tell what a new plan would destroy: ` +
          "expected another directory",
      );
    } else for (const address of addresses) inState.add(address);
  }
  if (problems.length > 0) throw new UsageError(problems);
  const addresses = [...new Set([...addressesIn(main), ...inState])].filter((address) => !declared.has(address));
  return {
    addresses: addresses.sort(),
    scopes: [...(/^[ \t]*scopes[ \t]*= \[(.*)\]$/m.exec(main)?.[1] ?? "").matchAll(/"([\w.]+)"/g)].map(
      ([, scope = ""]) => scope,
    ),
    orgUrl: /Written by scanstream fix for (\S+), from evidence/.exec(main)?.[1] ?? null,
    others,
  };
}

/** The resources that a file makes, and the resources that Terraform should forget. */
function addressesIn(text: string): readonly string[] {
  const made = [...text.matchAll(/^[ \t]*resource[ \t]+"(\w+)"[ \t]+"([\w-]+)"/gm)].map(
    ([, type = "", name = ""]) => `${type}.${name}`,
  );
  const forgotten = [...text.matchAll(/^[ \t]*from[ \t]*=[ \t]*(\w+\.[\w-]+)[ \t]*$/gm)].map(
    ([, address = ""]) => address,
  );
  return [...made, ...forgotten];
}

/** The provider's resources of the root module; null for a text that is no state. */
function readState(text: string): readonly string[] | null {
  if (text.trim() === "") return [];
  let state: unknown;
  try {
    state = JSON.parse(text);
  } catch {
    return null;
  }
  const resources: unknown = isJsonObject(state) ? (state["resources"] ?? []) : null;
  if (!Array.isArray(resources)) return null;
  return resources.filter(isJsonObject).flatMap(({ mode, type, name, module }) => {
    const isOurs = mode === "managed" && module === undefined && String(type).startsWith("okta_");
    return isOurs ? [`${String(type)}.${String(name)}`] : [];
  });
}

async function statesIn(directory: string): Promise<readonly string[]> {
  const workspaces = join(directory, "terraform.tfstate.d");
  const folders = [directory, ...(await namesIn(workspaces)).map((name) => join(workspaces, name))];
  return folders.map((folder) => join(folder, "terraform.tfstate"));
}

function isFixFile(name: string): boolean {
  return fixFileNames.some((known) => known === name);
}

/** Empty for a folder that is not there; what cannot be listed is for the check of what can be written. */
async function namesIn(directory: string): Promise<readonly string[]> {
  return (await readdir(directory).catch(() => [])).toSorted((one, other) => (one < other ? -1 : 1));
}

async function readIfThere(path: string): Promise<string | null> {
  return readFile(path, "utf8").catch((error: unknown) => {
    if (hasCode(error, "ENOENT", "ENOTDIR", "EISDIR")) return null;
    throw new UsageError([`Cannot read ${JSON.stringify(path)}: expected a file that can be read`]);
  });
}
