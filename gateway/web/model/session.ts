import { overviewSchema, type Overview } from "../../../shared/schemas/overview.ts";
import { sessionSchema, type Session as Caller } from "../../../shared/schemas/session.ts";
import { ApiError, createApi, fetchJson, toRecord, toText, type Api } from "./api.ts";
import { beginSignIn } from "./sign_in/authorization.ts";
import type { Provider } from "./sign_in/provider.ts";
import { keepTokens } from "./sign_in/token_keeper.ts";
import { explainRefusal, explainToken, SignInError, type TokenSet } from "./sign_in/tokens.ts";

/**
 * Who is signed in. The credential lives in this closure and nowhere else: not in storage, not in a URL; a reload
 * forgets it, and leaves nothing behind that somebody else at this machine, or a script of another day, could use.
 */
export interface Session {
  readonly kind: "demo" | "pasted" | "issuer";
  readonly api: Api;
  readonly caller: Caller;
  /** Data of the first view, which came with the caller; null: it has to be read. */
  readonly overview: Overview | null;
  /** When the session ends unless the person signs in again; null: it is renewed by itself, or nobody knows. */
  readonly endsAtMs: number | null;
  /** The same person in another of their tenants. */
  switchTenant(tenantId: string): Promise<Session>;
  /** Leaves for the issuer, and comes back to what is open. */
  signInAgain(): Promise<void>;
  /** Ends it here, and at the issuer: then the page is left. */
  signOut(): void;
  close(): void;
}

export interface SessionOptions {
  /** The gateway no longer accepts the credential. */
  readonly onExpired: () => void;
  /** `endsAtMs` is another one. */
  readonly onChange?: () => void;
}

const timeoutMs = 15_000;

/** Signs in to a gateway that runs as the demo; `null` when this one does not. Rejects with `ApiError` when it cannot be known. */
export async function openDemoSession(options: SessionOptions, signal: AbortSignal): Promise<Session | null> {
  let accessToken = await fetchDemoToken(signal);
  if (accessToken === null) return null;
  let renewing: Promise<boolean> | null = null;

  async function renew(): Promise<boolean> {
    try {
      accessToken = await fetchDemoToken(signal);
      // It is no demo any more.
      if (accessToken === null) options.onExpired();
      return accessToken !== null;
    } catch {
      // The call that was refused reports it; the next one asks again.
      return false;
    } finally {
      renewing = null;
    }
  }

  const api = createApi({
    getAuthorization: () => `Bearer ${accessToken ?? ""}`,
    // Many calls may be refused at once; one new token serves them all.
    onRefused: () => (renewing ??= renew()),
  });
  return { kind: "demo", api, ...(await readFirst(api, signal)), ...nothingToEnd };
}

/** Signs in with what a person pasted: an API key, or an access token of the platform. Rejects with `ApiError`. */
export async function openSession(pasted: string, options: SessionOptions, signal: AbortSignal): Promise<Session> {
  const authorization = toAuthorization(pasted);
  let isAccepted = false;

  async function open(tenantId: string | null): Promise<Session> {
    const api = createApi({
      getAuthorization: () => authorization,
      tenantId,
      onRefused: async () => {
        if (isAccepted) options.onExpired();
        return false;
      },
    });
    const read = await readFirst(api, signal);
    isAccepted = true;
    const [first] = read.caller.tenants;
    if (read.caller.tenant === null && first !== undefined) return open(first.id);
    return { kind: "pasted", api, ...read, ...nothingToEnd, switchTenant: open };
  }

  return open(null);
}

/** Reads caller and first view in one request. A token for several tenants has to name one first, and some keys may not read. */
async function readFirst(api: Api, signal: AbortSignal): Promise<Pick<Session, "caller" | "overview">> {
  try {
    const overview = await api.get("api/v1/overview", overviewSchema, signal);
    return { caller: overview.session, overview };
  } catch (error) {
    if (!(error instanceof ApiError && [400, 403].includes(error.status))) throw error;
    return { caller: await api.get("api/v1/session", sessionSchema, signal), overview: null };
  }
}

