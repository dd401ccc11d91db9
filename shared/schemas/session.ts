import * as v from "valibot";
import { uuid, type Output } from "./primitives.ts";
import { roleSchema, scopeSchema } from "./team.ts";

const tenantSchema = v.object({
  id: uuid("expected a UUID"),
  name: v.string(),
  role: v.nullable(v.pipe(roleSchema, v.description("Of the member; null for an API key"))),
});

export const sessionSchema = v.object({
  kind: v.picklist(["user", "api_key"]),
  id: v.pipe(v.string(), v.description("The token's `sub`, or the API key's id")),
  name: v.nullable(v.string()),
  scopes: v.nullable(v.pipe(v.array(scopeSchema), v.description("Of the API key; null for a member"))),
  expires_at: v.nullable(v.pipe(v.string(), v.isoTimestamp())),
  tenant: v.nullable(v.pipe(tenantSchema, v.description("Null: the token is for several, and none was named"))),
  tenants: v.pipe(v.array(tenantSchema), v.description("Those of the token that the caller is a member of")),
});

export type Session = Output<typeof sessionSchema>;
