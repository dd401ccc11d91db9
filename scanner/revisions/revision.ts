import { readOptionBytes, usingFile, type NamedFile } from "../../command_line/files.ts";
import { defineCheck } from "../checks/check.ts";
import { builtIn, revisionName, type CatalogCheck, type Revision, type StigRule } from "../catalog/catalog.ts";
import { readStigFile, type DisaBenchmark, type DisaRule } from "./read_stig_file.ts";

const maxFileBytes = 50 * 1_048_576;

/** The revision of the STIG in a file, or the built-in one without a file. Throws `UsageError`. */
export async function readRevision(source: NamedFile | null): Promise<Revision> {
  if (source === null) return builtIn;
  const bytes = await readOptionBytes({ ...source, maxBytes: maxFileBytes });
  return usingFile(source, async () => toRevision(await readStigFile(bytes)));
}

/** Each run of white space as one blank, without any at the ends; nothing else is made equal. */
export function normalized(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

/** True when two revisions ask for the same and fix it the same way. */
export function isSameText(one: RuleTexts, other: RuleTexts): boolean {
  const names = ["check_text", "fix_text"] as const;
  return names.every((name) => normalized(one[name]) === normalized(other[name]));
}

type RuleTexts = Pick<StigRule, "check_text" | "fix_text">;

/** A revision with the checks that were written for exactly its texts; every other rule is MANUAL. */
export function toRevision({ rules, ...benchmark }: DisaBenchmark): Revision {
  const names = revisionName(benchmark);
  return { benchmark, checks: rules.map((rule) => toCheck(rule, names)) };
}

function toCheck(rule: DisaRule, revision: string): CatalogCheck {
  const check = builtIn.checks.find((candidate) => candidate.rule.vuln_id === rule.vuln_id);
  const known = check?.rule ?? null;
  const name = known?.check ?? rule.vuln_id.toLowerCase().replace("-", "_");
  const needs = { check: name, nist_800_53_r5: controlsOf(rule, known) };
  if (check !== undefined && isSameText(rule, check.rule)) {
    const { scopes, role } = check.rule;
    return { ...check, rule: { ...rule, ...needs, scopes, role } };
  }
  const reason = known === null ? "not_automated" : "rule_changed";
  return {
    ...personsCheck(name, rule, { reason, revision }),
    rule: { ...rule, ...needs, scopes: [], role: "read_only_admin" },
    unjudged: { reason, writtenFor: known },
  };
}

/** DISA's file names CCIs alone; those of the built-in revision say which controls they belong to. */
function controlsOf(rule: DisaRule, known: StigRule | null): readonly string[] {
  if (known !== null && rule.ccis.toSorted().join() === known.ccis.toSorted().join()) return known.nist_800_53_r5;
  return [...new Set(rule.ccis.flatMap((cci) => controlOfCci.get(cci) ?? []))];
}

/** From the rules that name one control for each CCI, in the same order. */
const controlOfCci: ReadonlyMap<string, string> = new Map(
  builtIn.checks
    .filter(({ rule }) => rule.ccis.length === rule.nist_800_53_r5.length)
    .flatMap(({ rule }) => rule.ccis.map((cci, index) => [cci, rule.nist_800_53_r5[index] ?? ""] as const)),
);

/** Reads nothing, and leaves the rule to a person. */
function personsCheck(
  name: string,
  rule: DisaRule,
  { reason, revision }: { readonly reason: "rule_changed" | "not_automated"; readonly revision: string },
): Omit<CatalogCheck, "rule"> {
  const own = revisionName(builtIn.benchmark);
  const why =
    reason === "rule_changed"
      ? `${revision} words ${rule.vuln_id} otherwise than ${own}, for which the check was written.`
      : `There is no check of ${rule.vuln_id} of ${revision}.`;
  const note = `${why} A person decides`;
  const check = defineCheck({
    name,
    artifacts: [],
    decidingFields: [],
    evaluate: () => [{ status: "MANUAL", reason, resource: null, expected: rule.title, actual: "not examined", note }],
  });
  return {
    ...check,
    explanation: {
      examines: `Nothing: ${why}`,
      why: "A verdict by another text would prove nothing: a person reads DISA's check and answers it (--decisions).",
      disa: rule.check_text,
      rests_on: [],
      fix: ["See DISA's fix below."],
    },
  };
}
