import { randomBytes } from "node:crypto";
import { json } from "../http/body.ts";
import type { Header, PracticeResponse } from "../http/body.ts";

/** Status and words of the provider's own error codes, as recorded. */
const errors = {
  E0000001: { status: 400, summary: "Api validation failed" },
  E0000005: { status: 403, summary: "Invalid session" },
  E0000006: { status: 403, summary: "You do not have permission to perform the requested action" },
  E0000007: { status: 404, summary: "Not found: Resource not found" },
  E0000009: { status: 500, summary: "Internal Server Error" },
  E0000010: { status: 503, summary: "Service is in read only mode" },
  E0000011: { status: 401, summary: "Invalid token provided" },
  E0000015: { status: 401, summary: "You do not have permission to access the feature you are requesting" },
  E0000022: { status: 405, summary: "The endpoint does not support the provided HTTP method" },
  E0000029: { status: 400, summary: "Invalid paging request." },
  E0000031: { status: 400, summary: "Invalid search criteria." },
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

/** The provider names what it did not find, and of which kind. */
export function notFound(id: string, kind: string): PracticeResponse {
  return providerError("E0000007", { summary: `Not found: Resource not found: ${id} (${kind})` });
}
