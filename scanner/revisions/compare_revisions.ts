import type { Revision, StigRule } from "../catalog/catalog.ts";
import { normalized } from "./revision.ts";

/** What DISA changed from one revision to another. */
export interface RevisionDiff {
  readonly added: readonly StigRule[];
  readonly removed: readonly StigRule[];
  readonly changed: readonly ChangedRule[];
  /** How many rules are word for word the same. */
  readonly unchanged: number;
}

export interface ChangedRule {
  readonly before: StigRule;
  readonly after: StigRule;
  readonly fields: readonly ChangedField[];
}

export interface ChangedField {
  readonly field: (typeof comparedFields)[number];
  readonly before: string;
  readonly after: string;
}

const comparedFields = [
  "rule_id",
  "stig_id",
  "severity",
  "title",
  "discussion",
  "check_text",
  "fix_text",
  "ccis",
] as const satisfies readonly (keyof StigRule)[];

/** In the order of the later revision; white space makes no difference. */
export function compareRevisions(before: Revision, after: Revision): RevisionDiff {
  const [old, now] = [rulesOf(before), rulesOf(after)];
  const pairs = [...now.values()].flatMap((rule) => {
    const was = old.get(rule.vuln_id);
    return was === undefined ? [] : [{ before: was, after: rule, fields: changedFields(was, rule) }];
  });
  return {
    added: [...now.values()].filter(({ vuln_id: id }) => !old.has(id)),
    removed: [...old.values()].filter(({ vuln_id: id }) => !now.has(id)),
    changed: pairs.filter(({ fields }) => fields.length > 0),
    unchanged: pairs.filter(({ fields }) => fields.length === 0).length,
  };
}

function rulesOf({ checks }: Revision): ReadonlyMap<string, StigRule> {
  return new Map(checks.map(({ rule }) => [rule.vuln_id, rule]));
}

function changedFields(before: StigRule, after: StigRule): readonly ChangedField[] {
  return comparedFields.flatMap((field) => {
    const [was, is] = [textOf(before[field]), textOf(after[field])];
    return normalized(was) === normalized(is) ? [] : [{ field, before: was, after: is }];
  });
}

function textOf(value: string | readonly string[]): string {
  return typeof value === "string" ? value : value.join(", ");
}

/** The lines of one text that the other has not: `-` for the earlier one's, `+` for the later one's. */
export function changedLines({ before, after }: Pick<ChangedField, "before" | "after">): readonly string[] {
  const lines = (text: string) => text.split("\n").map((line) => normalized(line));
  const [old, now] = [lines(before), lines(after)];
  return [
    ...old.filter((line) => !now.includes(line)).map((line) => `- ${line}`),
    ...now.filter((line) => !old.includes(line)).map((line) => `+ ${line}`),
  ];
}
