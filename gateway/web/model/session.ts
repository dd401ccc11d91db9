import { ApiError, createApi, fetchJson, type Api } from "./api.ts";
import { toRecord, toText } from "../scan_wire.ts";

/**
 * Who is signed in. The credential lives in this closure and nowhere else: not in storage, not in a URL; a reload
 * forgets it.
 */
export interface Session {
  readonly api: Api;
  readonly tenantName: string | null;
  readonly isDemo: boolean;
}

export interface SessionOptions {
  /** The gateway no longer accepts the credential. */
  readonly onExpired: () => void;
}

const timeoutMs = 15_000;

/** Signs in to a gateway that runs as the demo; `null` when this one does not. Rejects with `ApiError` when it cannot be known. */
export async function openDemoSession(options: SessionOptions, signal: AbortSignal): Promise<Session | null> {
  let credential = await fetchDemoCredential(signal);
  if (credential === null) return null;
  let renewing: Promise<boolean> | null = null;

  async function renew(): Promise<boolean> {
    try {
      credential = await fetchDemoCredential(signal);
      // It is no demo any more.
      if (credential === null) options.onExpired();
      return credential !== null;
    } catch {
      // The call that was refused reports it; the next one asks again.
      return false;
    } finally {
      renewing = null;
    }
  }

  return {
    isDemo: true,
    tenantName: credential.tenantName,
    api: createApi({
      getAuthorization: () => `Bearer ${credential?.accessToken ?? ""}`,
      // Many calls may be refused at once; one new token serves them all.
      onRefused: () => (renewing ??= renew()),
    }),
  };
}

/** Signs in with what a person pasted: an API key, or an access token of the platform. Rejects with `ApiError`. */
export async function openSession(pasted: string, options: SessionOptions, signal: AbortSignal): Promise<Session> {
  const authorization = toAuthorization(pasted);
  let isAccepted = false;
  const api = createApi({
    getAuthorization: () => authorization,
    onRefused: async () => {
      if (isAccepted) options.onExpired();
      return false;
    },
  });
  await api.listScans({ limit: 1, cursor: null, signal });
  isAccepted = true;
  return { api, tenantName: null, isDemo: false };
}

/** Throws `ApiError` for text that cannot be a credential; a whole `Authorization` value may be pasted too. */
export function toAuthorization(pasted: string): string {
  const [, scheme, value = ""] = /^\s*(?:(bearer|api-key)\s+)?(.*?)\s*$/is.exec(pasted) ?? [];
  if (value === "") throw new ApiError(0, "Paste an access token or an API key");
  if (!/^[\x21-\x7e]+$/.test(value)) {
    throw new ApiError(0, "This is neither a token nor a key: it holds spaces or characters that neither has");
  }
  if (scheme !== undefined) return `${scheme.toLowerCase() === "bearer" ? "Bearer" : "Api-Key"} ${value}`;
  // Three parts with dots between them are a JWT (https://www.rfc-editor.org/rfc/rfc7515#section-7.1).
  return `${/^[\w-]+\.[\w-]+\.[\w-]*$/.test(value) ? "Bearer" : "Api-Key"} ${value}`;
}

interface DemoCredential {
  readonly accessToken: string;
  readonly tenantName: string | null;
}

async function fetchDemoCredential(signal: AbortSignal): Promise<DemoCredential | null> {
  try {
    const answer = toRecord(await fetchJson("demo/session", {}, { signal, timeoutMs }));
    const accessToken = toText(answer["access_token"]);
    return accessToken === null ? null : { accessToken, tenantName: toText(answer["tenant_name"]) };
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}
