import * as v from "valibot";
import { time, uuid, type Output } from "./primitives.ts";

/** Roles of members: `gateway/auth/permissions.ts` says what each may do. */
export const roleSchema = v.picklist(["viewer", "operator", "admin"]);

/** Scopes of API keys; none includes another. */
export const scopeSchema = v.picklist(["read", "publish", "admin"]);

/** The actor: a member, an API key, an operator with the database's credentials, or the gateway by itself. */
export const actorKindSchema = v.picklist(["user", "api_key", "operator", "gateway"]);

export type Role = v.InferOutput<typeof roleSchema>;
export type Scope = v.InferOutput<typeof scopeSchema>;
export type ActorKind = v.InferOutput<typeof actorKindSchema>;

/** A new member's role and a new key's scopes where none are named. */
export const defaultRole: Role = "operator";
export const defaultScopes: readonly Scope[] = ["read", "publish"];

export const memberSchema = v.object({
  sub: v.pipe(v.string(), v.description("The `sub` claim of the member's tokens")),
  role: roleSchema,
  created_at: time,
});

const apiKeyEntries = {
  id: uuid(),
  name: v.string(),
  prefix: v.pipe(v.string(), v.description("The key's first characters, to know it again")),
  scopes: v.array(scopeSchema),
  expires_at: v.nullable(time),
  created_at: time,
};

export const apiKeySchema = v.object({
  ...apiKeyEntries,
  last_used_at: v.pipe(v.nullable(time), v.description("To about a minute; null: never")),
  revoked_at: v.nullable(time),
});

export const createdApiKeySchema = v.object({
  ...apiKeyEntries,
  api_key: v.pipe(v.string(), v.description("The key itself, which is not shown again")),
});

const keyName = v.pipe(v.nullable(v.string()), v.description("Of an API key"));

export const auditEventSchema = v.object({
  number: v.pipe(v.number(), v.description("Rises in the order of writing")),
  created_at: time,
  actor: v.object({
    kind: actorKindSchema,
    id: v.pipe(
      v.string(),
      v.description(
        "The token's `sub` or the API key's id; empty for an operator's command and for the gateway itself",
      ),
    ),
    name: keyName,
  }),
  action: v.pipe(v.string(), v.description("Such as `member.created`")),
  target: v.object({ type: v.string(), id: v.string(), name: keyName }),
  detail: v.pipe(
    v.record(v.string(), v.unknown()),
    v.description("What it was made with, or of each field that changed `from` and `to`. Never a secret"),
  ),
});

export type Member = Output<typeof memberSchema>;
export type ApiKey = Output<typeof apiKeySchema>;
export type CreatedApiKey = Output<typeof createdApiKeySchema>;
export type AuditEvent = Output<typeof auditEventSchema>;
