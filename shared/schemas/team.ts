import * as v from "valibot";
import { count, described, time, uuid, type Output } from "./primitives.ts";

export const tenantSchema = v.object({
  id: uuid(),
  name: v.string(),
  created_at: time,
  retention_days: v.nullable(
    described(count, "RETENTION_DAYS: what ended longer ago is deleted; null: everything is kept"),
  ),
});

/** Roles of members: `gateway/auth/permissions.ts` says what each may do. */
export const roleSchema = v.picklist(["viewer", "operator", "admin"]);

/** Scopes of API keys; none includes another. */
export const scopeSchema = v.picklist(["read", "publish", "admin"]);

/** The actor: a member, an API key, an operator with the database's credentials, or the gateway by itself. */
export const actorKindSchema = v.picklist(["user", "api_key", "operator", "gateway"]);

export type Role = v.InferOutput<typeof roleSchema>;
export type Scope = v.InferOutput<typeof scopeSchema>;
export type ActorKind = v.InferOutput<typeof actorKindSchema>;

export const memberSchema = v.object({
  sub: described(v.string(), "The `sub` claim of the member's tokens"),
  role: roleSchema,
  created_at: time,
});

const apiKeyEntries = {
  id: uuid(),
  name: v.string(),
  prefix: described(v.string(), "The key's first characters, to know it again"),
  scopes: v.array(scopeSchema),
  expires_at: v.nullable(time),
  created_at: time,
};

export const apiKeySchema = v.object({
  ...apiKeyEntries,
  last_used_at: described(v.nullable(time), "To about a minute; null: never"),
  revoked_at: v.nullable(time),
});

export const createdApiKeySchema = v.object({
  ...apiKeyEntries,
  api_key: described(v.string(), "The key itself, which is not shown again"),
});

export type Tenant = Output<typeof tenantSchema>;
export type Member = Output<typeof memberSchema>;
export type ApiKey = Output<typeof apiKeySchema>;
export type CreatedApiKey = Output<typeof createdApiKeySchema>;
