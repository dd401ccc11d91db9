import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fanOutSection } from "./tables/fan_out.ts";
import { figuresSection } from "./tables/figures.ts";
import { followSection } from "./tables/follow.ts";
import { peersSection } from "./tables/peers.ts";
import { hundredThousandSection } from "./tables/hundred_thousand.ts";
import { prowlerSection } from "./tables/prowler.ts";
import { startSection } from "./tables/start.ts";
import { workersSection } from "./tables/workers.ts";
import { historySection } from "./tables/history.ts";
import { storedSection } from "./tables/stored.ts";

/**
 * `node bench/tables.ts`: writes the tables of `bench/measurements.md` from `results/`, each between
 * `<!-- name: ... -->` and `<!-- /name -->`.
 */
const sections: Readonly<Record<string, () => Promise<string>>> = {
  tables: fanOutSection,
  peers: peersSection,
  figures: figuresSection,
  hundred_thousand: hundredThousandSection,
  stored: storedSection,
  history: historySection,
  start: startSection,
  workers: workersSection,
  follow: followSection,
  prowler: prowlerSection,
};
const page = join(import.meta.dirname, "measurements.md");
let text = await readFile(page, "utf8");
for (const [name, write] of Object.entries(sections)) {
  const content = await write();
  const between = new RegExp(`(<!-- ${name}: .*? -->\\n)[^]*?(<!-- /${name} -->)`);
  if (!between.test(text)) throw new Error(`bench/measurements.md has no place for ${JSON.stringify(name)}`);
  text = text.replace(between, (_all, start: string, end: string) => `${start}\n${content}\n\n${end}`);
}
await writeFile(page, text);
