/**
 * The texts that a script can show: its string and template literals, unescaped, with those that `+` joins as one.
 * Comments and code are left out. A scanner for finding text, not a parser: it never fails, on any input.
 */
export function textsOfScript(source: string): readonly string[] {
  const scan: Scan = { source, texts: [], noRegExpBefore: 0 };
  scanCode(scan, 0, 0);
  return scan.texts;
}

interface Scan {
  readonly source: string;
  readonly texts: string[];
  /** Up to here no slash starts a regular expression: one that reached the end of its line was none. */
  noRegExpBefore: number;
}

// Deeper than anybody writes; a broken page must not cost the stack.
const maxDepth = 50;

/** Collects the texts from `start` on; returns where the code ends, which inside of a `${…}` is its closing brace. */
function scanCode(scan: Scan, start: number, depth: number): number {
  const { source, texts } = scan;
  let position = start;
  let braces = 0;
  // What stands between the last literal and here: only a `+` joins it with the next.
  let between = "";
  let joinable = -1;
  // The last letter or word of code, which tells a regular expression from a division.
  let before = "";

  while (position < source.length) {
    const letter = source.charAt(position);
    const following = source.charAt(position + 1);
    if (letter === "/" && (following === "/" || following === "*")) {
      position = endOfComment(source, position);
    } else if (letter === '"' || letter === "'" || letter === "`") {
      const index = between === "+" && joinable === texts.length - 1 ? joinable : texts.push("") - 1;
      const literal = letter === "`" ? readTemplate(scan, position, depth) : readString(source, position);
      texts[index] = `${texts[index] ?? ""}${literal.text}`;
      joinable = index;
      between = "";
      before = letter;
      position = literal.end;
    } else {
      const regExpEnd = letter === "/" && startsRegExp(before) ? endOfRegExp(scan, position) : position;
      if (letter === "{") braces += 1;
      if (letter === "}" && depth > 0 && braces === 0) return position + 1;
      if (letter === "}") braces -= 1;
      if (!/\s/.test(letter)) {
        // Longer than a `+` joins nothing, so there is no need to remember it all.
        between = `${between}${letter}`.slice(0, 2);
        before = wordEnd.test(before) && wordEnd.test(letter) ? `${before}${letter}`.slice(-10) : letter;
      }
      position = Math.max(position + 1, regExpEnd);
    }
  }
  return position;
}

const wordEnd = /\w$/;

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

/** A regular expression ends on its line; one that does not was none, and its slash is a letter. */
function endOfRegExp(scan: Scan, start: number): number {
  const { source } = scan;
  if (start < scan.noRegExpBefore) return start;
  let isClass = false;
  let position = start + 1;
  for (; position < source.length && source.charAt(position) !== "\n"; position += 1) {
    const letter = source.charAt(position);
    if (letter === "\\") position += 1;
    else if (letter === "[") isClass = true;
    else if (letter === "]") isClass = false;
    else if (letter === "/" && !isClass) return position + 1;
  }
  scan.noRegExpBefore = position;
  return start;
}

interface Literal {
  readonly text: string;
  readonly end: number;
}

/** A string ends on its line unless the line end is escaped; one that does not is cut there. */
function readString(source: string, start: number): Literal {
  const quote = source.charAt(start);
  let text = "";
  for (let position = start + 1; position < source.length;) {
    const letter = source.charAt(position);
    if (letter === quote) return { text, end: position + 1 };
    if (letter === "\n") return { text, end: position };
    const next = letter === "\\" ? readEscape(source, position) : { text: letter, end: position + 1 };
    text += next.text;
    position = next.end;
  }
  return { text, end: source.length };
}

/** The literals inside of its `${…}` come after it, as texts of their own. */
function readTemplate(scan: Scan, start: number, depth: number): Literal {
  const { source } = scan;
  let text = "";
  for (let position = start + 1; position < source.length;) {
    const letter = source.charAt(position);
    if (letter === "`") return { text, end: position + 1 };
    if (letter === "$" && source.charAt(position + 1) === "{" && depth < maxDepth) {
      position = scanCode(scan, position + 2, depth + 1);
      text += " ";
      continue;
    }
    const next = letter === "\\" ? readEscape(source, position) : { text: letter, end: position + 1 };
    text += next.text;
    position = next.end;
  }
  return { text, end: source.length };
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
