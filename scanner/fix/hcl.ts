import { isJsonObject } from "../../shared/json.ts";
import { toLine } from "../../shared/text.ts";
import type { Attributes, Value } from "./terraform.ts";

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

/** Lines with their equals signs below one another in neighboring lines; a comment, or a value of several lines, parts them. */
export function alignedLines(entries: readonly Entry[], indent: string): string {
  const runs: Entry[][] = [];
  for (const entry of entries) {
    const run = runs.at(-1) ?? [];
    const isApart = entry.note !== undefined || [...run, entry].some(({ text }) => text.includes("\n"));
    if (run.length === 0 || isApart) runs.push([entry]);
    else run.push(entry);
  }
  const lines = runs.flatMap((run) => {
    const width = Math.max(...run.map(({ name }) => name.length));
    return run.map(({ name, text, note }) => {
      const above = note === undefined ? "" : `${comment(note, indent)}\n`;
      return `${above}${indent}${name.padEnd(width)} = ${text}`;
    });
  });
  return lines.join("\n");
}

export function expression(value: Value | null, indent = ""): string {
  if (value === null || typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value === "string") return quote(value);
  if (!("kind" in value)) {
    const inline = value.map((item) => expression(item, indent));
    const isLong = inline.length > 1 && inline.some((text) => text.includes("\n"));
    return isLong ? longList(value, expression, indent) : `[${inline.join(", ")}]`;
  }
  if (value.kind === "reference") return value.to;
  if (value.kind === "file") return `file("\${path.module}/${value.path}")`;
  return `jsonencode(${jsonExpression(value.value, indent)})`;
}

function longList<Item>(items: readonly Item[], write: (item: Item, indent: string) => string, indent: string): string {
  const inner = `${indent}  `;
  return `[\n${items.map((item) => `${inner}${write(item, inner)},\n`).join("")}${indent}]`;
}

function jsonExpression(value: unknown, indent: string): string {
  if (typeof value === "string") return quote(value);
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    if (value.some((item) => typeof item === "object" && item !== null)) return longList(value, jsonExpression, indent);
    return `[${value.map((item) => jsonExpression(item, inner)).join(", ")}]`;
  }
  if (!isJsonObject(value)) return String(value);
  const entries = Object.entries(value).map(([name, item]): Entry => {
    const key = /^[A-Za-z_]\w*$/.test(name) ? name : quote(name);
    return { name: key, text: jsonExpression(item, inner) };
  });
  return entries.length === 0 ? "{}" : `{\n${alignedLines(entries, inner)}\n${indent}}`;
}
