import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Metafile } from "esbuild";

interface PackageJson {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly author?: string | { readonly name: string };
}

/** The licences and notices of every package of which something is in the bundles, as their licences ask. */
export async function thirdPartyLicenses(root: string, bundles: readonly Metafile[]): Promise<string> {
  const notices = await Promise.all([...packageFolders(bundles)].map((folder) => noticeOf(join(root, folder))));
  return notices.toSorted().join(`\n${"-".repeat(80)}\n\n`);
}

function packageFolders(bundles: readonly Metafile[]): ReadonlySet<string> {
  const files = bundles.flatMap(({ outputs }) =>
    Object.values(outputs).flatMap(({ inputs }) =>
      Object.entries(inputs).flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? [file] : [])),
    ),
  );
  return new Set(files.flatMap((file) => /^.*\bnode_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0] ?? []));
}

async function noticeOf(folder: string): Promise<string> {
  const { name, version, license, author } = JSON.parse(
    await readFile(join(folder, "package.json"), "utf8"),
  ) as PackageJson;
  const files = (await readdir(folder)).filter((file) => /^(?:licen[cs]e|notice|copying)/i.test(file)).toSorted();
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), "utf8")));
  const by = typeof author === "string" ? author : (author?.name ?? "its authors");
  const text =
    texts.length === 0
      ? `Copyright ${by}\nThis package holds no copy of its licence; the same text stands with other packages in this file.`
      : texts.map((each) => each.trim()).join("\n\n");
  return `${name} ${version} (${license ?? "see below"})\n\n${text}\n`;
}
