import * as v from "valibot";
import { AppError } from "../shared/app_error.ts";
import { HttpRefusal, InvalidBody, type FieldProblem } from "./problem.ts";

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

/** Checks a parsed body, which every schema wants to be an object; throws `InvalidBody` with every field that is wrong. */
export function parseBody<Schema extends v.GenericSchema>(schema: Schema, body: unknown): v.InferOutput<Schema> {
  // valibot takes an array for an object without fields.
  if (Array.isArray(body)) throw new InvalidBody([{ pointer: "", detail: "expected a JSON object" }]);
  const result = v.safeParse(schema, body);
  if (result.success) return result.output;
  throw new InvalidBody(result.issues.slice(0, maxReportedFields).map(toFieldProblem));
}

/** A body of a thousand wrong findings is not answered with ten thousand lines. */
const maxReportedFields = 20;

function toFieldProblem(issue: v.BaseIssue<unknown>): FieldProblem {
  const path = (issue.path ?? []).map((item) => String(item.key).replaceAll("~", "~0").replaceAll("/", "~1"));
  const pointer = path.map((key) => `/${key.slice(0, 80)}`).join("");
  return { pointer, detail: issue.message };
}

function requireJson(contentType: string | null): void {
  if (contentType === null || /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(contentType.trim())) return;
  throw new HttpRefusal("unsupported_media_type", "The body's content type is not JSON: send application/json", {
    accept: "application/json",
  });
}

async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
  const declared = Number(request.headers.get("content-length") ?? Number.NaN);
  if (declared > maxBytes) throw tooLarge(maxBytes);
  try {
    // The server below holds the sender to the length it declared, so this cannot become more.
    if (Number.isInteger(declared)) return new Uint8Array(await request.arrayBuffer());
    return await readBounded(request.body, maxBytes);
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError("malformed", "The body ended before it was complete", { cause: error });
  }
}

/** Never holds more than `maxBytes` and one chunk. Rejects with `AppError("too_large")`, and with what reading rejects with. */
export async function readBounded(body: ReadableStream<Uint8Array> | null, maxBytes: number): Promise<Uint8Array> {
  const reader = body?.getReader();
  if (reader === undefined) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.byteLength;
    if (length > maxBytes) {
      void reader.cancel().catch(() => {}); // The refusal is what counts; the sender may be gone already.
      throw tooLarge(maxBytes);
    }
    chunks.push(value);
  }
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return bytes;
}

function tooLarge(maxBytes: number): AppError {
  return new AppError("too_large", `The body is larger than ${maxBytes} bytes`);
}
