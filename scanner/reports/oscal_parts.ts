import type { CheckResult, Report } from "../../shared/report.ts";
import { toLine } from "../../shared/text.ts";
import type { Revision } from "../catalog/catalog.ts";
import { ruleOf } from "./benchmark_rules.ts";

/** What every part of the document needs. */
export interface OscalContext {
  readonly report: Report;
  readonly revision: Revision;
  readonly toolUuid: string;
}

export const namespace = "https://scanstream.dev/ns/oscal";
const maxTextLength = 10_000;

/** Properties in a namespace of our own, or in OSCAL's; those without a value are left out, as their schema wants one. */
export function oscalProps(
  pairs: readonly (readonly [name: string, value: string])[],
  { isOwn = true }: { readonly isOwn?: boolean } = {},
): readonly object[] {
  return pairs.flatMap(([name, text]) => {
    const value = toLine(text, maxTextLength).trim();
    return value === "" ? [] : [{ name, ...(isOwn ? { ns: namespace } : {}), value }];
  });
}

/** The ids of a rule: V-, SV-, STIG and CCIs. */
export function ruleProps(checks: readonly CheckResult[], { revision }: OscalContext): readonly object[] {
  return checks.flatMap((check) =>
    oscalProps([
      ["vuln-id", check.vuln_id],
      ["rule-id", check.rule_id],
      ["stig-id", check.stig_id],
      ...(ruleOf(check, revision)?.ccis ?? []).map((cci) => ["cci", cci] as const),
    ]),
  );
}

/** Where an observation or a risk comes from. */
export function toolOrigin({ toolUuid }: OscalContext): object {
  return { actors: [{ type: "tool", "actor-uuid": toolUuid }] };
}

/** Text that must not be empty. */
export function textOr(text: string, otherwise: string): string {
  const line = toLine(text, maxTextLength).trim();
  return line === "" ? otherwise : line;
}
