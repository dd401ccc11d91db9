import { AppError, PermissionDenied } from "../../shared/app_error.ts";
import { lowerCaseUuids } from "../../shared/channel_name.ts";
import type { Scope } from "../../shared/schemas/team.ts";
import type { Principal } from "./principal.ts";

/** The sender of a request, before one of its tenants is chosen. */
export interface Identity extends Omit<Principal, "tenantId"> {
  /** One or more. Of a user: the ones that the token names, whether or not they are a member there. */
  readonly tenantIds: readonly string[];
  /** The user's name in the token, or the API key's; null: none. */
  readonly name: string | null;
  /** An API key's; null: a user's, who has a role in each tenant. */
  readonly scopes: readonly Scope[] | null;
}

/** A person with several tenants names one in this header, with each request. */
export const tenantHeader = "x-tenant-id";

/** Throws `AppError` `malformed` where a tenant has to be named, `PermissionDenied` for one that is not the identity's. */
export function toPrincipal(
  { tenantIds, kind, id, expiresAtMs, onlyStream }: Identity,
  { headers }: Request,
): Principal {
  const [first = "", ...others] = tenantIds;
  const given = headers.get(tenantHeader);
  const named = given === null ? null : lowerCaseUuids(given);
  if (named === null && others.length > 0) {
    throw new AppError(
      "malformed",
      "The token is valid for several tenants: send one of them in the header X-Tenant-Id",
    );
  }
  if (named !== null && !tenantIds.includes(named)) {
    throw new PermissionDenied("The credential is not valid for the tenant in the header X-Tenant-Id");
  }
  return { kind, tenantId: named ?? first, id, expiresAtMs, onlyStream };
}
