import { AppError, PermissionDenied } from "../../shared/app_error.ts";
import { lowerCaseUuids } from "../../shared/channel_name.ts";
import type { Scope } from "../../shared/schemas/team.ts";
import type { Permission } from "./permissions.ts";

/** The authenticated caller of a request, and the authority that a stream depends on. */
export interface Principal {
  readonly kind: "user" | "api_key";
  readonly tenantId: string;
  /** The JWT's `sub`, or the API key's id. */
  readonly id: string;
  /** When the authority ends by itself (the JWT's `exp`, the API key's `expires_at`), in milliseconds since the epoch; null: it does not. */
  readonly expiresAtMs: number | null;
  /** Set for a stream token: the SHA-256 of the name of the only stream it opens. */
  readonly onlyStream: string | null;
}

/** A caller and what it is about to do, which its role or scopes are checked for with each statement. */
export interface AllowedPrincipal extends Principal {
  readonly permission: Permission;
}

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
