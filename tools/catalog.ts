import { readFile, writeFile } from "node:fs/promises";
import { builtIn, type BenchmarkFile, type StigRule } from "../scanner/catalog/catalog.ts";
import { readStigFile, type DisaBenchmark } from "../scanner/revisions/read_stig_file.ts";
import { isSameText, toRevision } from "../scanner/revisions/revision.ts";

/**
 * `node tools/catalog.ts FILE`: makes the built-in catalog from DISA's zip or XCCDF, and says which checks a person has to read again.
 * The fields that scanstream adds to a rule stay.
 */
export function toCatalog({ rules, ...benchmark }: DisaBenchmark): BenchmarkFile {
  const known = new Map(builtIn.checks.map(({ rule }) => [rule.vuln_id, rule]));
  const derived = new Map(toRevision({ ...benchmark, rules }).checks.map(({ rule }) => [rule.vuln_id, rule]));
  return {
    ...benchmark,
    rules: rules.map((rule): StigRule => {
      const { vuln_id, rule_id, stig_id, severity, category, title, group_title, satisfies, ccis } = rule;
      const { check, scopes, role } = known.get(vuln_id) ?? unknownRule;
      const nist_800_53_r5 = derived.get(vuln_id)?.nist_800_53_r5 ?? [];
      const ids = { check, vuln_id, rule_id, stig_id, severity, category, title, group_title };
      const { discussion, check_text, fix_text } = rule;
      return { ...ids, satisfies, ccis, nist_800_53_r5, scopes, role, discussion, check_text, fix_text };
    }),
  };
}

const unknownRule = { check: "not_written_yet", scopes: [], role: "read_only_admin" } as const;

/** Sentences that are left to a person, a line each. */
export function tasksOf(disa: DisaBenchmark): readonly string[] {
  const now = new Map(disa.rules.map((rule) => [rule.vuln_id, rule]));
  const known = builtIn.checks.map(({ rule }) => rule);
  return [
    ...known
      .filter((rule) => !isSameText(rule, now.get(rule.vuln_id) ?? rule))
      .map(({ vuln_id: id, check }) => `${id}: its text changed; read the check ${check} again`),
    ...disa.rules
      .filter(({ vuln_id: id }) => known.every((rule) => rule.vuln_id !== id))
      .map(({ vuln_id: id, stig_id: stigId }) => `${id}: new; write a check for ${stigId}`),
    ...known
      .filter(({ vuln_id: id }) => !now.has(id))
      .map(({ vuln_id: id, check }) => `${id}: gone; delete the check ${check}`),
    ...toRevision(disa)
      .checks.filter(({ rule }) => rule.ccis.length > 0 && rule.nist_800_53_r5.length === 0)
      .map(({ rule }) => `${rule.vuln_id}: look up the controls of ${rule.ccis.join(", ")} in DISA's CCI list`),
  ];
}

if (import.meta.main) {
  const [stigFile = ""] = process.argv.slice(2);
  const content = await readStigFile(await readFile(stigFile));
  const file = new URL("../scanner/catalog/okta_idaas_stig.json", import.meta.url);
  await writeFile(file, `${JSON.stringify(toCatalog(content), null, 2)}\n`);
  process.stdout.write(["Wrote the catalog. Left to a person:", ...tasksOf(content), ""].join("\n"));
}
