import * as v from "valibot";
import { described, type Output } from "../../shared/schemas/primitives.ts";

/** A problem document, https://www.rfc-editor.org/rfc/rfc9457 */
export const problemSchema = v.object({
  type: v.pipe(v.string(), v.metadata({ format: "uri" })),
  title: v.string(),
  status: v.pipe(v.number(), v.integer()),
  detail: v.string(),
  code: v.picklist([
    "malformed",
    "not_authenticated",
    "permission_denied",
    "not_found",
    "method_not_allowed",
    "conflict",
    "too_large",
    "unsupported_media_type",
    "invalid",
    "too_many",
    "internal",
    "unavailable",
  ]),
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
