import {
  findingChangeKinds,
  findingChangeTitles,
  type ComparedVerdict,
  type FindingChangeKind,
} from "./compare_findings.ts";
import { vulnIdOf } from "../../shared/rule_names.ts";
import { categoryNames } from "../../shared/severity.ts";
import type { Diff, FieldChange, ObjectChange } from "../../shared/schemas/diff.ts";
import { printable, wrapText } from "../../command_line/terminal.ts";
import { shorten, toLine } from "../../shared/text.ts";
import { verdictOf } from "../reports/result_text.ts";

const defaultWidth = 80;
const minWidth = 40;

/** Text for people in a terminal. */
export function renderText(diff: Diff, { width }: { readonly width: number }): string {
  const findings = findingChangeKinds.flatMap((kind) => {
    const found = diff.findings.filter(({ change }) => change === kind);
    if (found.length === 0) return [];
    const lines = found.flatMap(({ check, severity, resource, before, after }) => [
      `  ${vulnIdOf(check)} ${categoryNames[severity]}: ${resource.type} "${resource.name}"`,
      `    ${verdictMove(before, after)}`,
    ]);
    return [findingChangeTitles[kind], ...lines, ""];
  });
  const objects = (diff.objects ?? []).flatMap((object) => [...objectLines(object), ""]);
  const limits = limitLines(diff);
  return [
    `${diff.after.org_url}: ${sidesText(diff)}`,
    "",
    ...findings,
    ...objects,
    ...limits,
    ...(limits.length === 0 ? [] : [""]),
    summaryText(diff),
    "",
  ]
    .flatMap((line) => wrapLine(line, Math.max(width || defaultWidth, minWidth)))
    .join("\n");
}

function objectLines(object: ObjectChange): readonly string[] {
  const { change, fields, checks } = object;
  return [
    `${objectChangeTitles[change]}: ${objectTitle(object)}`,
    ...fields.map((field) => `  ${fieldMove(field)}`),
    `  ${checks.length === 0 ? "no rule examines it" : `examined for ${idsOf(checks)}`}`,
  ];
}

/** Lines after the first stand under its text. */
function wrapLine(line: string, width: number): readonly string[] {
  const indent = line.length - line.trimStart().length;
  const [first = "", ...more] = wrapText(printable(line.trimStart()), width - indent - 2);
  return [`${" ".repeat(indent)}${first}`, ...more.map((text) => `${" ".repeat(indent + 2)}${text}`)];
}

const maxValueLength = 200;

/** Verdict before and after: `FAIL 120 minutes → PASS 15 minutes`. */
function verdictMove(before: ComparedVerdict | null, after: ComparedVerdict | null): string {
  return `${verdictText(before, after)} → ${verdictText(after, before)}`;
}

function verdictText(verdict: ComparedVerdict | null, other: ComparedVerdict | null): string {
  if (verdict === null) return "none";
  const { expected, actual } = verdict;
  const wanted = other === null || other.expected === expected ? "" : `, expected ${shorten(expected, maxValueLength)}`;
  return `${verdictOf(verdict)} ${shorten(actual, maxValueLength)}${wanted}`;
}

function fieldMove({ path, from, to }: FieldChange): string {
  return `${path}: ${valueText(from)} → ${valueText(to)}`;
}

function valueText(value: unknown): string {
  return value === null ? "not set" : toLine(JSON.stringify(value) ?? "not set", maxValueLength);
}

const objectChangeTitles = { added: "Added", removed: "Removed", changed: "Changed" } as const;

function idsOf(checks: readonly string[]): string {
  return checks.map(vulnIdOf).join(", ");
}

/** `2 new, 1 resolved; 1 object changed`. */
function summaryText({ identical, summary }: Diff): string {
  if (identical) return "No difference";
  const findings = Object.entries(summary.findings)
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => `${count} ${findingChangeTitles[kind as FindingChangeKind].toLowerCase()}`);
  const objects = Object.entries(summary.objects ?? {})
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => `${count} ${kind}`);
  return [
    ...(findings.length === 0 ? [] : [`findings: ${findings.join(", ")}`]),
    ...(objects.length === 0 ? [] : [`configuration: ${objects.join(", ")}`]),
  ].join("; ");
}

/** Limits of the comparison, a line each. */
function limitLines({ before: old, after: now, evidence, not_compared: notCompared, rules }: Diff): readonly string[] {
  const of = (side: "before" | "after") => notCompared.filter(({ only_in: only }) => only === side);
  const lines = (["before", "after"] as const).flatMap((side) => {
    const checks = of(side).map(({ check }) => check);
    return checks.length === 0 ? [] : [`Not compared, as only the scan ${side} evaluated them: ${idsOf(checks)}`];
  });
  const ofRules = (["added", "removed", "changed"] as const).flatMap((change) => {
    const ids = (rules ?? []).filter((rule) => rule.change === change).map(({ vuln_id: vulnId }) => vulnId);
    return ids.length === 0 ? [] : [`${ids.length} ${change} (${ids.join(", ")})`];
  });
  return [
    ...(rules === null
      ? []
      : [
          `Judged by ${old.benchmark} and by ${now.benchmark}. The revisions differ, not the org: ${ofRules.length === 0 ? "in no rule that was examined" : ofRules.join("; ")}`,
        ]),
    ...lines,
    ...evidence.map(({ artifact, before, after }) => {
      const where = before === "obtained" ? "the second file" : after === "obtained" ? "the first file" : "either file";
      return `Not compared: ${artifact} could not be read in ${where} (${before} → ${after})`;
    }),
  ];
}

function objectTitle({ type, name, id }: ObjectChange): string {
  return name === id ? `${type.replaceAll("_", " ")} ${name}` : `${type.replaceAll("_", " ")} "${name}" (${id})`;
}

/** `file (2026-11-22T10:00:00.000Z)` of each side. */
function sidesText({ before, after }: Diff): string {
  return [before, after].map(({ file, ended_at: at }) => `${file} (${at})`).join(" → ");
}
