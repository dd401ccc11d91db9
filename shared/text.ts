/** Text of a third party (a provider's names, a producer's details), made to fit one line, one column and UTF-8. */

/**
 * Cuts text to at most `maxLength` UTF-16 units, never through a character. A text that was cut ends in "…".
 * Takes time in proportion to `maxLength`, however long the text is.
 */
export function shorten(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  return `${text.slice(0, maxLength - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

/**
 * Text as one line that every reader can carry: well-formed UTF-16 (a lone surrogate becomes U+FFFD), each run of control
 * characters, NUL and line breaks among them, one blank, at most `maxLength` UTF-16 units.
 */
export function toLine(text: string, maxLength: number): string {
  return shorten(text, maxLength).toWellFormed().replace(unprintable, " ");
}

/** True for text that `toLine` would not change: cheaper than calling it, and few texts need it. */
export function isLine(text: string, maxLength: number): boolean {
  return text.length <= maxLength && !unlike.test(text);
}

/** True for text of more bytes in UTF-8. */
export function isLongerThan(text: string, maxBytes: number): boolean {
  // A UTF-16 unit is at most three bytes, so most texts need no encoding to be measured.
  return text.length * 3 > maxBytes && new TextEncoder().encode(text).byteLength > maxBytes;
}

/** True for text that a header can carry; anything else would make `fetch` throw an error that quotes the secret. */
export function isHeaderSafe(secret: unknown): secret is string {
  return typeof secret === "string" && /^[\x21-\x7e]+$/.test(secret);
}

/** Quotes text as one word for a shell, so that a command that people are given can be pasted. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

export function toPrintableJson(value: unknown, indent?: number): string {
  return escapeInvisible(JSON.stringify(value, null, indent));
}

/** JSON whose text cannot steer a terminal or, by `##[name]`, a pipeline: that is escaped, and reads back as it was. */
export function escapeInvisible(json: string): string {
  return json.replace(invisible, (character) =>
    character.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`),
  );
}

/** Line breaks are those of the indentation: inside a string JSON has them escaped. */
const invisible = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|#(?=#\w*\[)/gu;

/** C0 and C1 controls, line and paragraph separators, and the marks that turn the direction of the text after them. */
const unprintable = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu;

/** One of those, or half of a surrogate pair. */
const unlike = /[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;
