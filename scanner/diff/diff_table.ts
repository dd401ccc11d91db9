import { findingChangeKinds, findingChangeTitles } from "../../shared/finding_diff.ts";
import type { Diff, ObjectChange } from "../../shared/schemas/diff.ts";
import { printable, wrapText } from "../../command_line/terminal.ts";
import {
  concernText,
  fieldMove,
  limitLines,
  objectChangeTitles,
  objectTitle,
  sidesText,
  summaryText,
  verdictMove,
} from "./diff_text.ts";

const defaultWidth = 80;
const minWidth = 40;

/** For people in a terminal. */
export function renderTable(diff: Diff, { width }: { readonly width: number }): string {
  const findings = findingChangeKinds.flatMap((kind) => {
    const found = diff.findings.filter(({ change }) => change === kind);
    if (found.length === 0) return [];
    const lines = found.flatMap(({ check, resource, before, after }) => [
      `  ${check}: ${resource.type} "${resource.name}"`,
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
    ...(change === "changed" ? [] : [`  ${concernText(checks)}`]),
    ...fields.flatMap((field) => [`  ${fieldMove(field)}`, `    ${concernText(field.checks)}`]),
  ];
}

/** Lines after the first stand under its text. */
function wrapLine(line: string, width: number): readonly string[] {
  const indent = line.length - line.trimStart().length;
  const [first = "", ...more] = wrapText(printable(line.trimStart()), width - indent - 2);
  return [`${" ".repeat(indent)}${first}`, ...more.map((text) => `${" ".repeat(indent + 2)}${text}`)];
}
