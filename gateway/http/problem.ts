import * as v from "valibot";
import { AppError, problemKinds } from "../../shared/app_error.ts";
import { described, type Output } from "../../shared/schemas/primitives.ts";
import { FeatureError } from "../streaming/event_stream_definition.ts";

/** A problem document, https://www.rfc-editor.org/rfc/rfc9457 */
export const problemSchema = v.object({
  type: v.pipe(v.string(), v.metadata({ format: "uri" })),
  title: v.string(),
  status: v.pipe(v.number(), v.integer()),
  detail: v.string(),
  code: v.picklist(Object.keys(problemKinds) as readonly (keyof typeof problemKinds)[]),
  errors: described(
    v.exactOptional(
      v.array(
        v.object({
          pointer: described(v.string(), "Where in the body, RFC 6901"),
          detail: v.string(),
        }),
      ),
    ),
    "With `invalid`, when fields of a body can be named",
  ),
});

export type Problem = Output<typeof problemSchema>;
export type FieldProblem = NonNullable<Problem["errors"]>[number];

/** A body whose fields are wrong: 422, each field named. */
export class InvalidBody extends AppError {
  readonly errors: readonly FieldProblem[];

  constructor(errors: readonly FieldProblem[]) {
    const [first] = errors;
    const parts = ["The body is not valid", first?.pointer ?? "", first?.detail ?? ""];
    super("invalid", parts.filter((part) => part !== "").join(": "));
    this.name = "InvalidBody";
    this.errors = errors;
  }
}

/** A body with one wrong field; an empty pointer is the body itself. */
export function invalidField(pointer: string, detail: string): InvalidBody {
  return new InvalidBody([{ pointer, detail }]);
}

/** A known path with another method names the right ones. */
export function methodRefused(method: string, allowed: readonly string[]): AppError {
  const allow = allowed.join(", ");
  const message = `${method} is not a method of this path: use ${allow}`;
  return new AppError("method_not_allowed", message, { headers: { allow } });
}

/** The answer to a request that failed, for any error. Only errors written for the public are quoted. */
export function problemResponse(error: unknown): Response {
  const problem = toProblem(error);
  return new Response(JSON.stringify(problem), { status: problem.status, headers: problemHeaders(problem, error) });
}

/** An error that the response does not explain: a bug, of the gateway or of a feature. For the others the request's own log line says enough. */
export function isUnexpected(error: unknown): boolean {
  if (error instanceof Error && error.cause instanceof FeatureError) return true;
  return !(error instanceof AppError);
}

export function toProblem(error: unknown): Problem {
  if (error instanceof InvalidBody) return { ...problem("invalid", error.message), errors: error.errors };
  if (error instanceof AppError) return problem(error.code, error.message);
  return problem("internal", "Something went wrong here; it was logged");
}

const defaultRetryAfterSeconds = 5;

function problemHeaders(problem: Problem, error: unknown): Headers {
  const own = error instanceof AppError ? error.headers : {};
  const headers = new Headers({ ...own, "content-type": "application/problem+json" });
  if (problem.status === 401) {
    headers.append("www-authenticate", 'Bearer realm="scanstream"');
    headers.append("www-authenticate", 'Api-Key realm="scanstream"');
  }
  if (problem.status === 429 || problem.status === 503) {
    const seconds = error instanceof AppError ? error.retryAfterSeconds : null;
    headers.set("retry-after", String(Math.max(1, Math.ceil(seconds ?? defaultRetryAfterSeconds))));
  }
  return headers;
}

function problem(code: Problem["code"], detail: string): Problem {
  const { status, title } = problemKinds[code];
  return { type: `urn:scanstream:problem:${code}`, title, status, detail, code };
}
