import { insufficientScope } from "../auth/authorize_call.ts";
import { providerError } from "../api/provider_errors.ts";
import { rateLimitHeaders } from "../api/rate_limits.ts";
import { tokenPath } from "../auth/token_endpoint.ts";
import { epochSeconds, json, oauthError } from "./body.ts";
import type { TokenScheme } from "../auth/authorize_call.ts";
import type { Fault, FaultName } from "./fault.ts";
import type { PageFault } from "../api/paging.ts";
import type { PracticeRequest, PracticeResponse } from "./body.ts";

export interface FaultyCall {
  readonly url: string;
  readonly request: PracticeRequest;
  readonly scheme: TokenScheme;
  readonly scopes: readonly string[];
  readonly nowMs: number;
}

/** The answer that a fault gives in place of the right one; null for faults of another kind. */
export function faultyAnswer(fault: Fault, call: FaultyCall): PracticeResponse | null {
  return faultyAnswers[fault.name]?.(call) ?? null;
}

const faultyAnswers: Partial<Record<FaultName, (call: FaultyCall) => PracticeResponse>> = {
  // The token endpoint refuses in OAuth's form: the client is outside of the network zone.
  forbidden: ({ request }) =>
    request.path === tokenPath
      ? oauthError(
          403,
          "access_denied",
          "Policy evaluation failed for this request, please check the policy configurations.",
        )
      : providerError("E0000006"),
  "insufficient-scope": ({ url, scheme, scopes, request }) =>
    insufficientScope({ url, scheme, scopes, path: request.path }),
  "invalid-token": () => providerError("E0000011"),
  "not-available": () => providerError("E0000015"),
  "not-found": () => providerError("E0000007"),
  "not-found-empty": () => ({ status: 404, headers: [], body: "" }),
  "server-error": () => providerError("E0000009"),
  unavailable: () => providerError("E0000010"),
  "rate-limit": ({ nowMs }) => providerError("E0000047", { headers: rateLimitHeaders(1, 0, epochSeconds(nowMs) + 1) }),
  html: () => ({ status: 200, headers: [["content-type", "text/html; charset=utf-8"]], body: proxyPage }),
  "wrong-shape": () => json(200, { unexpected: true }),
};

/** `.invalid` never resolves (RFC 2606): nobody receives what a client wrongly sends there. */
const elsewhere = "https://elsewhere.invalid";

export function pageFaultOf(faults: readonly Fault[]): PageFault | null {
  for (const { name, target } of faults) {
    if (name === "second-page-fails" || name === "repeated-cursor") return { name };
    if (name === "next-link-elsewhere") return { name, target: target ?? elsewhere };
  }
  return null;
}

/** JSON that stops in the middle: well-formed HTTP around text that no parser takes. */
export function truncated(response: PracticeResponse): PracticeResponse {
  return { ...response, body: response.body.slice(0, Math.max(1, Math.floor(response.body.length / 2))) };
}

/** A list that begins with null; any other answer as it is. */
export function withNullEntry(response: PracticeResponse): PracticeResponse {
  const list = response.status === 200 ? /^\s*\[\s*/.exec(response.body) : null;
  if (list === null) return response;
  const rest = response.body.slice(list[0].length);
  return { ...response, body: `[null${rest.startsWith("]") ? "" : ","}${rest}` };
}

const proxyPage =
  "<!DOCTYPE html><html><head><title>Sign in to continue</title></head><body>Network sign-in</body></html>";
