import * as v from "valibot";
import type { ErrorCode } from "../../shared/app_error.ts";
import { described, type Output } from "../../shared/schemas/primitives.ts";

export const problemKinds = {
  malformed: { status: 400, title: "Malformed request" },
  not_authenticated: { status: 401, title: "Not authenticated" },
  permission_denied: { status: 403, title: "Not permitted" },
  not_found: { status: 404, title: "Not found" },
  method_not_allowed: { status: 405, title: "Method not allowed" },
  conflict: { status: 409, title: "Conflict" },
  too_large: { status: 413, title: "Too large" },
  unsupported_media_type: { status: 415, title: "Unsupported media type" },
  invalid: { status: 422, title: "Invalid" },
  too_many: { status: 429, title: "Too many" },
  internal: { status: 500, title: "Internal error" },
  unavailable: { status: 503, title: "Unavailable" },
} as const satisfies Readonly<Record<ErrorCode | "internal", { readonly status: number; readonly title: string }>>;

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
