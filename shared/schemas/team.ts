import * as v from "valibot";

/** What a member may do, each more than the one before: see `gateway/auth/permissions.ts`. */
export const roleSchema = v.picklist(["viewer", "operator", "admin"]);

/** What an API key may do; none includes another. */
export const scopeSchema = v.picklist(["read", "publish", "admin"]);

/** Who acts: a member, an API key, an operator with the database's credentials, or the gateway by itself. */
export const actorKindSchema = v.picklist(["user", "api_key", "operator", "gateway"]);

export type Role = v.InferOutput<typeof roleSchema>;
export type Scope = v.InferOutput<typeof scopeSchema>;
export type ActorKind = v.InferOutput<typeof actorKindSchema>;
