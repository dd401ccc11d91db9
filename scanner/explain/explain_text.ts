import { fitText } from "../../command_line/terminal.ts";
import { countOf } from "../../shared/outcome_text.ts";
import { listTexts } from "../checks/parsing/names.ts";
import { verdictOf } from "../reports/result_text.ts";
import type { DecidingValue, ExplainedFinding, ExplainedRule, OrgExplanation } from "./explain_org.ts";

/** The lines for a terminal of this width. */
export function explanationText(explained: OrgExplanation, width: number): string {
  const { org_url: url, status, findings, more, read } = explained;
  const lines = [
    `In ${url}: ${status}`,
    ...findings.flatMap((finding) => [
      "",
      `${verdictOf(finding)}  ${finding.resource.type.replaceAll("_", " ")} "${finding.resource.name}"`,
      ...findingLines(finding).map((line) => `  ${line}`),
    ]),
    ...(more > 0 ? ["", `and ${countOf(more, "more finding")}: see scanstream report`] : []),
    ...(read.length === 0 ? [] : ["", "Read with"]),
    ...read.map(({ request, at, state }) => `  ${request} at ${at}${state === "obtained" ? "" : ` (${state})`}`),
  ];
  return fitText(`${lines.join("\n")}\n`, width);
}

function findingLines(finding: ExplainedFinding): readonly string[] {
  const { also, expected, actual, notes, rules, values, change } = finding;
  return [
    ...(also.length === 0 ? [] : [`and the same for ${countOf(also.length, "other")}: ${listTexts(also)}`]),
    `expected ${expected}`,
    `found ${actual}`,
    ...notes,
    ...(rules.length === 0 ? [] : ["Okta evaluates these rules in this order:", ...ruleLines(finding)]),
    ...values.map(valueText),
    ...(change === null ? [] : [`To pass: ${change}`]),
  ];
}

/** One line for each rule, an arrow at the one that decides, and its values below it. */
export function ruleLines({ rules }: Pick<ExplainedFinding, "rules">): readonly string[] {
  return rules.flatMap((rule) => [
    `${rule.decides ? "→" : " "} ${ruleText(rule)}`,
    ...(rule.decides ? rule.values.map((value) => `    ${valueText(value)}`) : []),
  ]);
}

function ruleText({ priority, name, status, access, conditions, decides, isReached }: ExplainedRule): string {
  const place = typeof priority === "number" ? `priority ${priority}` : "no priority";
  if (status !== "active")
    return `"${name}" (${place}): ${status === "inactive" ? "inactive" : "status unknown"}, not evaluated`;
  if (!isReached) return `"${name}" (${place}): ${access}, never reached`;
  const others =
    conditions.length === 0
      ? "for everybody who reaches it"
      : `with conditions (${conditions.join(", ")}); others fall through to the next rule`;
  return `"${name}" (${place}): ${access}, ${others}${decides ? "; decides" : ""}`;
}

function valueText({ field, value }: DecidingValue): string {
  return `${field} = ${value}`;
}
