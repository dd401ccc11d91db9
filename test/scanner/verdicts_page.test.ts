import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { catalog } from "../../scanner/catalog/catalog.ts";

/** `docs/verdicts.md` explains to an auditor what each verdict rests on; it has to agree with the catalog. */
const page = readFileSync(join(import.meta.dirname, "../../docs/verdicts.md"), "utf8");

const sections = new Map(
  page
    .split(/^### /m)
    .slice(1)
    .map((section) => [
      section.slice(0, section.indexOf("\n")),
      (section.split(/^## /m)[0] ?? "").replaceAll(/\s+/g, " "),
    ]),
);

test("has one section for each check of the catalog and no others", () => {
  const headings = catalog.map(({ name, rule }) => `${rule.vuln_id} · \`${name}\``);
  expect([...sections.keys()].toSorted()).toEqual(headings.toSorted());
});

test.each(catalog.map((check) => [check.name, check] as const))("%s: agrees with the catalog", (name, check) => {
  const { rule, explanation } = check;
  const section = sections.get(`${rule.vuln_id} · \`${name}\``) ?? "";

  const quoted = / DISA: "(.+?)" - PASS: /.exec(section)?.[1] ?? "no quotation";
  expect(rule.check_text.replaceAll(/\s+/g, " ")).toContain(quoted);

  const endpoints = explanation.deciding_fields.map(({ request }) => request);
  expect(endpoints.length).toBeGreaterThan(0);
  for (const endpoint of endpoints) expect(section).toContain(`\`${endpoint}`);

  if (explanation.left_to_person !== undefined) expect(section).toMatch(/ - Left to a person: /);
});

test("is linked from the README", () => {
  const readme = readFileSync(join(import.meta.dirname, "../../README.md"), "utf8");
  expect(readme).toContain("(docs/verdicts.md)");
});
