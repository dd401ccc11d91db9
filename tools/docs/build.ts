import { cp, mkdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { dirname, join, posix, resolve } from "node:path";
import { parseArgs } from "node:util";
import { contentTypeOf } from "../../gateway/http/web_routes.ts";
import { createStaticFiles } from "../../gateway/runtime/static_files.ts";
import packageJson from "../../package.json" with { type: "json" };
import { type Document, readDocument } from "./document.ts";
import { deadLinks } from "./links.ts";
import { llmsText } from "./llms.ts";
import { navigation, root } from "./navigation.ts";
import { pageName, renderPage, searchEntries } from "./page.ts";

/**
 * Builds the documents as a site of plain files, with a search that runs in the browser. Rejects with every link that leads
 * nowhere. Run as `node tools/docs/build.ts [--serve] [FOLDER]`.
 */
export async function buildDocs(folder: string): Promise<void> {
  const groups = await navigation();
  const documents = await Promise.all(groups.flatMap(({ files }) => files).map(readDocument));
  const problems = await deadLinks(documents, root);
  if (problems.length > 0) throw new Error(`Dead links in the documents:\n${problems.join("\n")}`);
  await rm(folder, { recursive: true, force: true });
  await mkdir(join(folder, "docs"), { recursive: true });
  const byFile = new Map(documents.map((document) => [document.file, document]));
  const site = { groups, byFile, repository: repositoryAddress() };
  const pages = documents.map(async (document) => {
    const file = join(folder, pageName(document.file));
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, renderPage(document, site));
    // For programs that read Markdown, at the addresses of llms.txt.
    await cp(join(root, document.file), join(folder, document.file));
  });
  const search = documents.flatMap(searchEntries);
  await Promise.all([
    ...pages,
    writeFile(join(folder, "search.json"), JSON.stringify(search)),
    writeFile(join(folder, "llms.txt"), await llmsText()),
    ...["style.css", "search.js"].map((name) => cp(join(import.meta.dirname, "site", name), join(folder, name))),
    cp(join(root, "gateway/web/icon.svg"), join(folder, "icon.svg")),
    ...images(documents).map((file) => cp(join(root, file), join(folder, file))),
  ]);
}

function images(documents: readonly Document[]): readonly string[] {
  const links = documents.flatMap(({ file, links: inside }) =>
    inside.map((link) => posix.join(posix.dirname(file), link)),
  );
  return [...new Set(links.filter((link) => /\.(?:png|svg)$/.test(link) && !link.includes(":")))];
}

/** Null while `package.json` has a placeholder: then source files are named, and not linked. */
function repositoryAddress(): string | null {
  const address = packageJson.repository.url.replace(/^git\+/, "").replace(/\.git$/, "");
  return new URL(address).hostname.endsWith(".invalid") ? null : address;
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({ options: { serve: { type: "boolean" } }, allowPositionals: true });
  const folder = resolve(positionals[0] ?? join(root, "site"));
  await buildDocs(folder);
  process.stdout.write(`${folder}\n`);
  if (values.serve === true) {
    const files = createStaticFiles(folder);
    createServer((request, response) => {
      const { pathname } = new URL(request.url ?? "/", "http://localhost");
      void files.read(pathname === "/" ? "index.html" : pathname.slice(1)).then((file) => {
        response.writeHead(file === null ? 404 : 200, {
          "content-type": contentTypeOf(pathname) ?? "text/html; charset=utf-8",
        });
        response.end(file ?? "Not found\n");
      });
    }).listen(4173, "127.0.0.1", () => process.stdout.write("http://127.0.0.1:4173/\n"));
  }
}
