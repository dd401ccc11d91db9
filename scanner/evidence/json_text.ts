import { cleanProviderText } from "../idp/provider_text.ts";

/** What stands in a file that was written for us, before anybody looks at its shape. */
export interface JsonTextOptions {
  /** How many lists and objects may stand inside one another. */
  readonly maxDepth: number;
  /** How many lists and objects there may be: each takes far more memory than the two characters it is written in. */
  readonly maxParts: number;
  /** `refuse`: of a key that is given twice a reader sees one value, and JSON.parse takes the other. Default `allow`. */
  readonly repeatedKeys?: "refuse" | "allow";
}

/**
 * Reads JSON; its texts are cleaned as those of a provider are, whose names such a file repeats (`idp/provider_text.ts`).
 * Throws `SyntaxError` (as JSON.parse does) or, for what may be JSON and is refused, `RangeError`, each with one sentence.
 */
export function parseJsonText(text: string, options: JsonTextOptions): unknown {
  // Before it is parsed: what is deep or all brackets needs up to a hundred times the memory of its text.
  requireModest(text, options);
  const value: unknown = JSON.parse(text);
  if (options.repeatedKeys === "refuse") requireUniqueKeys(text);
  return cleanProviderText(value, { pageField: "content" });
}

function requireModest(text: string, { maxDepth, maxParts }: JsonTextOptions): void {
  let depth = 0;
  let parts = 0;
  walk(text, {
    onOpen: () => {
      depth += 1;
      parts += 1;
      if (parts > maxParts) throw new RangeError(`it has too many lists and objects: expected ${maxParts} at most`);
      if (depth > maxDepth) throw new RangeError(`it is nested too deep: expected ${maxDepth} levels at most`);
    },
    onClose: () => void (depth -= 1),
    onString: () => undefined,
  });
}

/** Of a text that is JSON: each string before a colon is a key of what is open. */
function requireUniqueKeys(text: string): void {
  const open: Set<string>[] = [];
  walk(text, {
    onOpen: () => void open.push(new Set()),
    onClose: () => void open.pop(),
    onString: (start, end) => {
      if (!isFollowedByColon(text, end)) return;
      // "chec\u006b" is the key "check".
      const key = String(JSON.parse(text.slice(start, end)));
      const keys = open.at(-1);
      if (keys?.has(key) === true) throw new RangeError(`the key ${JSON.stringify(key.slice(0, 60))} is given twice`);
      keys?.add(key);
    },
  });
}

function isFollowedByColon(text: string, from: number): boolean {
  let at = from;
  while (" \t\r\n".includes(text[at] ?? ":")) at += 1;
  return text[at] === ":";
}

interface Visitor {
  readonly onOpen: () => void;
  readonly onClose: () => void;
  /** From its first quote to after its last. */
  readonly onString: (start: number, end: number) => void;
}

/** By hand: a regular expression runs out of stack on a string of some megabytes. */
function walk(text: string, { onOpen, onClose, onString }: Visitor): void {
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === "{" || character === "[") onOpen();
    else if (character === "}" || character === "]") onClose();
    else if (character === '"') {
      const end = endOfString(text, at);
      onString(at, end);
      at = end - 1;
    }
  }
}

/** Where the string is over; the text's end when it is left open. */
function endOfString(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1);
  while (quote !== -1) {
    let backslash = quote - 1;
    while (text[backslash] === "\\") backslash -= 1;
    if ((quote - backslash) % 2 === 1) return quote + 1;
    quote = text.indexOf('"', quote + 1);
  }
  return text.length;
}
