import { readFile, writeFile } from "node:fs/promises";
import { catalog } from "../scanner/catalog/catalog.ts";
import { controlsOf } from "../scanner/catalog/controls.ts";

/** What of FedRAMP's consolidated rules is read: `ksi` of a file made from github.com/FedRAMP/rules. */
export interface FedrampRules {
  readonly source: string;
  readonly version: string;
  readonly ksi: Readonly<Record<string, { readonly name: string; readonly controls: readonly string[] }>>;
}

/** The indicators that a rule of the STIG touches, with the controls through which it does. */
export function ksiMapping({ source, version, ksi }: FedrampRules) {
  const named = new Set(catalog.flatMap(({ rule }) => controlsOf(rule).map(({ id }) => id)));
  const indicators = Object.entries(ksi).flatMap(([id, { name, controls }]) => {
    const touched = controls.filter((control) => named.has(control)).sort();
    return touched.length === 0 ? [] : [[id, { name, controls: touched }] as const];
  });
  return { source, version, total: Object.keys(ksi).length, indicators: Object.fromEntries(indicators) };
}

if (import.meta.main) {
  const [file] = process.argv.slice(2);
  if (file === undefined) throw new Error("Usage: node tools/fedramp_ksi.ts FEDRAMP_RULES.json");
  const mapping = ksiMapping(JSON.parse(await readFile(file, "utf8")) as FedrampRules);
  await writeFile("scanner/catalog/fedramp_ksi.json", `${JSON.stringify(mapping, null, 2)}\n`);
}
