// Each organization of a run has its own proxy and time-outs, which Node's fetch cannot take: NODE_USE_ENV_PROXY is of the whole
// process, names no proxy that refuses, and Node 22.19 does not know it.
import { EnvHttpProxyAgent, fetch, Pool, type buildConnector } from "undici";
import type { ConnectionSettings } from "./connection_settings.ts";
import { NetworkError, toNetworkError, toProxyError } from "./network_error.ts";
import { parseBody, type Body } from "./provider_text.ts";

export interface HttpRequest {
  readonly method: "GET" | "POST";
  /** Path and query under the organization's origin. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Body of the token request; no other has one. */
  readonly form?: URLSearchParams;
}

/** A response whose body was read to its end. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

/** A response, and when it arrived by this machine's clock and by the provider's, which only its `Date` shows. */
export interface ReceivedResponse extends HttpResponse {
  readonly receivedAtMs: number;
  readonly providerMs: number | null;
}

export interface HttpTransportOptions extends Pick<ConnectionSettings, "orgUrl" | "timeoutMs" | "proxy"> {
  /** The largest body that is read, after decompression. */
  readonly maxBodyBytes: number;
  /** Default: undici's. */
  readonly fetch?: Fetch | undefined;
}

export type Fetch = typeof fetch;

export const tokenPath = "/oauth2/v1/token";

/** A request that this program must never send: a bug, or an identifier of the provider that would change the path. */
export class ForbiddenRequest extends Error {
  constructor(reason: string) {
    super(`Refused to send a request: ${reason}`);
    this.name = "ForbiddenRequest";
  }
}

/**
 * The only place from which anything is sent to the provider. Reading only (V4): every caller's request is checked by
 * `allowedUrl`. Redirects are responses and are never followed, so no token, proof or assertion reaches another origin.
 */
export function createHttpTransport({
  orgUrl,
  timeoutMs,
  proxy,
  maxBodyBytes,
  fetch: request = fetch,
}: HttpTransportOptions) {
  // Node gives an address 250 ms. A satellite link takes longer, and the other family of addresses may have no route.
  const connect = { timeout: timeoutMs, autoSelectFamilyAttemptTimeout: 2500 };
  /** Null while no request has gone through a proxy. */
  let proxyHost: string | null = null;
  // No separate timeouts below the one on the whole request, so that there is one error for all of them.
  const dispatcher = new EnvHttpProxyAgent({
    httpProxy: "",
    httpsProxy: proxy.httpsProxy ?? "",
    noProxy: proxy.noProxy,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect,
    requestTls: connect,
    proxyTls: connect,
    clientFactory: (address, pool) => openProxy(address, pool, () => (proxyHost = address.host)),
  });
  return { send, close: () => dispatcher.destroy() };

  /** Throws `NetworkError`, `ForbiddenRequest`, or the signal's reason. */
  async function send({ method, path, headers, form }: HttpRequest, signal: AbortSignal): Promise<HttpResponse> {
    const url = allowedUrl({ method, path }, orgUrl);
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      const response = await request(url, {
        method,
        headers: { ...headers, accept: "application/json", "user-agent": "scanstream" },
        redirect: "manual",
        dispatcher,
        signal: AbortSignal.any([signal, timeout]),
        ...(form === undefined ? {} : { body: form }),
      });
      const body = response.body === null ? "" : await readBody(response.body, maxBodyBytes);
      return { status: response.status, headers: cleanHeaders(response.headers), body: parseBody(body) };
    } catch (error) {
      signal.throwIfAborted();
      throw (
        timeout.aborted
          ? new NetworkError("timeout", `no complete answer within ${timeoutMs / 1000} s`)
          : toNetworkError(error, proxy.httpsProxy)
      ).through(proxyHost);
    }
  }
}

/** The pool of connections to the proxy: what fails there names the proxy, not the organization behind it. */
function openProxy(proxy: URL, options: { readonly connect?: buildConnector.connector }, onConnect: () => void): Pool {
  const { connect } = options;
  if (connect === undefined) return new Pool(proxy.origin, options);
  return new Pool(proxy.origin, {
    connect(request, callback) {
      onConnect();
      connect(request, (...result) => {
        const [error] = result;
        if (error === null) callback(...result);
        else callback(toProxyError(error, proxy.host), null);
      });
    },
  });
}

/** GET below the organization's API, and POST to its token endpoint. Throws `ForbiddenRequest` for anything else. */
export function allowedUrl({ method, path }: Pick<HttpRequest, "method" | "path">, orgUrl: string): URL {
  if (!path.startsWith("/") || !URL.canParse(path, orgUrl)) throw new ForbiddenRequest("its path is not a path");
  const url = new URL(path, orgUrl);
  if (url.origin !== orgUrl) throw new ForbiddenRequest("it would leave the organization's origin");
  // "..", "//" and "\" are resolved by the URL parser: a path that they change is not the path that was asked for.
  if (path.split(/[?#]/, 1)[0] !== url.pathname || url.hash !== "") {
    throw new ForbiddenRequest("its path does not mean what it says");
  }
  if (method === "POST" && url.pathname === tokenPath && url.search === "") return url;
  if (
    method === "GET" &&
    /^\/(api\/v1\/.|oauth2\/v1\/clients\/.|\.well-known\/okta-organization$)/.test(url.pathname)
  ) {
    return url;
  }
  throw new ForbiddenRequest("only GET below the API, and POST to the token endpoint, are ever sent");
}

/** Header values are Latin-1: they may hold tabs and C1 controls. The HTTP parser bounds their length. */
function cleanHeaders(headers: Iterable<readonly [string, string]>): Headers {
  return new Headers([...headers].map(([name, value]) => [name, value.replaceAll(/\p{Cc}+/gu, " ")]));
}

async function readBody(stream: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new NetworkError("too_large", `the answer is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}
