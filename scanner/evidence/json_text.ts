import { visit } from "jsonc-parser";
import { cleanProviderText } from "../okta/provider_text.ts";

/** Bounds of a file that was written for us, checked before its shape. */
export interface JsonTextOptions {
  /** How many lists and objects may stand inside one another. */
  readonly maxDepth: number;
  /** How many lists and objects there may be: each takes far more memory than the two characters it is written in. */
  readonly maxParts: number;
  /** `refuse`: of a key that is given twice a reader sees one value, and JSON.parse takes the other. Default `allow`. */
  readonly repeatedKeys?: "refuse" | "allow";
  /** `as_written`: texts keep their line breaks, for a file that people wrote in. Default `provider`. */
  readonly texts?: "provider" | "as_written";
}

/**
 * Reads JSON; its texts are cleaned as those of a provider are, whose names such a file repeats (`okta/provider_text.ts`),
 * unless `texts` says otherwise.
 * Throws `SyntaxError`, such as `it is not JSON (line 2 column 1)`, or, for what may be JSON and is refused, `RangeError`.
 */
export function parseJsonText(text: string, options: JsonTextOptions): unknown {
  // Before it is parsed: what is deep or all brackets needs up to a hundred times the memory of its text.
  requireBounds(text, options);
  const value = parse(text);
  if (options.repeatedKeys === "refuse") requireUniqueKeys(text);
  return options.texts === "as_written" ? value : cleanProviderText(value, { pageField: "content" });
}

function parse(text: string): unknown {
  if (text.trim() === "") throw new SyntaxError("the file is empty");
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new SyntaxError(explain(error, text), { cause: error });
  }
}

/** The engine's own message is about tokens, and quotes the file. */
function explain(error: unknown, text: string): string {
  const message = error instanceof Error ? error.message : "";
  const position = / at position (\d+)/.exec(message)?.[1];
  const isAtEnd = position !== undefined && Number(position) >= text.trimEnd().length;
  if (isAtEnd || /unexpected end|unterminated/i.test(message)) return "the file is cut short";
  const places: string[] = [];
  // Not of a large file: `visit` copies every string.
  if (text.length < 8_388_608) {
    visit(text, {
      onError: (_, _offset, _length, line, column) => void places.push(`line ${line + 1} column ${column + 1}`),
    });
  }
  return `it is not JSON${places[0] === undefined ? "" : ` (${places[0]})`}`;
}

/** Not by `visit`: it copies every string, which takes gigabytes for 256 MiB of escapes. A regular expression overflows its stack. */
function requireBounds(text: string, { maxDepth, maxParts }: JsonTextOptions): void {
  let depth = 0;
  let parts = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') {
      at = endOfString(text, at);
    } else if (character === "{" || character === "[") {
      depth += 1;
      parts += 1;
      if (parts > maxParts) throw new RangeError(`it has too many lists and objects: expected ${maxParts} at most`);
      if (depth > maxDepth) throw new RangeError(`it is nested too deep: expected ${maxDepth} levels at most`);
    } else if (character === "}" || character === "]") {
      depth -= 1;
    }
  }
}

/** Position of its closing quote; the text's end when it is unterminated. */
function endOfString(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1);
  while (quote !== -1) {
    let backslash = quote - 1;
    while (text[backslash] === "\\") backslash -= 1;
    if ((quote - backslash) % 2 === 1) return quote;
    quote = text.indexOf('"', quote + 1);
  }
  return text.length;
}

function requireUniqueKeys(text: string): void {
  const open: Set<string>[] = [];
  visit(text, {
    onObjectBegin: () => void open.push(new Set()),
    onObjectEnd: () => void open.pop(),
    onObjectProperty(key, _offset, _length, line, column) {
      const keys = open.at(-1);
      if (keys?.has(key) === true) {
        const place = `line ${line + 1} column ${column + 1}`;
        throw new RangeError(`the key ${JSON.stringify(key.slice(0, 60))} is given twice (${place})`);
      }
      keys?.add(key);
    },
  });
}
