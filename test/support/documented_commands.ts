import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");

export interface DocumentedLine {
  readonly file: string;
  readonly text: string;
}

/** The lines of the shell examples in the documents, without comments; a line that goes on is one. */
export async function documentedLines(): Promise<readonly DocumentedLine[]> {
  const docs = (await readdir(join(root, "docs"))).filter((file) => file.endsWith(".md")).map((file) => `docs/${file}`);
  const top = (await readdir(root)).filter((file) => file.endsWith(".md") && file !== "CHANGELOG.md");
  const lines = [...docs, ...top].map(async (file) => {
    const fences = [...(await documentText(file)).matchAll(/^```sh\n(.*?)^```$/gms)];
    return fences
      .flatMap(([, body = ""]) => body.replaceAll("\\\n", " ").split("\n"))
      .map((line) => ({ file, text: line.replace(/(?:^|\s)#.*$/, "").trim() }))
      .filter((line) => line.text !== "");
  });
  return (await Promise.all(lines)).flat();
}

export function documentText(file: string): Promise<string> {
  return readFile(join(root, file), "utf8");
}

/** The first fenced block of a language after a text. */
export function fencedAfter(page: string, before: string, language: string): string {
  const rest = page.slice(page.indexOf(before));
  return new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, "ms").exec(rest)?.[1] ?? "";
}
