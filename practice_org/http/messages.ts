import { randomBytes } from "node:crypto";

/** A request as the org sees it, no matter what server received it. */
export interface PracticeRequest {
  readonly method: string;
  /** Without the query, still percent-encoded. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

export interface PracticeResponse {
  readonly status: number;
  /** Pairs, because the provider repeats `link` as lines of their own. */
  readonly headers: readonly Header[];
  readonly body: string;
}

export type Header = readonly [name: string, value: string];

export function json(status: number, body: unknown, headers: readonly Header[] = []): PracticeResponse {
  return { status, headers: [["content-type", "application/json"], ...headers], body: JSON.stringify(body) };
}

/** The form of every refusal of the OAuth endpoints. */
export function oauthError(
  status: number,
  error: string,
  description: string,
  headers: readonly Header[] = [],
): PracticeResponse {
  return json(status, { error, error_description: description }, headers);
}

/** Seconds since the epoch, as tokens and rate limits count. */
export function epochSeconds(nowMs: number): number {
  return Math.floor(nowMs / 1000);
}

/** Status and words of the provider's own error codes, as recorded. */
const errors = {
  E0000001: { status: 400, summary: "Api validation failed" },
  E0000003: { status: 400, summary: "The request body was not well-formed." },
  E0000005: { status: 403, summary: "Invalid session" },
  E0000006: { status: 403, summary: "You do not have permission to perform the requested action" },
  E0000007: { status: 404, summary: "Not found: Resource not found" },
  E0000009: { status: 500, summary: "Internal Server Error" },
  E0000011: { status: 401, summary: "Invalid token provided" },
  E0000015: { status: 401, summary: "You do not have permission to access the feature you are requesting" },
  E0000022: { status: 405, summary: "The endpoint does not support the provided HTTP method" },
  E0000029: { status: 400, summary: "Invalid paging request." },
  E0000031: { status: 400, summary: "Invalid search criteria." },
  E0000053: { status: 400, summary: "Invalid LogEvents query" },
  E0000077: { status: 403, summary: "Cannot modify the priority attribute because it is read-only." },
  E0000047: { status: 429, summary: "API call exceeded rate limit due to too many requests." },
} as const;

export type ProviderErrorCode = keyof typeof errors;

export interface ProviderErrorDetail {
  readonly summary?: string;
  readonly causes?: readonly string[];
  readonly headers?: readonly Header[];
}

export function providerError(code: ProviderErrorCode, detail: ProviderErrorDetail = {}): PracticeResponse {
  const { status, summary } = errors[code];
  return json(
    status,
    {
      errorCode: code,
      errorSummary: detail.summary ?? summary,
      errorLink: code,
      errorId: `oae${randomBytes(16).toString("base64url")}`,
      errorCauses: (detail.causes ?? []).map((errorSummary) => ({ errorSummary })),
    },
    detail.headers,
  );
}

/** 404 with the id and the kind of what was not found. */
export function notFound(id: string, kind: string): PracticeResponse {
  return providerError("E0000007", { summary: `Not found: Resource not found: ${id} (${kind})` });
}

/** 400 for a field or a parameter. */
export function invalid(field: string, problem: string): PracticeResponse {
  return providerError("E0000001", {
    summary: `Api validation failed: ${field}`,
    causes: [`${field}: ${problem}`],
  });
}
