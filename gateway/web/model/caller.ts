import * as v from "valibot";
import { permissions, type Permission } from "../../auth/permissions.ts";
import { roleSchema, scopeSchema, type Role, type Scope } from "../../../shared/schemas/team.ts";
import type { Api } from "./api.ts";

/** Who is signed in, and what they may: read once, for what the page offers. The gateway checks each request itself. */
export interface Caller {
  readonly kind: "user" | "api_key";
  /** The token's subject, or the API key's id. */
  readonly id: string;
  /** What the token calls the person, or the key's name. */
  readonly name: string | null;
  readonly tenant: { readonly id: string; readonly name: string };
  /** Null: the caller is an API key. */
  readonly role: Role | null;
  /** Null: the caller is a person. */
  readonly scopes: readonly Scope[] | null;
}

const sessionSchema = v.object({
  kind: v.picklist(["user", "api_key"]),
  id: v.string(),
  name: v.nullish(v.string(), null),
  scopes: v.nullable(v.array(scopeSchema)),
  tenant: v.object({ id: v.string(), name: v.string(), role: v.nullable(roleSchema) }),
});

/** Rejects with `ApiError`, or `TypeError` for an answer that is not the gateway's. */
export async function readCaller(api: Api, signal: AbortSignal): Promise<Caller> {
  const result = v.safeParse(sessionSchema, await api.request("GET", "api/v1/session", { signal }));
  if (!result.success) throw new TypeError("Cannot read the session: the answer is not the gateway's");
  const { role, ...tenant } = result.output.tenant;
  return { ...result.output, tenant, role };
}

/** Unknown (null): everything is offered, and what is refused says so. */
export function mayDo(caller: Caller | null, permission: Permission): boolean {
  if (caller === null) return true;
  const { roles, scope }: { readonly roles: readonly Role[]; readonly scope: Scope } = permissions[permission];
  return caller.role === null ? (caller.scopes ?? []).includes(scope) : roles.includes(caller.role);
}
