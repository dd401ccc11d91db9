import { toLine } from "../../shared/text.ts";
import type { Attributes, JsonValue, Value } from "./terraform.ts";

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

export function comment(text: string, indent = ""): string {
  return `${indent}# ${toLine(text, 1000).replaceAll(unprintable, "\uFFFD")}`;
}

/** `name = value` lines; what a rule changes has a comment above it. */
export function attributeLines(attributes: Attributes, indent: string): string {
  const entries = [...attributes].map(([name, { value, change }]): Entry => {
    const note = change !== null && { note: `${change.rules.join(", ")}: ${change.was}` };
    return { name, text: expression(value, indent), ...note };
  });
  return alignedLines(entries, indent);
}

export interface Entry {
  readonly name: string;
  /** Lines of its value. */
  readonly text: string;
  /** A comment above it. */
  readonly note?: string;
}

/** Lines with their equals signs below one another in neighboring lines. */
export function alignedLines(entries: readonly Entry[], indent: string): string {
  return entries
    .map(({ name, text, note }, index) => {
      const above = note === undefined ? "" : `${comment(note, indent)}\n`;
      const width = isLong(text) ? name.length : widthOfRun(entries, index);
      return `${above}${indent}${name.padEnd(width)} = ${text}`;
    })
    .join("\n");
}

/** A comment, or a value of several lines, ends a run. */
function widthOfRun(entries: readonly Entry[], index: number): number {
  const goesOn = (at: number) => {
    const [before, after] = [entries[at - 1], entries[at]];
    return before !== undefined && after !== undefined && after.note === undefined && !isLong(before.text + after.text);
  };
  let start = index;
  while (goesOn(start)) start -= 1;
  let end = index;
  while (goesOn(end + 1)) end += 1;
  return Math.max(...entries.slice(start, end + 1).map(({ name }) => name.length));
}

function isLong(text: string): boolean {
  return text.includes("\n");
}

export function expression(value: Value | null, indent = ""): string {
  if (value === null) return "null";
  if (typeof value === "string") return quote(value);
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (!("kind" in value)) return listExpression(value, indent);
  if (value.kind === "reference") return value.to;
  if (value.kind === "file") return `file("\${path.module}/${value.path}")`;
  return `jsonencode(${jsonExpression(value.value, indent)})`;
}

/** On one line; several items of which one is longer stand below one another. */
function listExpression(items: readonly Value[], indent: string): string {
  const inline = items.map((item) => expression(item, indent));
  if (items.length < 2 || !inline.some(isLong)) return `[${inline.join(", ")}]`;
  const inner = `${indent}  `;
  return `[\n${items.map((item) => `${inner}${expression(item, inner)},\n`).join("")}${indent}]`;
}

function jsonExpression(value: JsonValue, indent: string): string {
  if (value === null || typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value === "string") return quote(value);
  const inner = `${indent}  `;
  if (isList(value)) {
    if (value.every((item) => item === null || typeof item !== "object"))
      return `[${value.map((item) => jsonExpression(item, inner)).join(", ")}]`;
    return `[\n${value.map((item) => `${inner}${jsonExpression(item, inner)},\n`).join("")}${indent}]`;
  }
  const entries = Object.entries(value).map(([name, item]): Entry => {
    const key = /^[A-Za-z_]\w*$/.test(name) ? name : quote(name);
    return { name: key, text: jsonExpression(item, inner) };
  });
  return entries.length === 0 ? "{}" : `{\n${alignedLines(entries, inner)}\n${indent}}`;
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}
