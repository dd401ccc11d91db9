import { createHash } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build, type BuildOptions } from "esbuild";
import type { CheckText } from "./model/check_catalog.ts";

/**
 * Builds the live page into `dist/web`: `index.html`, and under `assets/` files whose names carry the hash of what is in
 * them, so that a gateway may let browsers keep them indefinitely. Run as `node gateway/web/build.ts`.
 */
export async function buildPage(
  outputFolder = fileURLToPath(new URL("../../dist/web", import.meta.url)),
): Promise<void> {
  const [script, style, reports, icon, html] = await Promise.all([
    bundle("page.tsx"),
    bundle("styles/page.css"),
    bundle("../../command_line/report_page.ts", {
      // What else of Node is imported besides the formats is not used by them.
      plugins: [{ name: "node", setup: (build) => build.onResolve({ filter: /^node:/ }, leaveOut) }],
      inject: [source("report_page_globals.ts")],
      define: { TOOL_VERSION: JSON.stringify(await readVersion()) },
    }),
    readFile(source("icon.svg"), "utf8"),
    readFile(source("index.html"), "utf8"),
  ]);
  const assets: Readonly<Record<string, Asset>> = {
    script: { name: hashedName("page.js", script), text: script },
    style: { name: hashedName("style.css", style), text: style },
    reports: { name: hashedName("reports.js", reports), text: reports },
  };
  const page = html
    .replace(/%(style|script|reports)%/g, (_whole, name: string) => `assets/${assets[name]?.name ?? ""}`)
    .replace(/%(icon|fail|warn|off)%/g, (_whole, state: keyof typeof iconColors) =>
      toDataUrl(icon.replace("#1f4fd8", iconColors[state])),
    );

  // Built next to the old file and then put in place: a gateway that is running never serves half a page.
  const building = `${outputFolder}.${process.pid}`;
  await mkdir(join(building, "assets"), { recursive: true });
  for (const { name, text } of Object.values(assets)) await writeCompressed(join(building, "assets", name), text);
  await writeCompressed(join(building, "index.html"), page);
  await rm(outputFolder, { recursive: true, force: true });
  await rename(building, outputFolder);
}

/** As it is, and as it is sent: the gateway has no CPU to spare for it. */
async function writeCompressed(file: string, text: string): Promise<void> {
  await writeFile(file, text);
  await writeFile(`${file}.gz`, gzipSync(text, { level: constants.Z_BEST_COMPRESSION }));
  await writeFile(`${file}.br`, brotliCompressSync(text));
}

interface Asset {
  readonly name: string;
  readonly text: string;
}

/** The icon of a tab: as it is, and with the worst state that the page knows. */
const iconColors = { icon: "#1f4fd8", fail: "#b8202f", warn: "#b36b00", off: "#66707d" } as const;

/** Part of the page, because the icon of a gateway that is away cannot be read from it. */
function toDataUrl(svg: string): string {
  const lines = svg.split("\n").map((line) => line.trim());
  return `data:image/svg+xml,${encodeURIComponent(lines.join(""))}`;
}

const leaveOut = ({ path }: { readonly path: string }) => ({ path, external: true, sideEffects: false });

async function bundle(entry: string, options: BuildOptions = {}): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [source(entry)],
    bundle: true,
    minify: true,
    format: "esm",
    jsx: "automatic",
    jsxImportSource: "preact",
    // What has `light-dark()`.
    target: ["chrome123", "firefox120", "safari17.5"],
    legalComments: "none",
    logLevel: "error",
    define: { CHECK_CATALOG: JSON.stringify(await readCatalog()) },
    ...options,
    write: false,
  });
  const [file] = outputFiles;
  if (file === undefined) throw new Error(`Cannot build the page: esbuild made nothing of ${JSON.stringify(entry)}`);
  return file.text;
}

/** Names the tool in a report. */
async function readVersion(): Promise<string> {
  const text = await readFile(source("../../package.json"), "utf8");
  return (JSON.parse(text) as { readonly version: string }).version;
}

interface CatalogRule {
  readonly check: string;
  readonly title: string;
  readonly stig_id: string;
  readonly vuln_id: string;
  readonly nist_800_53_r5: readonly string[];
  readonly scopes: readonly string[];
  readonly severity: CheckText["severity"];
  readonly fix_text: string;
}

/** The scanner's own catalog is read as a file: the page shows what it says, the gateway's code does not know it. */
async function readCatalog(): Promise<Readonly<Record<string, CheckText>>> {
  const path = fileURLToPath(new URL("../../scanner/catalog/okta_idaas_stig.json", import.meta.url));
  const { rules } = JSON.parse(await readFile(path, "utf8")) as { readonly rules: readonly CatalogRule[] };
  return Object.fromEntries(
    rules.map(
      ({
        check,
        title,
        stig_id: stigId,
        vuln_id: vulnId,
        severity,
        fix_text: fix,
        scopes,
        nist_800_53_r5: controls,
      }) => [check, { title, stigId, vulnId, severity, fix, scopes, controls }],
    ),
  );
}

function hashedName(name: string, text: string): string {
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 10);
  const extension = extname(name);
  return `${basename(name, extension)}-${hash}${extension}`;
}

function source(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}

if (import.meta.main) await buildPage();