/** For sessions that no issuer has a part in. */
const nothingToEnd = {
  endsAtMs: null,
  switchTenant(): Promise<Session> {
    throw new TypeError("Cannot switch the tenant: the session has one only");
  },
  signInAgain: async () => undefined,
  signOut: () => undefined,
  close: () => undefined,
};

/** Goes on with what the issuer gave. Rejects with `SignInError` when the gateway cannot take it, or `ApiError`. */
export async function openIssuerSession(
  {
    provider,
    tokens,
    tenantId,
  }: { readonly provider: Provider; readonly tokens: TokenSet; readonly tenantId: string | null },
  options: SessionOptions,
  signal: AbortSignal,
): Promise<Session> {
  const problem = explainToken(tokens, provider);
  if (problem !== null) throw new SignInError("sign_in", problem);
  const keeper = keepTokens(provider, tokens, () => options.onChange?.());
  let isClosed = false;

  const close = () => {
    isClosed = true;
    keeper.close();
  };

  async function onRefused(): Promise<boolean> {
    if (isClosed) return false;
    if (await keeper.renew()) return true;
    // Otherwise it may still be the network: the next call asks again.
    if (keeper.endsAtMs !== null) {
      close();
      options.onExpired();
    }
    return false;
  }

  async function open(chosenId: string | null): Promise<Session> {
    const getAuthorization = () => `Bearer ${keeper.current.accessToken}`;
    const api = createApi({ getAuthorization, tenantId: chosenId, onRefused });
    const read = await readFirst(api, signal);
    const [first] = read.caller.tenants;
    if (read.caller.tenant === null && first !== undefined) return open(first.id);
    const here = read.caller.tenant?.id ?? null;
    return {
      kind: "issuer",
      api,
      ...read,
      get endsAtMs() {
        return keeper.endsAtMs;
      },
      switchTenant: open,
      signInAgain: () => beginSignIn(provider, { returnTo: location.hash, tenantId: here }),
      signOut() {
        close();
        if (provider.endSessionEndpoint !== null) location.assign(toSignOutAddress(provider, keeper.current));
      },
      close,
    };
  }

  try {
    // A tenant that was taken from the person in the meantime is no reason to keep them out of the others.
    const remembered = tenantId === null ? null : await open(tenantId).catch(() => null);
    return remembered ?? (await open(null));
  } catch (error) {
    close();
    if (!(error instanceof ApiError && error.status === 403)) throw error;
    throw new SignInError("sign_in", explainRefusal(tokens, provider), { cause: error });
  }
}

/** https://openid.net/specs/openid-connect-rpinitiated-1_0.html */
function toSignOutAddress({ endSessionEndpoint, clientId }: Provider, { idToken }: TokenSet): string {
  const url = new URL(endSessionEndpoint ?? "");
  url.searchParams.set("client_id", clientId);
  url.searchParams.set("post_logout_redirect_uri", new URL(".", document.baseURI).href);
  if (idToken !== null) url.searchParams.set("id_token_hint", idToken);
  return url.href;
}

/** Throws `ApiError` for text that cannot be a credential; a whole `Authorization` value may be pasted too. */
function toAuthorization(pasted: string): string {
  const [, scheme, value = ""] = /^\s*(?:(bearer|api-key)\s+)?(.*?)\s*$/is.exec(pasted) ?? [];
  if (value === "") throw new ApiError(0, "Paste an access token or an API key");
  if (!/^[\x21-\x7e]+$/.test(value)) {
    throw new ApiError(0, "This is neither a token nor a key: it holds spaces or characters that neither has");
  }
  if (scheme !== undefined) return `${scheme.toLowerCase() === "bearer" ? "Bearer" : "Api-Key"} ${value}`;
  // Three parts with dots between them are a JWT (https://www.rfc-editor.org/rfc/rfc7515#section-7.1).
  return `${/^[\w-]+\.[\w-]+\.[\w-]*$/.test(value) ? "Bearer" : "Api-Key"} ${value}`;
}

async function fetchDemoToken(signal: AbortSignal): Promise<string | null> {
  try {
    return toText(toRecord(await fetchJson("demo/session", {}, { signal, timeoutMs }))["access_token"]);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}
