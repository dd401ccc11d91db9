import * as v from "valibot";
import { AppError } from "../../shared/app_error.ts";
import { bodyTooLarge, readBounded } from "../../shared/read_bounded.ts";
import type { FieldProblem } from "../../shared/schemas/problem.ts";
import { HttpRefusal, InvalidBody } from "./problem.ts";

export interface BodyOptions {
  readonly maxBytes: number;
  /** What an empty body stands for; without it an empty body is broken JSON. */
  readonly whenEmpty?: unknown;
}

/**
 * Reads a JSON body without ever holding more than `maxBytes`. Rejects with `AppError` `too_large` (413) or `malformed`
 * (400), or `HttpRefusal` for a content type that is not JSON (415; none at all is fine).
 */
export async function readJson(request: Request, options: BodyOptions): Promise<unknown> {
  requireJson(request.headers.get("content-type"));
  const bytes = await readBytes(request, options.maxBytes);
  if (bytes.byteLength === 0 && options.whenEmpty !== undefined) return options.whenEmpty;
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    // The parser's own message quotes the body.
    throw new AppError("malformed", "The body is not JSON");
  }
}

/** Checks a parsed body; throws `InvalidBody` with every field that is wrong. An array is no object, at any depth. */
export function parseBody<Schema extends v.GenericSchema>(schema: Schema, body: unknown): v.InferOutput<Schema> {
  const result = v.safeParse(schema, body);
  const problems: FieldProblem[] = [];
  findArraysForObjects(schema, body, "", problems);
  if (result.success && problems.length === 0) return result.output;
  problems.push(...(result.issues ?? []).slice(0, maxReportedFields - problems.length).map(toFieldProblem));
  throw new InvalidBody(problems);
}

/** A body of a thousand wrong findings is not answered with ten thousand lines. */
const maxReportedFields = 20;

/** What a schema is made of, by its kind; a pipe has what its first schema has. */
interface SchemaParts {
  readonly type: string;
  readonly entries?: Readonly<Record<string, v.GenericSchema>>;
  readonly item?: v.GenericSchema;
  readonly value?: v.GenericSchema;
  readonly wrapped?: v.GenericSchema;
}

/** valibot takes an array for an object without required fields, and for a record. */
function findArraysForObjects(schema: v.GenericSchema, value: unknown, pointer: string, found: FieldProblem[]): void {
  const { type, entries, item, value: member, wrapped } = schema as SchemaParts;
  if (found.length >= maxReportedFields) return;
  if (wrapped !== undefined) {
    findArraysForObjects(wrapped, value, pointer, found);
  } else if (Array.isArray(value)) {
    if (entries !== undefined || type === "record") found.push({ pointer, detail: "expected a JSON object" });
    else if (item !== undefined) {
      value.forEach((element, index) => findArraysForObjects(item, element, `${pointer}/${index}`, found));
    }
  } else if (typeof value === "object" && value !== null) {
    const schemas = new Map(Object.entries(entries ?? {}));
    for (const [key, field] of Object.entries(value)) {
      const fieldSchema = type === "record" ? member : schemas.get(key);
      if (fieldSchema !== undefined) findArraysForObjects(fieldSchema, field, pointer + toPointer(key), found);
    }
  }
}

/** One step of a JSON pointer, RFC 6901. */
function toPointer(key: unknown): string {
  return `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1").slice(0, 80)}`;
}

function toFieldProblem(issue: v.BaseIssue<unknown>): FieldProblem {
  return { pointer: (issue.path ?? []).map((item) => toPointer(item.key)).join(""), detail: issue.message };
}

/** Throws `HttpRefusal` for a content type that is not JSON; none at all is fine. */
export function requireJson(contentType: string | null): void {
  if (contentType === null || /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(contentType.trim())) return;
  throw new HttpRefusal("unsupported_media_type", "The body's content type is not JSON: send application/json", {
    accept: "application/json",
  });
}

/** Reads a body of any type, with the same bound and the same refusals. */
export async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
  const declared = Number(request.headers.get("content-length") ?? Number.NaN);
  if (declared > maxBytes) throw bodyTooLarge(maxBytes);
  try {
    // The server below holds the sender to the length it declared, so this cannot become more.
    if (Number.isInteger(declared)) return new Uint8Array(await request.arrayBuffer());
    return await readBounded(request.body, maxBytes);
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError("malformed", "The body ended before it was complete", { cause: error });
  }
}
