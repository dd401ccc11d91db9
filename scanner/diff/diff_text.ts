import { vulnIdOf } from "../../shared/rule_names.ts";
import { categoryNames } from "../../shared/severity.ts";
import { objectChanges, type Diff, type FindingChange, type ObjectChange } from "./diff_schema.ts";
import { shorten, toLine } from "../../shared/text.ts";
import { fitText } from "../../command_line/terminal.ts";
import { verdictOf } from "../reports/result_text.ts";

const maxValueLength = 200;

/** Text for people in a terminal. */
export function renderText(diff: Diff, { width }: { readonly width: number }): string {
  const findings = [...Map.groupBy(diff.findings, ({ change }) => change)].flatMap(([kind, found]) => {
    const lines = found.flatMap(({ check, severity, resource, before, after }) => [
      `  ${vulnIdOf(check)} ${categoryNames[severity]}: ${resource.type} "${resource.name}"`,
      `    ${verdictText(before, after)} → ${verdictText(after, before)}`,
    ]);
    return [findingTitles[kind], ...lines, ""];
  });
  const limits = limitLines(diff);
  const sides = [diff.before, diff.after].map(({ file, ended_at: at }) => `${file} (${at})`);
  const lines = [
    `${diff.after.org_url}: ${sides.join(" → ")}`,
    "",
    ...findings,
    ...(diff.objects ?? []).flatMap((object) => [...objectLines(object), ""]),
    ...limits,
    ...(limits.length === 0 ? [] : [""]),
    summaryText(diff),
    "",
  ];
  return fitText(lines.join("\n"), Math.max(width, 40));
}

const findingTitles: Readonly<Record<FindingChange["change"], string>> = {
  new: "New",
  verdict_moved: "Verdict changed",
  reason_moved: "Reason changed",
  value_changed: "Value changed",
  resolved: "Resolved",
  gone: "No longer seen",
};
const objectTitles = { added: "Added", removed: "Removed", changed: "Changed" } as const;

function objectLines({ change, type, name, id, fields, checks }: ObjectChange): readonly string[] {
  const title = name === id ? name : `"${name}" (${id})`;
  return [
    `${objectTitles[change]}: ${type.replaceAll("_", " ")} ${title}`,
    ...fields.map(({ path, from, to }) => `  ${path}: ${valueText(from)} → ${valueText(to)}`),
    `  ${checks.length === 0 ? "no rule examines it" : `examined for ${idsOf(checks)}`}`,
  ];
}

/** `FAIL 120 minutes`, with what was expected where the other side expected something else. */
function verdictText(verdict: FindingChange["before"], other: FindingChange["before"]): string {
  if (verdict === null) return "none";
  const { expected, actual } = verdict;
  const wanted = other === null || other.expected === expected ? "" : `, expected ${shorten(expected, maxValueLength)}`;
  return `${verdictOf(verdict)} ${shorten(actual, maxValueLength)}${wanted}`;
}

function valueText(value: unknown): string {
  return value === null ? "not set" : toLine(JSON.stringify(value) ?? "not set", maxValueLength);
}

function idsOf(checks: readonly string[]): string {
  return checks.map(vulnIdOf).join(", ");
}

/** `findings: 2 new, 1 resolved; configuration: 1 changed`. */
function summaryText({ identical, summary }: Diff): string {
  if (identical) return "No difference";
  const part = (name: string, counts: Readonly<Record<string, number>>, titles: Readonly<Record<string, string>>) => {
    const parts = Object.entries(counts).filter(([, count]) => count > 0);
    const words = parts.map(([kind, count]) => `${count} ${titles[kind]?.toLowerCase() ?? kind}`);
    return words.length === 0 ? [] : [`${name}: ${words.join(", ")}`];
  };
  const findings = part("findings", summary.findings, findingTitles);
  return [...findings, ...part("configuration", summary.objects ?? {}, objectTitles)].join("; ");
}

/** Limits of the comparison, a line each. */
function limitLines({ before: old, after: now, evidence, not_compared: notCompared, rules }: Diff): readonly string[] {
  const ofRules = objectChanges.flatMap((change) => {
    const ids = (rules ?? []).filter((rule) => rule.change === change).map(({ vuln_id: vulnId }) => vulnId);
    return ids.length === 0 ? [] : [`${ids.length} ${change} (${ids.join(", ")})`];
  });
  const differing = ofRules.length === 0 ? "in no rule that was examined" : ofRules.join("; ");
  const judged = `Judged by ${old.benchmark} and by ${now.benchmark}. The revisions differ, not the org: ${differing}`;
  return [
    ...(rules === null ? [] : [judged]),
    ...(["before", "after"] as const).flatMap((side) => {
      const checks = notCompared.filter(({ only_in: only }) => only === side).map(({ check }) => check);
      return checks.length === 0 ? [] : [`Not compared, as only the scan ${side} evaluated them: ${idsOf(checks)}`];
    }),
    ...evidence.map(({ artifact, before, after }) => {
      const where = before === "obtained" ? "the second file" : after === "obtained" ? "the first file" : "either file";
      return `Not compared: ${artifact} was not obtained in ${where} (${before} → ${after})`;
    }),
  ];
}
