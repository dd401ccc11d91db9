import { errorCode } from "../../shared/error_code.ts";
import { IdpError, type NetworkProblem } from "./idp_error.ts";

/** A request without an HTTP response. The message says what happened, without address details or secrets. */
export class NetworkError extends Error {
  readonly kind: NetworkProblem;
  /** True when the connection led to the proxy, or through it. */
  readonly isOfProxy: boolean;

  constructor(kind: NetworkProblem, message: string, isOfProxy = kind === "proxy") {
    super(message);
    this.name = "NetworkError";
    this.kind = kind;
    this.isOfProxy = isOfProxy;
  }

  /** The same, of a connection that led through this proxy: what failed may be either. */
  through(proxyHost: string | null): NetworkError {
    if (proxyHost === null || this.isOfProxy) return this;
    return new NetworkError(this.kind, `${this.message} (through the proxy ${proxyHost} of HTTPS_PROXY)`, true);
  }

  /** True when a retry may succeed. */
  get isTransient(): boolean {
    return ["dns", "refused", "network", "reset", "timeout"].includes(this.kind);
  }
}

const proxyRefusal = ["proxy", "refused the connection"] as const;
const unknownAuthority = ["tls_untrusted", "its certificate's authority is unknown"] as const;

/** Texts by the code of the innermost error; those of kind `proxy` go on after the proxy's name. */
const kinds: Readonly<Record<string, readonly [NetworkProblem, string]>> = {
  ENOTFOUND: ["dns", "its name does not resolve"],
  EAI_AGAIN: ["network", "its name cannot be resolved at the moment"],
  ECONNREFUSED: ["refused", "the connection was refused"],
  EHOSTUNREACH: ["network", "there is no route to it"],
  ENETUNREACH: ["network", "the network is unreachable"],
  EADDRNOTAVAIL: ["network", "the network is unreachable"],
  ETIMEDOUT: ["timeout", "the connection timed out"],
  UND_ERR_CONNECT_TIMEOUT: ["timeout", "the connection timed out"],
  ECONNRESET: ["reset", "the connection was reset"],
  EPIPE: ["reset", "the connection was reset"],
  UND_ERR_SOCKET: ["reset", "the connection was closed in the middle"],
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: ["reset", "the answer was cut off"],
  UND_ERR_HEADERS_OVERFLOW: ["too_large", "the head of the answer is larger than 16 KiB"],
  UND_ERR_ABORTED: proxyRefusal,
  UND_ERR_INVALID_ARG: proxyRefusal,
  UND_ERR_PRX_TLS: ["proxy", "cannot be reached: the TLS connection failed"],
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: ["tls_failed", "it does not offer TLS 1.2 or 1.3"],
  ERR_SSL_UNSUPPORTED_PROTOCOL: ["tls_failed", "it does not offer TLS 1.2 or 1.3"],
  DEPTH_ZERO_SELF_SIGNED_CERT: ["tls_untrusted", "its certificate is self-signed"],
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  CERT_UNTRUSTED: unknownAuthority,
  CERT_HAS_EXPIRED: ["tls_expired", "its certificate has expired"],
  CERT_NOT_YET_VALID: ["tls_expired", "its certificate is not valid yet"],
  ERR_TLS_CERT_ALTNAME_INVALID: ["tls_name", "its certificate is for another name"],
};

/** Classifies a failed fetch by its innermost code. `httpsProxy`: the proxy's address; its password is not shown. */
export function toNetworkError(error: unknown, httpsProxy: string | null = null): NetworkError {
  for (const cause of causesOf(error)) {
    if (cause instanceof NetworkError) return cause;
    const { name, message } = cause;
    const code = errorCode(cause) ?? "";
    const proxyStatus = /proxy response \((\d+)\)/i.exec(message)?.[1];
    const [kind, text = ""] = proxyStatus === undefined ? (kinds[code] ?? []) : proxyRefusal;
    if (kind === "proxy") {
      const host = httpsProxy === null ? "" : ` ${new URL(httpsProxy).host}`;
      const status = proxyStatus === undefined ? "" : ` with ${proxyStatus}`;
      // A proxy that could not reach the organization may reach it with the next request.
      const problem = Number(proxyStatus) >= 500 ? "network" : kind;
      return new NetworkError(problem, `the proxy${host} of HTTPS_PROXY ${text}${status}`, true);
    }
    if (kind !== undefined) return new NetworkError(kind, text);
    if (/^(Z|ZSTD|ERR__ERROR_FORMAT)_/.test(code))
      return new NetworkError("reset", "the answer cannot be decompressed");
    if (name === "HTTPParserError") return new NetworkError("not_http", "what answered does not speak HTTP");
    if (/^(ERR_SSL|ERR_TLS|EPROTO|CERT_|CRL_|HOSTNAME_)/.test(code) || /\btls\b|ssl routines/i.test(message)) {
      return new NetworkError("tls_failed", "the TLS connection failed");
    }
  }
  return new NetworkError("network", "the connection failed");
}

/** The error of a connection to the proxy at this host, which the organization has no part in. */
export function toProxyError(error: unknown, host: string): NetworkError {
  const { kind, message } = toNetworkError(error);
  return new NetworkError(kind, `the proxy ${host} of HTTPS_PROXY cannot be reached: ${message}`, true);
}

/** The login's error for a request that never reached the organization. */
export function unreachableError({ kind, message, isOfProxy, isTransient }: NetworkError, orgUrl: string): IdpError {
  return new IdpError(isOfProxy && isTransient ? "proxy" : kind, `Cannot reach ${orgUrl}: ${message}`);
}

/** The chain of causes, innermost first, and each attempt of a host with several addresses. */
function causesOf(error: unknown): readonly Error[] {
  if (!(error instanceof Error)) return [];
  const attempts = error instanceof AggregateError ? error.errors.flatMap(causesOf) : [];
  return [...causesOf(error.cause), ...attempts, error];
}
