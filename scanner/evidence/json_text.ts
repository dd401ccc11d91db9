import { visit, type JSONVisitor } from "jsonc-parser";
import { ContentError } from "../../shared/usage_error.ts";
import { cleanProviderText } from "../okta/provider_text.ts";

export interface JsonTextOptions {
  /** `refuse`: of a key that is given twice a reader sees one value, and JSON.parse takes the other. Default `allow`. */
  readonly repeatedKeys?: "refuse" | "allow";
  /** `as_written`: texts keep their line breaks, for a file that people wrote in. Default `provider`. */
  readonly texts?: "provider" | "as_written";
}

/**
 * Reads JSON; its texts are cleaned as those of a provider are, whose names such a file repeats (`okta/provider_text.ts`),
 * unless `texts` says otherwise.
 * Throws `ContentError`, such as `it is not JSON (line 2 column 1)`.
 */
export function parseJsonText(
  text: string,
  { repeatedKeys = "allow", texts = "provider" }: JsonTextOptions = {},
): unknown {
  const parsed = parse(text);
  const value = texts === "as_written" ? parsed : cleanProviderText(parsed, { pageField: "content" });
  if (repeatedKeys === "refuse") requireUniqueKeys(text);
  return value;
}

function parse(text: string): unknown {
  if (text.trim() === "") throw new ContentError(["the file is empty"]);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ContentError([explain(error, text)], { cause: error });
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
    const onError: JSONVisitor["onError"] = (_, _offset, _length, line, column) =>
      void places.push(`line ${line + 1} column ${column + 1}`);
    visit(text, { onError }, { disallowComments: true });
  }
  return `it is not JSON${places[0] === undefined ? "" : ` (${places[0]})`}`;
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
        throw new ContentError([`the key ${JSON.stringify(key.slice(0, 60))} is given twice (${place})`]);
      }
      keys?.add(key);
    },
  });
}
