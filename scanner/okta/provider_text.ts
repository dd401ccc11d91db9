import { createHash } from "node:crypto";
import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import { isLine, shorten, toLine } from "../../shared/text.ts";
import { ContentError } from "../../shared/usage_error.ts";

/** The body of an answer. */
export interface Body {
  /** `broken`: not JSON at all, or cut off. */
  readonly kind: "json" | "html" | "empty" | "broken";
  /** The JSON; every text in it is sanitized. */
  readonly value: unknown;
  /** The value where it is an object; else empty, for reading error codes. */
  readonly object: JsonObject;
  /** Something in it was nested beyond all reason, and is null. */
  readonly isCut: boolean;
}

/** Deeper than anything the provider sends; what walks a value later may recurse that far. */
const maxBodyDepth = 100;

export function parseBody(body: string): Body {
  const text = body.trim();
  const other = { value: undefined, object: {}, isCut: false };
  if (text === "") return { ...other, kind: "empty" };
  if (text.startsWith("<")) return { ...other, kind: "html" };
  let isCut = false;
  const onTooDeep = () => {
    isCut = true;
  };
  try {
    const options = { pageField: "pageContent", maxDepth: maxBodyDepth, onTooDeep } as const;
    const value = cleanProviderText(JSON.parse(text), options);
    return { kind: "json", value, object: isJsonObject(value) ? value : {}, isCut };
  } catch {
    return { ...other, kind: "broken" };
  }
}

/**
 * Makes text of the provider, a line since it entered, fit for a message: bounded, and without anything that looks like a token, an
 * assertion or a proof, which a server may echo.
 */
export function toSafeText(text: unknown, maxChars = 200): string {
  if (typeof text !== "string") return "";
  const line = text
    .replaceAll(/\beyJ[A-Za-z0-9_-]{5,}(?:\.[A-Za-z0-9_-]*){0,4}/g, "[redacted]")
    .replaceAll(/\b(bearer|dpop)\s+[A-Za-z0-9._~+/-]{16,}=*/gi, "$1 [redacted]")
    .trim();
  return shorten(line, maxChars);
}

/** A path as it may be shown: cursors are long and say nothing. */
export function toShownPath(path: string): string {
  return toSafeText(path.replace(/([?&]after=)[^&]*/, "$1…"), 160);
}

export interface ProviderTextOptions {
  /** The field whose text is a page: long, of several lines, and code in which line breaks have a meaning. */
  readonly pageField: "pageContent" | "content";
  /** The levels of nested lists and objects. Default: 120, so that a file with answers is read again. */
  readonly maxDepth?: number;
  /** Called for each that is deeper, which becomes null. Default: throws `ContentError`. */
  readonly onTooDeep?: () => void;
}

const maxDepth = 120;
/** Longer than any name, description or link of the provider. */
const maxLineLength = 2000;
/** A certificate in base64, an access token. */
const maxLongLength = 65_536;
const longFields = new Set(["access_token", "x5c"]);
/** Length that is still shown of an id that had to be changed. */
const maxShownIdLength = 100;
const nameFields = new Set(["issuer", "subject"]);
const idFields = new Set(["id", "kid", "href", "include", "exclude"]);

/**
 * Sanitizes all text of the provider, and of files that hold such text: changes a value that JSON.parse gave in place, so
 * that every key and string in it is well-formed UTF-16 without NUL. All but pages are one line of bounded length
 * without control characters; what stood there is a blank for white space, and U+FFFD for everything else, so that no two
 * words appear where there was one.
 *
 * Ids are compared, and sent back in paths. An id that had to be changed ends in the hash of the original: different ids stay
 * different, equal ids stay equal, and the blank in it keeps it out of paths (`pathSegment`).
 *
 * Passing twice changes nothing more.
 */
export function cleanProviderText(
  value: unknown,
  { pageField, maxDepth: levels = maxDepth, onTooDeep }: ProviderTextOptions,
): unknown {
  return clean(value, "", levels);

  /** The entries of a list are treated as the field that holds the list; but a list is not a page. */
  function clean(value: unknown, field: string, left: number): unknown {
    if (typeof value === "string") return cleanText(value, field);
    // A number that no double can hold would be null in a saved file, and null means that nothing was set.
    if (value === Infinity || value === -Infinity) return String(value);
    if (typeof value !== "object" || value === null) return value;
    if (left === 0) {
      if (onTooDeep === undefined) throw new ContentError([`it is nested too deep: expected ${levels} levels at most`]);
      onTooDeep();
      return null;
    }
    const object = value as Record<string, unknown>;
    let areKeysClean = true;
    for (const key of Object.keys(object)) {
      const before = object[key];
      const name = !Array.isArray(value) ? key : field === pageField ? "" : field;
      const after = clean(before, name, left - 1);
      // An own key "__proto__" is a key like any other here: JSON.parse made it one.
      if (after !== before) object[key] = after;
      areKeysClean &&= isLine(key, maxLineLength);
    }
    if (areKeysClean) return object;
    return Object.fromEntries(Object.entries(object).map(([key, inner]) => [cleanId(key), inner]));
  }

  function cleanText(text: string, field: string): string {
    if (field === pageField) return text.toWellFormed().replaceAll("\0", "\uFFFD");
    const maxLength = longFields.has(field) ? maxLongLength : maxLineLength;
    if (isLine(text, maxLength)) return text;
    if (idFields.has(field) || field.endsWith("Id")) return cleanId(text);
    return nameFields.has(field) ? cleanDistinguishedName(text) : toCleanLine(text, maxLength);
  }
}

/** A name of X.500, which certificates are printed with in a line for each part: commas part it as well. */
export function cleanDistinguishedName(name: string): string {
  return isLine(name, maxLineLength) ? name : toCleanLine(name.replaceAll(/\r?\n/g, ", "), maxLineLength);
}

function cleanId(text: string): string {
  if (isLine(text, maxLineLength)) return text;
  // As UTF-16, in which lone surrogates differ.
  const hash = createHash("sha256").update(text, "utf16le").digest("hex").slice(0, 32);
  return `${toCleanLine(text, maxShownIdLength)} (sha256 ${hash})`;
}

function toCleanLine(text: string, maxLength: number): string {
  return toLine(shorten(text, maxLength).toWellFormed().replace(invisible, "\uFFFD"), maxLength);
}

/** Characters that `toLine` makes blanks of, except white space. */
const invisible = /(?:(?!\s)[\p{Cc}\u202a-\u202e\u2066-\u2069])+/gu;
