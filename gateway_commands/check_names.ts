import type { CommandIo } from "../command_line/command_io.ts";
import { printable } from "../command_line/terminal.ts";
import { findRule, stigRuleNames, unknownRule } from "../shared/rule_names.ts";

export interface CheckNames {
  /** The names of the checks, each once. */
  readonly names: ReadonlySet<string>;
  /** A line for each name that is unknown. */
  readonly problems: readonly string[];
}

/**
 * Any names of rules, separated by commas, as names of checks; says where another revision was named.
 */
export function readCheckNames(
  text: string,
  { option, io }: { readonly option: string; readonly io: Pick<CommandIo, "terminal"> },
): CheckNames {
  const found = text
    .split(",")
    .map((name) => name.trim())
    .map((name) => ({ name, rule: findRule(name, stigRuleNames) }));
  for (const { rule } of found)
    if (typeof rule?.warning === "string") io.terminal.write(`${printable(rule.warning)}\n`);
  return {
    names: new Set(found.map(({ name, rule }) => rule?.rule.check ?? name)),
    problems: found
      .filter(({ rule }) => rule === null)
      .map(({ name }) => `${option}: ${unknownRule(name, stigRuleNames, "run `scanstream explain` for the list")}`),
  };
}
