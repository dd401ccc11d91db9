import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { catalog } from "../../scanner/catalog/catalog.ts";

/** `docs/verdicts.md` explains to an auditor what each verdict rests on; it has to agree with the catalog. */
const page = readFileSync(join(import.meta.dirname, "../../docs/verdicts.md"), "utf8");

test.each(catalog.map(({ name, rule }) => [name, rule] as const))("%s: is there, with DISA's words", (name, rule) => {
  const [, after = ""] = page.split(new RegExp(`(?:### |\\| )${rule.vuln_id} (?:· )?\`${name}\``));
  const quoted = /^(?: \||\n\nDISA:) "(.+?[.])"/.exec(after)?.[1] ?? "no quotation";
  expect(rule.check_text.replaceAll(/\s+/g, " ")).toContain(quoted);
});
