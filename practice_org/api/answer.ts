import { randomBytes } from "node:crypto";
import { authorizeCall } from "../auth/authorize_call.ts";
import { faultyAnswer, pageFaultOf, truncated, withNullEntry } from "../http/faulty_answers.ts";
import { answerPage } from "./paging.ts";
import { providerError } from "./provider_errors.ts";
import { findRoute } from "./routes.ts";
import { answerTokenRequest, tokenPath } from "../auth/token_endpoint.ts";
import type { ResourceServer, TokenScheme } from "../auth/authorize_call.ts";
import type { Fault, Faults } from "../http/fault.ts";
import type { App, OrgContents } from "../objects/org_contents.ts";
import type { RateLimits } from "./rate_limits.ts";
import type { Role } from "./call.ts";
import type { Route } from "./routes.ts";
import type { TokenEndpoint } from "../auth/token_endpoint.ts";
import type { Header, PracticeRequest, PracticeResponse } from "../http/body.ts";

/** The org behind its HTTP server. */
export interface Org {
  readonly url: string;
  readonly contents: OrgContents;
  readonly role: Role;
  readonly serviceApp: App;
  readonly scopePrefix: "okta" | "idp";
  readonly tokenEndpoint: TokenEndpoint;
  readonly resourceServer: ResourceServer;
  readonly rateLimits: RateLimits;
  readonly faults: Faults;
  readonly cursorSecret: Uint8Array;
  readonly clock: () => number;
}

/** What the server does with the connection. */
export type Outcome =
  | { readonly kind: "answer"; readonly response: PracticeResponse; readonly delayMs: number }
  /** The head and half of the body are sent, then the connection breaks. */
  | { readonly kind: "cut"; readonly response: PracticeResponse }
  | { readonly kind: "reset" }
  | { readonly kind: "silence" };

const slowMs = 2_000;

export async function answer(org: Org, request: PracticeRequest): Promise<Outcome> {
  const faults = org.faults.take(request.path, request.query);
  const has = (name: Fault["name"]) => faults.some((fault) => fault.name === name);
  if (has("timeout")) return { kind: "silence" };
  if (has("reset")) return { kind: "reset" };
  const nowMs = org.clock();
  const answered = withProviderHeaders(await respond(org, request, faults, nowMs), nowMs);
  const right = has("null-entry") ? withNullEntry(answered) : answered;
  if (has("cut-connection")) return { kind: "cut", response: right };
  const response = has("truncated-json") ? truncated(right) : right;
  return { kind: "answer", response, delayMs: has("slow") ? slowMs : 0 };
}

function respond(
  org: Org,
  request: PracticeRequest,
  faults: readonly Fault[],
  nowMs: number,
): Promise<PracticeResponse> {
  if (request.path === tokenPath) return respondWithToken(org, request, faults, nowMs);
  return respondWithResource(org, request, faults, nowMs);
}

async function respondWithToken(
  org: Org,
  request: PracticeRequest,
  faults: readonly Fault[],
  nowMs: number,
): Promise<PracticeResponse> {
  if (request.method !== "POST") return providerError("E0000022");
  return withinRateLimit(org, "token", nowMs, async () => {
    const faulty = firstFaultyAnswer(org, request, faults, { scheme: "Bearer", scopes: [] }, nowMs);
    return faulty ?? (await answerTokenRequest(org.tokenEndpoint, request, nowMs));
  });
}

async function respondWithResource(
  org: Org,
  request: PracticeRequest,
  faults: readonly Fault[],
  nowMs: number,
): Promise<PracticeResponse> {
  const found = findRoute(request.path);
  // An org that is not the provider's own has no such document; clients tell the scope prefix by it.
  const isHidden = org.scopePrefix === "idp" && request.path === "/.well-known/okta-organization";
  if (found === null || isHidden) return providerError("E0000007");
  if (request.method !== "GET") return providerError("E0000022");
  const { route, segments } = found;
  const scopes = (route.scopes ?? []).map((scope) => `${org.scopePrefix}.${scope}`);
  let scheme: TokenScheme = "Bearer";
  if (route.scopes !== null) {
    const verdict = await authorizeCall(org.resourceServer, request, scopes, nowMs);
    if (!verdict.isAuthorized) return verdict.response;
    scheme = verdict.scheme;
  }
  return withinRateLimit(org, route.bucket, nowMs, () => {
    const faulty = firstFaultyAnswer(org, request, faults, { scheme, scopes }, nowMs);
    if (faulty !== null) return faulty;
    if (route.scopes !== null && org.role === "none") return providerError("E0000006");
    if (org.contents.missingFeatures?.includes(route.path) === true) return providerError("E0000015");
    return answerRoute(org, route, segments, request, faults);
  });
}

function answerRoute(
  org: Org,
  route: Route,
  segments: readonly string[],
  request: PracticeRequest,
  faults: readonly Fault[],
): PracticeResponse {
  const result = route.answer({
    url: org.url,
    contents: org.contents,
    role: org.role,
    clientId: org.tokenEndpoint.client.clientId,
    serviceApp: org.serviceApp,
    query: request.query,
    segments,
  });
  if ("status" in result) return result;
  return answerPage(result, request, { url: org.url, cursorSecret: org.cursorSecret, fault: pageFaultOf(faults) });
}

async function withinRateLimit(
  org: Org,
  bucket: string,
  nowMs: number,
  respondInside: () => PracticeResponse | Promise<PracticeResponse>,
): Promise<PracticeResponse> {
  const { isAdmitted, headers } = org.rateLimits.take(bucket, nowMs);
  const response = isAdmitted ? await respondInside() : providerError("E0000047");
  const own = new Set(response.headers.map(([name]) => name));
  return { ...response, headers: [...response.headers, ...headers.filter(([name]) => !own.has(name))] };
}

function firstFaultyAnswer(
  org: Org,
  request: PracticeRequest,
  faults: readonly Fault[],
  token: { readonly scheme: TokenScheme; readonly scopes: readonly string[] },
  nowMs: number,
): PracticeResponse | null {
  for (const fault of faults) {
    const response = faultyAnswer(fault, { url: org.url, request, ...token, nowMs });
    if (response !== null) return response;
  }
  return null;
}

function withProviderHeaders(response: PracticeResponse, nowMs: number): PracticeResponse {
  const headers: readonly Header[] = [
    ["date", new Date(nowMs).toUTCString()],
    ["x-okta-request-id", randomBytes(16).toString("hex")],
    ["cache-control", "no-cache, no-store"],
  ];
  return { ...response, headers: [...headers, ...response.headers] };
}
