import { openGateway, type RestClient } from "../../../shared/client/gateway_client.ts";

/** The gateway's REST resources with the session's credential. */
export interface Api extends RestClient {
  /** `fetch` with the credential, for an event stream. */
  readonly fetchStream: typeof fetch;
  /** Has an event `forbidden` when an action was refused: the caller's role or scopes are other ones now. */
  readonly refusals: EventTarget;
  /** The gateway's time, as its last answer told it; this machine's clock may be wrong. */
  readonly nowMs: () => number;
}

export interface ApiOptions {
  /** The whole value of the `Authorization` header, asked for each call. */
  readonly getAuthorization: () => string;
  /** Names the tenant of every call, for a credential with several; null: it has one. */
  readonly tenantId: string | null;
  /** Called when the gateway does not accept the credential; resolves true when there is a new one to try with. */
  readonly onRefused: () => Promise<boolean>;
}

const timeoutMs = 20_000;
/** A report has 8 MiB of gzip at most. */
const maxAnswerBytes = 256 * 1_048_576;
/** The date of an answer is in whole seconds. */
const clockToleranceMs = 3000;

/** Paths are relative to the page, so that it also works behind a path of a proxy. */
export function openRest(send: typeof fetch = (input, init) => fetch(input, init)): RestClient {
  return openGateway({ url: document.baseURI, fetch: send, timeoutMs, maxAnswerBytes });
}

export function createApi({ getAuthorization, tenantId, onRefused }: ApiOptions): Api {
  let clockSkewMs = 0;
  const refusals = new EventTarget();

  const fetchAuthorized: typeof fetch = async (input, init) => {
    const open = () => {
      const headers = new Headers(init?.headers);
      headers.set("authorization", getAuthorization());
      if (tenantId !== null) headers.set("x-tenant-id", tenantId);
      return fetch(input, { ...init, headers });
    };
    const sentMs = Date.now();
    const response = await open();
    const dateMs = Date.parse(response.headers.get("date") ?? "");
    // It was written between sending and receiving, unless one of the clocks is wrong.
    const skewMs = dateMs < sentMs ? dateMs - sentMs : Math.max(0, dateMs - Date.now());
    if (!Number.isNaN(skewMs)) clockSkewMs = Math.abs(skewMs) > clockToleranceMs ? skewMs : 0;
    if (response.status === 403 && init?.method !== "GET") refusals.dispatchEvent(new Event("forbidden"));
    return response.status === 401 && (await onRefused()) ? open() : response;
  };

  return {
    ...openRest(fetchAuthorized),
    fetchStream: fetchAuthorized,
    refusals,
    nowMs: () => Date.now() + clockSkewMs,
  };
}

const at = (collection: string) => (id: string) => `api/v1/${collection}/${encodeURIComponent(id)}`;

export const decisionsPath = "api/v1/decisions";
export const toDecisionPath = at("decisions");
export const toScanPath = at("scans");
export const toMonitorPath = at("monitors");
export const toOrganizationPath = at("organizations");
