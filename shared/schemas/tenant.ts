import * as v from "valibot";
import { count, fieldMessage, text, time, uuid, type Output } from "./primitives.ts";

/** The tenant of the caller. */
export const tenantSchema = v.object({
  id: uuid(),
  name: v.string(),
  created_at: time,
  retention_days: v.nullable(
    v.pipe(count, v.description("RETENTION_DAYS: what ended longer ago is deleted; null: everything is kept")),
  ),
});

const nameMessage = "expected a name that is not blank, without control characters";

/** The name that people give it. */
export const tenantNameSchema = v.strictObject(
  {
    name: v.pipe(
      text(1, 200),
      // Control characters would also forge lines of a terminal.
      v.regex(/^(?=[^\u0000-\u001f\u007f]*$) *[^ ]/, nameMessage),
    ),
  },
  fieldMessage,
);

export type Tenant = Output<typeof tenantSchema>;
