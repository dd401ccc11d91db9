import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { root } from "./built_package.ts";

export function documentText(file: string): Promise<string> {
  return readFile(join(root, file), "utf8");
}

/** The first fenced block of a language after a text. */
export function fencedAfter(page: string, before: string, language: string): string {
  const rest = page.slice(page.indexOf(before));
  return new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, "ms").exec(rest)?.[1] ?? "";
}
