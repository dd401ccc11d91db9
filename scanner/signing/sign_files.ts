import { readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { writeWhole } from "../../command_line/files.ts";
import type { WrittenFiles } from "../reports/write_reports.ts";
import { signStatement } from "./envelope.ts";
import type { Signer } from "./keys.ts";
import { makeStatement, type StatementFacts } from "./statement.ts";

/** The name of the signed statement about files of this name. */
export function statementName(name: string): string {
  return `${name}.intoto.json`;
}

/** `evidence` of `evidence.json`: without its last extension. */
export function stemOf(file: string): string {
  return basename(file).replace(/(?<=.)\.[^.]*$/, "");
}

/**
 * Signs the files of one run, where there is a key: one statement in each folder, called after `name` where it is the folder of the reports, else
 * after the file.
 */
export async function signFiles(
  paths: readonly string[],
  facts: StatementFacts,
  { signer, name }: { readonly signer: Signer | null; readonly name: string | null },
): Promise<WrittenFiles> {
  if (signer === null) return { files: [], problems: [] };
  const files: string[] = [];
  const problems: string[] = [];
  for (const [folder, inFolder] of Map.groupBy(paths, dirname)) {
    const [first = ""] = inFolder;
    const subjects = await Promise.all(
      inFolder.map(async (path) => ({ name: basename(path), content: await readFile(path) })),
    );
    const isOfReports = name !== null && inFolder.some((path) => basename(path).startsWith(`${name}.`));
    const path = join(folder, statementName(isOfReports && name !== null ? name : stemOf(first)));
    const text = signStatement(makeStatement(subjects, facts), signer);
    const problem = await writeWhole({ option: "--output", file: path }, text);
    if (problem === null) files.push(path);
    else problems.push(problem);
  }
  return { files, problems };
}
