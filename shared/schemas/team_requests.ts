import * as v from "valibot";
import { fieldMessage, instant, type Output } from "./primitives.ts";
import { defaultScopes, roleSchema, scopeSchema } from "./team.ts";

/** The bodies that members and API keys are made and changed with. */

/** Control characters would forge lines of a terminal and of a log. */
export const line = (maxLength: number) => {
  const message = `expected text of 1 to ${maxLength} characters, without control characters`;
  return v.pipe(
    v.string(message),
    v.minLength(1, message),
    v.maxLength(maxLength, message),
    v.regex(/^[^\u0000-\u001f\u007f]*$/, message),
    v.check((value) => value.isWellFormed(), message),
  );
};

/** The `sub` claim of a member's tokens. As a segment of a path, every client takes dots alone off the address. */
export const subSchema = v.pipe(line(255), v.regex(/^(?!\.{1,2}$)/, "expected a subject that is not dots alone"));

const role = v.picklist(roleSchema.options, `expected ${roleSchema.options.join(", ")}`);

export const newMemberSchema = v.strictObject(
  {
    sub: subSchema,
    role: v.pipe(v.exactOptional(role), v.description("`operator` for a new member; one who is a member keeps theirs")),
  },
  fieldMessage,
);

export const memberUpdateSchema = v.strictObject({ role }, fieldMessage);

const scopesMessage = `expected one or more of ${scopeSchema.options.join(", ")}, each once`;

export const newApiKeySchema = v.strictObject(
  {
    name: line(200),
    scopes: v.exactOptional(
      v.pipe(
        v.array(v.picklist(scopeSchema.options, scopesMessage), scopesMessage),
        v.minLength(1, scopesMessage),
        v.check((scopes) => new Set(scopes).size === scopes.length, scopesMessage),
        v.metadata({ uniqueItems: true }),
      ),
      [...defaultScopes],
    ),
    expires_at: v.pipe(
      v.exactOptional(v.nullable(instant), null),
      v.description("Null: it is valid until it is revoked"),
    ),
  },
  fieldMessage,
);

export type NewMember = Output<typeof newMemberSchema>;
export type NewApiKey = Output<typeof newApiKeySchema>;
