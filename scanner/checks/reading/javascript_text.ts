/** The text of one string literal, or of several that `+` joins. */
export type LiteralText = string;

/**
 * The texts that a script can show: its string and template literals, unescaped, with those that `+` joins as one.
 * Comments and code are left out. A scanner for finding text, not a parser: it never fails, on any input.
 */
export function textsOfScript(source: string): readonly LiteralText[] {
  const texts: string[] = [];
  scanCode(source, 0, { texts, endsAtBrace: false });
  return texts;
}

interface Scan {
  readonly texts: string[];
  /** Inside `${…}` of a template the code ends with its closing brace. */
  readonly endsAtBrace: boolean;
}

/** Collects the texts from `start` on; returns where the code ends. */
function scanCode(source: string, start: number, scan: Scan): number {
  let position = start;
  let depth = 0;
  // What stands between the last literal and here: only a `+` joins it with the next.
  let between = "";
  let hasLiteral = false;
  // The last letter of code, which tells a regular expression from a division.
  let before = "";

  while (position < source.length) {
    const letter = source.charAt(position);
    const pair = source.slice(position, position + 2);
    if (pair === "//" || pair === "/*") {
      position = endOfComment(source, position);
    } else if (letter === "/" && startsRegExp(before)) {
      position = endOfRegExp(source, position);
      before = "/";
      between += "/";
    } else if (letter === '"' || letter === "'" || letter === "`") {
      const literal = letter === "`" ? readTemplate(source, position) : readString(source, position);
      addText(scan.texts, literal.text, hasLiteral && between === "+");
      scan.texts.push(...literal.nested);
      hasLiteral = literal.nested.length === 0;
      between = "";
      before = letter;
      position = literal.end;
    } else {
      if (letter === "{") depth += 1;
      if (letter === "}" && scan.endsAtBrace && depth === 0) return position + 1;
      if (letter === "}") depth -= 1;
      if (!/\s/.test(letter)) {
        // Longer than a `+` joins nothing, so there is no need to remember it all.
        between = `${between}${letter}`.slice(0, 2);
        before = wordEnd.test(before) && wordEnd.test(letter) ? `${before}${letter}`.slice(-10) : letter;
      }
      position += 1;
    }
  }
  return position;
}

const wordEnd = /\w$/;

function addText(texts: string[], text: string, isJoined: boolean): void {
  if (isJoined) texts.push(`${texts.pop() ?? ""}${text}`);
  else texts.push(text);
}

function endOfComment(source: string, start: number): number {
  const isLine = source.charAt(start + 1) === "/";
  const end = source.indexOf(isLine ? "\n" : "*/", start + 2);
  if (end === -1) return source.length;
  return isLine ? end : end + 2;
}

/** A slash divides after a value, and starts a regular expression elsewhere. */
function startsRegExp(before: string): boolean {
  if (/^(return|typeof|case|in|of|void|delete)$/.test(before)) return true;
  return before === "" || "(,=:[!&|?{};+-*%<>~^".includes(before);
}

/** A regular expression ends on its line; one that does not was none. */
function endOfRegExp(source: string, start: number): number {
  let isClass = false;
  for (let position = start + 1; position < source.length; position += 1) {
    const letter = source.charAt(position);
    if (letter === "\n") return start + 1;
    if (letter === "\\") position += 1;
    else if (letter === "[") isClass = true;
    else if (letter === "]") isClass = false;
    else if (letter === "/" && !isClass) return position + 1;
  }
  return start + 1;
}

interface Literal {
  readonly text: string;
  /** Literals inside the `${…}` of a template. */
  readonly nested: readonly string[];
  readonly end: number;
}

/** A string ends on its line unless the line end is escaped; one that does not is cut there. */
function readString(source: string, start: number): Literal {
  const quote = source.charAt(start);
  let text = "";
  for (let position = start + 1; position < source.length;) {
    const letter = source.charAt(position);
    if (letter === quote) return { text, nested: [], end: position + 1 };
    if (letter === "\n") return { text, nested: [], end: position };
    const next = letter === "\\" ? readEscape(source, position) : { text: letter, end: position + 1 };
    text += next.text;
    position = next.end;
  }
  return { text, nested: [], end: source.length };
}

function readTemplate(source: string, start: number): Literal {
  const nested: string[] = [];
  let text = "";
  for (let position = start + 1; position < source.length;) {
    const letter = source.charAt(position);
    if (letter === "`") return { text, nested, end: position + 1 };
    if (letter === "$" && source.charAt(position + 1) === "{") {
      position = scanCode(source, position + 2, { texts: nested, endsAtBrace: true });
      text += " ";
      continue;
    }
    const next = letter === "\\" ? readEscape(source, position) : { text: letter, end: position + 1 };
    text += next.text;
    position = next.end;
  }
  return { text, nested, end: source.length };
}

const shortEscapes: ReadonlyMap<string, string> = new Map([
  ["n", "\n"],
  ["t", "\t"],
  ["r", "\r"],
  ["b", "\b"],
  ["f", "\f"],
  ["v", "\v"],
  ["0", "\0"],
  // The end of a line that is escaped is no part of the text.
  ["\n", ""],
]);

function readEscape(source: string, start: number): { readonly text: string; readonly end: number } {
  const coded = /^\\(?:u\{([0-9a-f]{1,6})\}|u([0-9a-f]{4})|x([0-9a-f]{2}))/i.exec(source.slice(start, start + 10));
  if (coded !== null) {
    const code = Number.parseInt(coded[1] ?? coded[2] ?? coded[3] ?? "", 16);
    return { text: code <= 0x10_ff_ff ? String.fromCodePoint(code) : " ", end: start + coded[0].length };
  }
  const letter = source.charAt(start + 1);
  if (letter === "\r" && source.charAt(start + 2) === "\n") return { text: "", end: start + 3 };
  return { text: shortEscapes.get(letter) ?? letter, end: start + 2 };
}
