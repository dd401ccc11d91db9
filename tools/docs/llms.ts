import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { readDocument } from "./document.ts";
import { navigation, root } from "./navigation.ts";

/** `llms.txt` (llmstxt.org): what a program that reads documents should know of these, generated from them. */
export async function llmsText(): Promise<string> {
  const groups = await Promise.all(
    (await navigation()).map(async ({ title, files }) => {
      const documents = await Promise.all(files.map(readDocument));
      const lines = documents.map(({ file, title: name, summary }) => `- [${name}](${file}): ${summary}`);
      return `## ${title}\n\n${lines.join("\n")}\n`;
    }),
  );
  return [`# ${packageJson.name}\n`, `> ${packageJson.description}\n`, ...groups].join("\n");
}

if (import.meta.main) await writeFile(join(root, "llms.txt"), await llmsText());
