import * as v from "valibot";
import { described, instant, time, type Output } from "../../../shared/schemas/primitives.ts";
import { actorKindSchema, roleSchema, scopeSchema, type Role, type Scope } from "../../../shared/schemas/team.ts";

/** The bodies that tenants, members and API keys are made and changed with, and the audit trail. */

/** A new member's role and a new key's scopes where none are named. */
export const defaultRole: Role = "operator";
export const defaultScopes: readonly Scope[] = ["read", "publish"];

/** Control characters would forge lines of a terminal and of a log. Marks of direction stay: the page isolates each name. */
/* @__NO_SIDE_EFFECTS__ */
export function line(maxLength: number) {
  const message = `expected text of 1 to ${maxLength} characters, without control characters`;
  return v.pipe(
    v.string(message),
    v.minLength(1, message),
    v.maxLength(maxLength, message),
    v.regex(/^[^\u0000-\u001f\u007f-\u009f]*$/, message),
    v.check((value) => value.isWellFormed(), message),
  );
}

/** The name that people give it. */
export const tenantNameSchema = v.strictObject({
  name: v.pipe(
    line(200),
    v.check((name) => name.trim() !== "", "expected a name that is not blank"),
  ),
});

/** The `sub` claim of a member's tokens. As a segment of a path, every client takes dots alone off the address. */
export const subSchema = v.pipe(line(255), v.regex(/^(?!\.{1,2}$)/, "expected a subject that is not dots alone"));

const role = v.picklist(roleSchema.options, `expected ${roleSchema.options.join(", ")}`);

export const newMemberSchema = v.strictObject({
  sub: subSchema,
  role: described(v.exactOptional(role), "`operator` for a new member; one who is a member keeps theirs"),
});

export const memberUpdateSchema = v.strictObject({ role });

const scopesMessage = `expected one or more of ${scopeSchema.options.join(", ")}, each once`;

export const newApiKeySchema = v.strictObject({
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
  expires_at: described(v.exactOptional(v.nullable(instant), null), "Null: it is valid until it is revoked"),
});

const keyName = described(v.nullable(v.string()), "Of an API key");

export const auditEventSchema = v.object({
  number: described(v.number(), "Rises in the order of writing"),
  created_at: time,
  actor: v.object({
    kind: actorKindSchema,
    id: described(
      v.string(),
      "The token's `sub` or the API key's id; empty for an operator's command and for the gateway itself",
    ),
    name: keyName,
  }),
  action: described(v.string(), "Such as `member.created`"),
  target: v.object({ type: v.string(), id: v.string(), name: keyName }),
  detail: described(
    v.record(v.string(), v.unknown()),
    "What it was made with, or of each field that changed `from` and `to`. Never a secret",
  ),
});

export type AuditEvent = Output<typeof auditEventSchema>;
export type NewMember = Output<typeof newMemberSchema>;
export type NewApiKey = Output<typeof newApiKeySchema>;
