import * as v from "valibot";
import { AppError } from "../../shared/app_error.ts";
import { issueProblem } from "../../shared/issue_text.ts";
import { isJsonObject } from "../../shared/json.ts";
import { bodyTooLarge, readBounded } from "../../shared/read_bounded.ts";
import { InvalidBody, invalidField, type FieldProblem } from "./problem.ts";
import { accountOf } from "../limits.ts";

export interface BodyOptions {
  readonly maxBytes: number;
  /** The value that an empty body stands for; without it an empty body is broken JSON. */
  readonly whenEmpty?: unknown;
}

/**
 * Reads a JSON body without ever holding more than `maxBytes`. Rejects with `AppError` `too_large` (413) or `malformed`
 * (400), or `unsupported_media_type` for a content type that is not JSON (415; none at all is fine).
 */
export async function readJson(request: Request, options: BodyOptions): Promise<unknown> {
  requireJson(request.headers);
  const bytes = await readBytes(request, options.maxBytes);
  if (bytes.byteLength === 0 && options.whenEmpty !== undefined) return options.whenEmpty;
  await accountOf(request).beginBody(bytes.byteLength);
  requireJsonBounds(bytes);
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    // The parser's own message quotes the body.
    throw new AppError("malformed", "The body is not JSON");
  }
}

/** A body of a thousand wrong findings is not answered with ten thousand lines. */
const maxReportedFields = 20;
/** All problems of a body of this length are found within half a second. */
const maxLengthForAllProblems = 65_536;

/**
 * Checks a parsed body, which is a JSON object of scalars and lists of scalars; throws `InvalidBody` with the fields that are wrong,
 * whose pointers begin with `pointer`. Of a large body only the first is named: it is refused for no more than it is taken.
 */
export function parseBody<Schema extends v.GenericSchema>(
  schema: Schema,
  body: unknown,
  pointer = "",
): v.InferOutput<Schema> {
  // For valibot an array is an object as well.
  if (!isJsonObject(body)) throw invalidField(pointer, "expected a JSON object");
  const first = v.safeParse(schema, body, { abortEarly: true });
  if (first.success) return first.output;
  const isLarge = JSON.stringify(body).length > maxLengthForAllProblems;
  const { issues = first.issues } = isLarge ? first : v.safeParse(schema, body);
  throw new InvalidBody(issues.slice(0, maxReportedFields).map((issue) => toFieldProblem(issue, pointer)));
}

/** https://www.rfc-editor.org/rfc/rfc6901 */
function toFieldProblem(issue: v.BaseIssue<unknown>, base: string): FieldProblem {
  const steps = (issue.path ?? []).map(
    ({ key }) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1").slice(0, 80)}`,
  );
  return { pointer: base + steps.join(""), detail: issueProblem(issue) };
}

/** Throws `AppError` for a content type that is not JSON, and for a body that is compressed; no type at all is fine. */
function requireJson(headers: Headers): void {
  const encoding = headers.get("content-encoding")?.trim().toLowerCase() ?? "identity";
  if (encoding !== "identity" && encoding !== "") {
    throw new AppError("unsupported_media_type", "The body is compressed: send it without Content-Encoding", {
      headers: { accept: "application/json", "accept-encoding": "identity" },
    });
  }
  const contentType = headers.get("content-type");
  if (contentType === null || /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(contentType.trim())) return;
  throw new AppError("unsupported_media_type", "The body's content type is not JSON: send application/json", {
    headers: { accept: "application/json" },
  });
}

/** Reads a body of any type, with the same bound and the same refusals. */
export async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const declared = Number(request.headers.get("content-length") ?? Number.NaN);
  if (declared > maxBytes) throw bodyTooLarge(maxBytes);
  const isDeclared = Number.isInteger(declared);
  // Before anything is read: a body that never ends is counted whole.
  accountOf(request).takeBody(isDeclared ? declared : maxBytes);
  try {
    // The server below holds the sender to the length it declared, so this cannot become more.
    if (isDeclared) return new Uint8Array(await request.arrayBuffer());
    return await readBounded(request.body, maxBytes);
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError("malformed", "The body ended before it was complete", { cause: error });
  }
}

/** Deeper than any body of this API. */
const maxDepth = 32;
/** A batch of 500 findings has half of it. */
const maxValues = 50_000;

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;

/**
 * Before it is parsed: a body that is deep, or all brackets, holds the event loop ten times as long as another of its length, and takes
 * up to thirty times its memory. Throws `AppError("too_large")`.
 */
function requireJsonBounds(bytes: Uint8Array): void {
  let depth = 0;
  let values = 1;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === quote) {
      at = endOfString(bytes, at);
    } else if (byte === 0x7b || byte === 0x5b) {
      depth += 1;
      values += 1;
      if (depth > maxDepth) throw new AppError("too_large", `The body is nested deeper than ${maxDepth} levels`);
    } else if (byte === 0x7d || byte === 0x5d) {
      depth -= 1;
    } else if (byte === comma || byte === colon) {
      values += 1;
    }
    if (values > maxValues) throw new AppError("too_large", `The body has more than ${maxValues} values and keys`);
  }
}

/** Returns the place of its closing quote; the end where it has none. */
function endOfString(bytes: Uint8Array, start: number): number {
  for (let at = bytes.indexOf(quote, start + 1); at !== -1; at = bytes.indexOf(quote, at + 1)) {
    let before = at - 1;
    while (bytes[before] === backslash) before -= 1;
    if ((at - before) % 2 === 1) return at;
  }
  return bytes.length;
}
