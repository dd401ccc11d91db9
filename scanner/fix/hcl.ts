import { isJsonObject } from "../../shared/json.ts";
import { toLine } from "../../shared/text.ts";
import type { Attribute, Value } from "./terraform.ts";

/** Terraform's configuration language, formatted as `terraform fmt` does: https://developer.hashicorp.com/terraform/language/syntax */

/** A text in quotation marks with any content: no template in it is evaluated. */
export function quote(text: string): string {
  const escaped = text
    .toWellFormed()
    .replaceAll(/["\\]/g, String.raw`\$&`)
    // Doubling the sign of a template is ambiguous after another such sign.
    .replaceAll(/([$%])(?=\{)/g, (sign) => codeUnit(sign))
    .replaceAll("\n", String.raw`\n`)
    .replaceAll("\r", String.raw`\r`)
    .replaceAll("\t", String.raw`\t`)
    .replaceAll(unprintable, codeUnit);
  return `"${escaped}"`;
}

/** Control characters, line separators, and what changes the direction of the text around it. */
const unprintable = /[\p{Cc}\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069\uFEFF]/gu;

function codeUnit(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

export function comment(text: string): string {
  return `# ${toLine(text, 1000).replaceAll(unprintable, "\uFFFD")}`;
}

/** A block with its parts; no value has a line break, so each line can be indented. */
export function block(header: string, ...parts: readonly string[]): string {
  return `${header} {\n${indented(parts.join("\n\n"))}\n}`;
}

function indented(lines: string): string {
  return lines.replaceAll(/^(?=.)/gm, "  ");
}

/** `name = value` lines; what a rule changes has a comment above it. */
export function attributeLines(attributes: readonly (readonly [string, Attribute])[]): string {
  const values = attributes.map(([name, { value }]) => [name, expression(value)]);
  const notes = attributes.map(([name, { change }]) => [name, change && `${change.rules.join(", ")}: ${change.was}`]);
  return alignedLines(Object.fromEntries(values), Object.fromEntries(notes));
}

/**
 * Lines of values, with their equals signs below one another in neighboring lines. A note, which is a comment above its line,
 * or a value of several lines parts them.
 */
export function alignedLines(
  values: Readonly<Record<string, string>>,
  notes: Readonly<Record<string, string | null>> = {},
): string {
  // A field of the provider may have the name of a method that every object has.
  const noteOf = (name: string) => (Object.hasOwn(notes, name) ? notes[name] : null);
  const runs: [string, string][][] = [];
  for (const entry of Object.entries(values)) {
    const run = runs.at(-1) ?? [];
    const isApart = Boolean(noteOf(entry[0])) || [...run, entry].some(([, value]) => value.includes("\n"));
    if (run.length === 0 || isApart) runs.push([entry]);
    else run.push(entry);
  }
  const lines = runs.flatMap((run) => {
    const width = Math.max(...run.map(([name]) => name.length));
    return run.flatMap(([name, value]) => {
      const note = noteOf(name);
      return [...(note ? [comment(note)] : []), `${name.padEnd(width)} = ${value}`];
    });
  });
  return lines.join("\n");
}

export function expression(value: Value | null): string {
  if (value === null || typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value === "string") return quote(value);
  if (!("kind" in value)) {
    const items = value.map(expression);
    return list(items, { isLong: items.length > 1 && items.some((text) => text.includes("\n")) });
  }
  if (value.kind === "reference") return value.to;
  if (value.kind === "file") return `file("\${path.module}/${value.path}")`;
  return `jsonencode(${jsonExpression(value.value)})`;
}

function list(items: readonly string[], { isLong }: { readonly isLong: boolean }): string {
  return isLong ? `[\n${indented(items.map((item) => `${item},\n`).join(""))}]` : `[${items.join(", ")}]`;
}

function jsonExpression(value: unknown): string {
  if (typeof value === "string") return quote(value);
  if (Array.isArray(value)) {
    return list(value.map(jsonExpression), { isLong: value.some((item) => typeof item === "object" && item !== null) });
  }
  if (!isJsonObject(value)) return String(value);
  const entries = Object.entries(value).map(([name, item]) => {
    const key = /^[A-Za-z_]\w*$/.test(name) ? name : quote(name);
    return [key, jsonExpression(item)] as const;
  });
  return entries.length === 0 ? "{}" : `{\n${indented(alignedLines(Object.fromEntries(entries)))}\n}`;
}
