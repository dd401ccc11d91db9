import { randomBytes } from "node:crypto";
import { authorizeCall, type TokenScheme } from "../auth/authorize_call.ts";
import { answerTokenRequest, tokenPath } from "../auth/token_endpoint.ts";
import { providerError, type Header, type PracticeRequest, type PracticeResponse } from "../http/messages.ts";
import type { Outcome } from "../http/server.ts";
import type { OrgContents } from "../contents/org_contents.ts";
import { truncated, withNullEntry, type RequestFaults } from "./faults.ts";
import { answerAdminPage, isAdminPath } from "../admin_page/admin_page.ts";
import { clientActor } from "../log/admins.ts";
import type { Org } from "../org.ts";
import { answerPage } from "./paging.ts";
import type { Endpoint } from "./call.ts";
import { routes } from "./routes.ts";
import { findRoute, type FoundRoute } from "../http/route_table.ts";
import type { Write } from "../writes/write_call.ts";
import { bodyOf, writeRoutes } from "../writes/write_routes.ts";

/** A request that is being answered. */
interface Exchange {
  readonly org: Org;
  readonly request: PracticeRequest;
  readonly faults: RequestFaults;
  readonly nowMs: number;
}

export async function answer(org: Org, request: PracticeRequest): Promise<Outcome> {
  if (isAdminPath(request.path)) {
    return { kind: "answer", response: answerAdminPage(request, org), isAtOnce: true };
  }
  const faults = org.faults.take(request.path, request.query);
  if (faults.has("timeout")) return { kind: "silence" };
  if (faults.has("reset")) return { kind: "reset" };
  const exchange: Exchange = { org, request, faults, nowMs: org.clock() };
  const respond = request.path === tokenPath ? respondWithToken : respondWithResource;
  const answered = withProviderHeaders(await respond(exchange), exchange.nowMs);
  const right = faults.has("null-entry") ? withNullEntry(answered) : answered;
  if (faults.has("cut-connection")) return { kind: "cut", response: right };
  const response = faults.has("truncated-json") ? truncated(right) : right;
  return { kind: "answer", response };
}

async function respondWithToken(exchange: Exchange): Promise<PracticeResponse> {
  const { org, request, nowMs } = exchange;
  if (request.method !== "POST") return providerError("E0000022");
  return withinLimits(exchange, { bucket: "token", scheme: "Bearer", scopes: [] }, () =>
    answerTokenRequest(org, request, nowMs),
  );
}

async function respondWithResource(exchange: Exchange): Promise<PracticeResponse> {
  const { org, request } = exchange;
  if (org.isWritable && request.method !== "GET") {
    // A write that the table does not have is refused.
    const found = findRoute(writeRoutes, `${request.method} ${request.path}`);
    return found === null ? providerError("E0000006") : authorized(exchange, found, write);
  }
  const found = findRoute(routes, request.path);
  if (found === null) return providerError("E0000007");
  return request.method === "GET" ? authorized(exchange, found, read) : providerError("E0000022");
}

async function authorized<Action>(
  exchange: Exchange,
  route: FoundRoute<Action>,
  respond: (exchange: Exchange, route: FoundRoute<Action>, clientId: string) => PracticeResponse,
): Promise<PracticeResponse> {
  const { org, request, nowMs } = exchange;
  const { bucket, scope } = route;
  if (scope === null) {
    const anonymous = { bucket, scheme: "Bearer", scopes: [] } as const;
    return withinLimits(exchange, anonymous, () => respond(exchange, route, org.serviceApp.id));
  }
  const scopes = [`okta.${scope}`];
  const verdict = await authorizeCall(org, request, { scopes, nowMs });
  if (!verdict.isAuthorized) return verdict.response;
  return withinLimits(exchange, { bucket, scheme: verdict.scheme, scopes }, () =>
    respond(exchange, route, verdict.clientId),
  );
}

