import { stat } from "node:fs/promises";
import { join } from "node:path";
import { type Document, targetOf } from "./document.ts";

/** Links that lead nowhere, each as one sentence: a file that does not exist in `folder`, or a heading that its document lacks. */
export async function deadLinks(documents: readonly Document[], folder: string): Promise<readonly string[]> {
  const known = new Map(documents.map((document) => [document.file, document]));
  const problems = documents.flatMap(({ file, links }) =>
    links.map(async (link) => {
      const target = targetOf(file, link);
      if (target.file === null) return [];
      if (target.file.startsWith("../")) return [`${file}: ${link} leads out of the repository`];
      const exists = await stat(join(folder, target.file)).catch(() => null);
      if (exists === null) return [`${file}: ${link} leads to ${target.file}, which does not exist`];
      if (target.anchor === "") return [];
      const headings = known.get(target.file)?.headings ?? [];
      const found = headings.some(({ anchor }) => anchor === target.anchor);
      return found ? [] : [`${file}: ${link} names the heading #${target.anchor}, which ${target.file} does not have`];
    }),
  );
  return (await Promise.all(problems)).flat();
}
