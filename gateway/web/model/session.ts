import { object, string } from "valibot";
import { GatewayRefusal } from "../../../shared/http_refusal.ts";
import { keyMay, rolesOf, type Permission } from "../../auth/permissions.ts";
import { overviewSchema, type Overview } from "../../features/tenant/overview_schema.ts";
import { sessionSchema, type Session as Caller } from "../../http/session_schema.ts";
import { createApi, openRest, type Api } from "./api.ts";
import { SignInError } from "./sign_in/provider.ts";

/** The person or key that is signed in, and the tenant. */
export interface Session {
  readonly credential: Credential;
  readonly api: Api;
  readonly caller: Caller;
  /** Data of the first view, which came with the caller. */
  readonly overview: Overview;
  /** The same person in another of their tenants. */
  switchTenant(tenantId: string): Promise<Session>;
}

/**
 * The secret that opens a session. It lives in a closure and nowhere else: not in storage, not in a URL; a reload forgets it,
 * and leaves nothing behind that somebody else at this machine, or a script of another day, could use.
 */
export interface Credential {
  readonly kind: "demo" | "pasted" | "issuer";
  /** The whole value of the `Authorization` header. */
  readonly authorization: string;
  /** Called when the gateway refused it. `ended`: there is no other one; `undecided`: the next call asks again. */
  renew(): Promise<"renewed" | "ended" | "undecided">;
  /** When it ends unless the person signs in again; null: it is renewed by itself, or nobody knows. */
  readonly endsAtMs: number | null;
  /** Leaves for the issuer, and comes back to what is open. */
  signInAgain?(tenantId: string | null): void;
  /** Ends it here, and at the issuer: then the page is left. */
  signOut?(): void;
  /** Stops renewing it. */
  close?(): void;
}

/** Decides which actions the page offers; the gateway checks each request itself. */
export function mayDo({ tenant, scopes }: Pick<Caller, "tenant" | "scopes">, permission: Permission): boolean {
  const role = tenant?.role ?? null;
  return role === null ? keyMay(permission, scopes ?? []) : rolesOf(permission).includes(role);
}

/** Opens the tenant, or the person's first one. `onExpired` is called when the gateway no longer accepts the credential. Rejects as `RestClient` does. */
export async function openSession(
  credential: Credential,
  tenantId: string | null,
  onExpired: () => void,
): Promise<Session> {
  let isOpen = false;
  const api = createApi({
    getAuthorization: () => credential.authorization,
    tenantId,
    async onRefused() {
      const outcome = await credential.renew();
      if (outcome === "ended" && isOpen) {
        credential.close?.();
        onExpired();
      }
      return outcome === "renewed";
    },
  });
  const switchTenant = (id: string) => openSession(credential, id, onExpired);
  try {
    const overview = await api.get("api/v1/overview", overviewSchema);
    isOpen = true;
    return { credential, api, caller: overview.session, overview, switchTenant };
  } catch (error) {
    if (tenantId !== null || !(error instanceof GatewayRefusal && error.httpStatus === 400)) throw error;
    // A token for several tenants has to name one.
    const [first] = (await api.get("api/v1/session", sessionSchema)).tenants;
    if (first === undefined) throw error;
    return switchTenant(first.id);
  }
}

/** The token of a gateway that runs as the demo; null when this one does not. Rejects as `RestClient` does. */
export async function demoCredential(): Promise<Credential | null> {
  let token = await fetchDemoToken();
  if (token === null) return null;
  return {
    kind: "demo",
    endsAtMs: null,
    get authorization() {
      return `Bearer ${token}`;
    },
    async renew() {
      try {
        token = await fetchDemoToken();
        return token === null ? "ended" : "renewed";
      } catch {
        // The call that was refused reports it.
        return "undecided";
      }
    },
  };
}

async function fetchDemoToken(): Promise<string | null> {
  try {
    return (await openRest().get("demo/session", object({ access_token: string() }))).access_token;
  } catch (error) {
    if (error instanceof GatewayRefusal && error.httpStatus === 404) return null;
    throw error;
  }
}

/** An API key, or an access token of the platform. Throws `SignInError` for text that cannot be a credential; a whole `Authorization` value may be pasted too. */
export function pastedCredential(pasted: string): Credential {
  const [, scheme, value = ""] = /^\s*(?:(bearer|api-key)\s+)?(.*?)\s*$/is.exec(pasted) ?? [];
  if (value === "") throw new SignInError("sign_in", "Paste an access token or an API key");
  if (!/^[\x21-\x7e]+$/.test(value)) {
    throw new SignInError(
      "sign_in",
      "This is neither a token nor a key: it holds spaces or characters that neither has",
    );
  }
  // Three parts with dots between them are a JWT (https://www.rfc-editor.org/rfc/rfc7515#section-7.1).
  const isToken = scheme === undefined ? /^[\w-]+\.[\w-]+\.[\w-]*$/.test(value) : scheme.toLowerCase() === "bearer";
  const authorization = `${isToken ? "Bearer" : "Api-Key"} ${value}`;
  return { kind: "pasted", authorization, endsAtMs: null, renew: async () => "ended" };
}