function read(exchange: Exchange, route: FoundRoute<Endpoint>, clientId: string): PracticeResponse {
  const { org, request, faults, nowMs } = exchange;
  const role = org.callers.get(clientId)?.app.role ?? "none";
  const isReadable = role === "custom" ? isReadableByCustomRole(request.path, request.query) : role !== "none";
  if (route.scope !== null && !isReadable) return providerError("E0000006");
  const whole = org.state.contents();
  const contents = role === "custom" ? inResourceSet(whole) : whole;
  if (contents.missingFeatures?.includes(route.path) === true) return providerError("E0000015");
  const { url, serviceApp, cursorSecret, app } = org;
  const { segments } = route;
  const log = { log: org.log, url, cursorSecret, nowMs, faults };
  const call = { url, contents, role, clientId, serviceApp, app, query: request.query, request, log, segments };
  const result = route.action(call);
  return "status" in result ? result : answerPage(result, request, { url, cursorSecret, faults });
}

function write(
  { org, request }: Exchange,
  { action, segments }: FoundRoute<Write>,
  clientId: string,
): PracticeResponse {
  const caller = org.callers.get(clientId);
  if (caller?.app.role !== "super") return providerError("E0000006");
  const body = bodyOf(request);
  if (body === null) return providerError("E0000003");
  const { result, events } = org.state.edit((draft) => action({ draft, contents: draft.contents, segments, body }));
  if (events.length > 0) {
    org.log.write(events, { actor: clientActor(clientId, caller.label), requestUri: request.path });
  }
  return result;
}

/**
 * The custom admin role that docs/approval.md describes. Okta names these permissions in its permissions catalog. It names none for
 * authenticators, network zones, log streams, the System Log and the org's settings, and it does not say whether
 * `okta.users.apitokens.read` lists the org's tokens or `okta.policies.read` shows automations: the practice org refuses all of them.
 */
const readablePaths: readonly RegExp[] = [
  // okta.apps.read, okta.policies.read, okta.customizations.read, okta.identityProviders.read
  /^\/api\/v1\/(?:apps|policies|brands|idps)(?:\/|$)/,
  // okta.users.read
  /^\/api\/v1\/users(?:\/[^/]+(?:\/groups)?)?$/,
  // okta.groups.read
  /^\/api\/v1\/groups(?:\/[^/]+)?$/,
  // okta.iam.read
  /^\/(?:api\/v1\/iam\/.+|api\/v1\/(?:users|groups)\/[^/]+\/roles|oauth2\/v1\/clients\/[^/]+\/roles)$/,
];

/** True when the custom role may read `path`. First-party apps and their settings are kept from it, as from Read-Only. */
function isReadableByCustomRole(path: string, query: URLSearchParams): boolean {
  if (query.get("type") === "USER_LIFECYCLE") return false;
  return readablePaths.some((pattern) => pattern.test(path));
}

/** The org as the custom role sees it: objects outside its resource set are missing from lists and cannot be found. */
function inResourceSet(contents: OrgContents): OrgContents {
  const outside = new Set(contents.outsideResourceSet);
  return {
    ...contents,
    policies: contents.policies.filter(({ policy }) => !outside.has(policy.id)),
    brands: contents.brands.filter(({ brand }) => !outside.has(brand.id)),
  };
}

/** The right answer, where the rate limit admits the request and no fault gives another. */
async function withinLimits(
  { org, request, faults, nowMs }: Exchange,
  { bucket, ...token }: { readonly bucket: string; readonly scheme: TokenScheme; readonly scopes: readonly string[] },
  respond: () => PracticeResponse | Promise<PracticeResponse>,
): Promise<PracticeResponse> {
  const { isAdmitted, headers } = org.rateLimits.take(bucket, nowMs);
  const response = isAdmitted
    ? (faults.answer({ url: org.url, request, ...token, nowMs }) ?? (await respond()))
    : providerError("E0000047");
  const own = new Set(response.headers.map(([name]) => name));
  return { ...response, headers: [...response.headers, ...headers.filter(([name]) => !own.has(name))] };
}

function withProviderHeaders(response: PracticeResponse, nowMs: number): PracticeResponse {
  const headers: readonly Header[] = [
    ["date", new Date(nowMs).toUTCString()],
    ["x-okta-request-id", randomBytes(16).toString("hex")],
    ["cache-control", "no-cache, no-store"],
  ];
  return { ...response, headers: [...headers, ...response.headers] };
}
