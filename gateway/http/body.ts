import * as v from "valibot";
import { AppError } from "../../shared/app_error.ts";
import { bodyTooLarge, readBounded } from "../../shared/read_bounded.ts";
import type { FieldProblem } from "../../shared/schemas/problem.ts";
import { accountOf } from "../limits.ts";
import { requireJsonBounds } from "./json_bounds.ts";
import { HttpRefusal, InvalidBody } from "./problem.ts";

export interface BodyOptions {
  readonly maxBytes: number;
  /** The value that an empty body stands for; without it an empty body is broken JSON. */
  readonly whenEmpty?: unknown;
}

/**
 * Reads a JSON body without ever holding more than `maxBytes`. Rejects with `AppError` `too_large` (413) or `malformed`
 * (400), or `HttpRefusal` for a content type that is not JSON (415; none at all is fine).
 */
export async function readJson(request: Request, options: BodyOptions): Promise<unknown> {
  requireJson(request.headers);
  const bytes = await readBytes(request, options.maxBytes);
  if (bytes.byteLength === 0 && options.whenEmpty !== undefined) return options.whenEmpty;
  requireJsonBounds(bytes);
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    // The parser's own message quotes the body.
    throw new AppError("malformed", "The body is not JSON");
  }
}

/**
 * Checks a parsed body; throws `InvalidBody` with the fields that are wrong, whose pointers begin with `pointer`. An array is no
 * object, at any depth. What is refused costs no more than what is taken: a list that is too long is not looked into, and of a
 * large body that is wrong only the first field is named.
 */
export function parseBody<Schema extends v.GenericSchema>(
  schema: Schema,
  body: unknown,
  pointer = "",
): v.InferOutput<Schema> {
  const walk: Walk = { problems: [], hasLongList: false, values: 0 };
  look(schema, body, pointer, walk);
  const { problems } = walk;
  if (walk.hasLongList) throw new InvalidBody(problems);
  const first = v.safeParse(schema, body, { abortEarly: true });
  if (first.success && problems.length === 0) return first.output;
  const { issues = [] } = first.success || walk.values > maxValuesForAllProblems ? first : v.safeParse(schema, body);
  problems.push(...issues.slice(0, maxReportedFields - problems.length).map((issue) => toFieldProblem(issue, pointer)));
  throw new InvalidBody(problems);
}

/** A body of a thousand wrong findings is not answered with ten thousand lines. */
const maxReportedFields = 20;
/** All problems of this number of values are found within half a second. */
const maxValuesForAllProblems = 20_000;

/** The parts of a schema, by its kind; a pipe has what its first schema has. */
interface SchemaParts {
  readonly type: string;
  readonly entries?: Readonly<Record<string, v.GenericSchema>>;
  readonly item?: v.GenericSchema;
  readonly value?: v.GenericSchema;
  readonly wrapped?: v.GenericSchema;
  readonly pipe?: readonly { readonly type: string; readonly requirement?: unknown; readonly message?: unknown }[];
}

interface Walk {
  readonly problems: FieldProblem[];
  hasLongList: boolean;
  /** How many were looked at. */
  values: number;
}

/** Finds what valibot does not: an array in the place of an object without required fields or of a record, and in time a list that is too long. */
function look(schema: v.GenericSchema, value: unknown, pointer: string, walk: Walk): void {
  const { type, entries, item, value: member, wrapped, pipe = [] } = schema as SchemaParts;
  const { problems } = walk;
  walk.values += 1;
  if (problems.length >= maxReportedFields) return;
  if (wrapped !== undefined) {
    look(wrapped, value, pointer, walk);
  } else if (Array.isArray(value)) {
    const bound = pipe.find((action) => action.type === "max_length");
    if (entries !== undefined || type === "record") problems.push({ pointer, detail: "expected a JSON object" });
    else if (bound !== undefined && value.length > Number(bound.requirement)) {
      walk.hasLongList = true;
      problems.push({ pointer, detail: String(bound.message) });
    } else if (item !== undefined) {
      for (const [index, element] of value.entries()) look(item, element, `${pointer}/${index}`, walk);
    }
  } else if (typeof value === "object" && value !== null) {
    const fields = value as Readonly<Record<string, unknown>>;
    // A body may have many more keys than its schema.
    for (const key of Object.keys(type === "record" ? fields : (entries ?? {}))) {
      const fieldSchema = type === "record" ? member : entries?.[key];
      if (fieldSchema !== undefined && Object.hasOwn(fields, key))
        look(fieldSchema, fields[key], pointer + toPointer(key), walk);
    }
  }
}

/** One step of a JSON pointer, RFC 6901. */
function toPointer(key: unknown): string {
  return `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1").slice(0, 80)}`;
}

function toFieldProblem(issue: v.BaseIssue<unknown>, base: string): FieldProblem {
  return { pointer: base + (issue.path ?? []).map((item) => toPointer(item.key)).join(""), detail: issue.message };
}

/** Throws `HttpRefusal` for a content type that is not JSON, and for a body that is compressed; no type at all is fine. */
function requireJson(headers: Headers): void {
  const encoding = headers.get("content-encoding")?.trim().toLowerCase() ?? "identity";
  if (encoding !== "identity" && encoding !== "") {
    throw new HttpRefusal("unsupported_media_type", "The body is compressed: send it without Content-Encoding", {
      accept: "application/json",
      "accept-encoding": "identity",
    });
  }
  const contentType = headers.get("content-type");
  if (contentType === null || /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(contentType.trim())) return;
  throw new HttpRefusal("unsupported_media_type", "The body's content type is not JSON: send application/json", {
    accept: "application/json",
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
