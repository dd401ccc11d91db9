import { parseTree, printParseErrorCode, visit, type JSONPath, type ParseError } from "jsonc-parser";

/** A member of an object or an item of a list. */
export interface PlacedValue {
  /** RFC 6901: `/organizations/0/org_url`. */
  readonly pointer: string;
  /** The nearest member's. */
  readonly name: string;
  /** For a text, number or other plain value; objects and lists are given by what is in them. */
  readonly value: unknown;
}

/** `(line 3 column 7)`, counted from 1. */
export function lineAndColumn(text: string, offset: number): string {
  const before = text.slice(0, offset).split("\n");
  return `(line ${before.length} column ${(before.at(-1) ?? "").length + 1})`;
}

/** Place where the text stops being JSON, and why; null when it is JSON. */
export function explainBrokenJson(text: string): string | null {
  const errors: ParseError[] = [];
  parseTree(text, errors, { disallowComments: true });
  const [first] = errors;
  if (first === undefined) return null;
  const words = printParseErrorCode(first.error)
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, " ")
    .toLowerCase();
  return `${words} ${lineAndColumn(text, first.offset)}`;
}

/** Every plain value of the text, and every member that has an object or a list. */
export function placedValues(text: string): readonly PlacedValue[] {
  const members: PlacedValue[] = [];
  visit(text, {
    onObjectProperty(name, _offset, _length, _line, _column, pathOfObject) {
      members.push({ pointer: toPointer([...pathOfObject(), name]), name, value: undefined });
    },
    onLiteralValue(value: unknown, _offset, _length, _line, _column, pathOf) {
      const path = pathOf();
      const name = path.findLast((part) => typeof part === "string") ?? "";
      members.push({ pointer: toPointer(path), name, value });
    },
  });
  return members;
}

export function toPointer(path: JSONPath): string {
  return path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
