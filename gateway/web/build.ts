import { readdir, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build, type BuildOptions, type Metafile } from "esbuild";
import packageJson from "../../package.json" with { type: "json" };
import type { CheckText } from "./model/check_catalog.ts";

/**
 * Builds the live page into `dist/web`: `index.html`, and under `assets/` files whose names carry the hash of what is in
 * them, so that a gateway may let browsers keep them indefinitely. Run as `node gateway/web/build.ts`. Resolves with esbuild's
 * description of the page.
 */
export async function buildPage(
  outputFolder = fileURLToPath(new URL("../../dist/web", import.meta.url)),
): Promise<Metafile> {
  // Built next to the old folder and then put in place: a gateway that is running never serves half a page.
  const building = `${outputFolder}.${process.pid}`;
  const assets = join(building, "assets");
  await mkdir(assets, { recursive: true });
  const [page, style, reports, icon, html] = await Promise.all([
    bundle("page.tsx", assets, { splitting: true, define: await readCatalog() }),
    bundle("styles/page.css", assets),
    bundle("../../command_line/report_page.ts", assets, {
      // The formats use no module of Node; files next to them import some.
      plugins: [{ name: "node", setup: (build) => build.onResolve({ filter: /^node:/ }, leaveOut) }],
      inject: [source("report_page_globals.ts")],
      define: { TOOL_VERSION: JSON.stringify(packageJson.version) },
    }),
    readFile(source("icon.svg"), "utf8"),
    readFile(source("index.html"), "utf8"),
  ]);
  const [script = "", ...chunks] = firstFiles(page, "page.tsx");
  const names: Readonly<Record<string, string>> = {
    script,
    style: firstFiles(style, "page.css")[0] ?? "",
    reports: firstFiles(reports, "report_page.ts")[0] ?? "",
  };
  await writeFile(
    join(building, "index.html"),
    html
      .replace(/%(style|script|reports)%/g, (_whole, name: string) => `assets/${names[name] ?? ""}`)
      .replace(/%(icon|fail|warn|off)%/g, (_whole, state: keyof typeof iconColors) =>
        toDataUrl(icon.replace("#1f4fd8", iconColors[state])),
      )
      .replace("%chunks%", chunks.map((name) => `<link rel="modulepreload" href="assets/${name}" />`).join("")),
  );
  const files = (await readdir(assets)).map((name) => join(assets, name));
  await Promise.all([...files, join(building, "index.html")].map(compress));
  await rm(outputFolder, { recursive: true, force: true });
  await rename(building, outputFolder);
  return page;
}

/** As it is sent: the gateway has no CPU to spare for it. */
async function compress(file: string): Promise<void> {
  const text = await readFile(file);
  await writeFile(`${file}.gz`, gzipSync(text, { level: constants.Z_BEST_COMPRESSION }));
  await writeFile(`${file}.br`, brotliCompressSync(text));
}

/** The icon of a tab: as it is, and with the worst state that the page knows. */
const iconColors = { icon: "#1f4fd8", fail: "#b8202f", warn: "#b36b00", off: "#66707d" } as const;

/** Part of the page, because the icon of a gateway that is away cannot be read from it. */
function toDataUrl(svg: string): string {
  const lines = svg.split("\n").map((line) => line.trim());
  return `data:image/svg+xml,${encodeURIComponent(lines.join(""))}`;
}

const leaveOut = ({ path }: { readonly path: string }) => ({ path, external: true, sideEffects: false });

async function bundle(entry: string, outdir: string, options: BuildOptions = {}): Promise<Metafile> {
  const { metafile } = await build({
    // The description names files from here.
    absWorkingDir: source("../../"),
    entryPoints: [source(entry)],
    outdir,
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    bundle: true,
    minify: true,
    format: "esm",
    jsx: "automatic",
    jsxImportSource: "preact",
    // Names the versions of the text in `page.tsx`, which older browsers show.
    target: ["chrome123", "firefox125", "safari17.5"],
    legalComments: "none",
    logLevel: "error",
    ...options,
    metafile: true,
  });
  return metafile;
}

/** The entry's file, and the ones that it cannot begin without. */
function firstFiles({ outputs }: Metafile, entry: string): readonly string[] {
  const found = new Set(Object.keys(outputs).filter((path) => outputs[path]?.entryPoint?.endsWith(entry)));
  for (const path of found) {
    for (const { path: next, kind } of outputs[path]?.imports ?? []) if (kind === "import-statement") found.add(next);
  }
  return [...found].map((path) => basename(path));
}

interface CatalogRule extends Omit<CheckText, "fix"> {
  readonly check: string;
  readonly fix_text: string;
}

const maxFixLength = 150;

/** The scanner's own catalog is read as a file: the page shows what it says, the gateway's code does not know it. */
async function readCatalog(): Promise<Readonly<Record<"CHECK_CATALOG" | "FIX_TEXTS", string>>> {
  const text = await readFile(source("../../scanner/catalog/okta_idaas_stig.json"), "utf8");
  const { rules } = JSON.parse(text) as { readonly rules: readonly CatalogRule[] };
  const texts = rules.map((rule): [string, CheckText] => {
    const { check, title, stig_id, severity, nist_800_53_r5, scopes } = rule;
    const fix = rule.fix_text.replace(/^From the Admin Console:\s*/, "").replaceAll(/\s+/g, " ");
    const shortFix = fix.length <= maxFixLength ? fix : `${fix.slice(0, maxFixLength).trimEnd()}…`;
    return [check, { title, stig_id, severity, nist_800_53_r5, scopes, fix: shortFix }];
  });
  return {
    CHECK_CATALOG: JSON.stringify(Object.fromEntries(texts)),
    FIX_TEXTS: JSON.stringify(
      JSON.stringify(Object.fromEntries(rules.map(({ check, fix_text: fix }) => [check, fix]))),
    ),
  };
}

function source(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}

if (import.meta.main) await buildPage();
