import type { PracticeRequest, PracticeResponse } from "../http/messages.ts";
import { secret, type Grants, type SignInSession } from "./grants.ts";
import { loginPage, messagePage } from "./login_page.ts";
import { knownScopes, type Person, type SignInOptions } from "./people.ts";

/** The part of the provider that people see: an authorization request, the login page, and the way back with a code. */
export interface AuthorizeEndpoint {
  readonly issuer: string;
  readonly options: SignInOptions;
  readonly grants: Grants;
  /** Requests that wait for a person to sign in, by their transaction. */
  readonly waiting: Map<string, WaitingRequest>;
}

interface WaitingRequest {
  readonly request: AuthorizationRequest;
  /** In a cookie of the browser that has begun it: another one's form is not its own. */
  readonly browser: string;
  readonly expiresAtMs: number;
}

interface AuthorizationRequest {
  readonly redirectUri: string;
  readonly state: string;
  readonly nonce: string | null;
  readonly scopes: readonly string[];
  readonly codeChallenge: string;
  readonly loginHint: string;
}

const waitingMs = 600_000;
const maxWaiting = 1000;
const sessionCookie = "practice_session";
const browserCookie = "practice_browser";

/** RFC 6749 section 4.1.1 with PKCE, https://openid.net/specs/openid-connect-core-1_0.html#AuthRequest */
export function answerAuthorize(
  endpoint: AuthorizeEndpoint,
  request: PracticeRequest,
  nowMs: number,
): PracticeResponse {
  const { query } = request;
  const client = endpoint.options.client;
  const redirectUri = query.get("redirect_uri") ?? "";
  // Never redirected: an address that is not registered is somebody else's.
  if (query.get("client_id") !== client.clientId) {
    return messagePage(400, "Not signed in", "No application has this client_id.");
  }
  if (query.getAll("redirect_uri").length !== 1 || !client.redirectUris.includes(redirectUri)) {
    return messagePage(400, "Not signed in", "The redirect_uri is not registered for the application.");
  }
  const state = query.get("state") ?? "";
  const problem = problemOf(query);
  if (problem !== null) return refuse(endpoint, { redirectUri, state }, ...problem);
  const asked: AuthorizationRequest = {
    redirectUri,
    state,
    nonce: query.get("nonce"),
    scopes: scopesOf(query).filter((scope) => knownScopes.includes(scope)),
    codeChallenge: query.get("code_challenge") ?? "",
    loginHint: query.get("login_hint") ?? "",
  };
  const prompts = promptsOf(query);
  const session = endpoint.grants.findSession(cookieOf(request, sessionCookie), nowMs);
  if (session !== null && !prompts.includes("login")) return grant(endpoint, asked, session, nowMs);
  if (prompts.includes("none")) {
    return refuse(
      endpoint,
      asked,
      "login_required",
      "The client specified not to prompt, but the user is not logged in.",
    );
  }
  const [transaction, browser] = [secret(), secret()];
  endpoint.waiting.set(transaction, { request: asked, browser, expiresAtMs: nowMs + waitingMs });
  const [oldest] = endpoint.waiting.keys();
  if (endpoint.waiting.size > maxWaiting && oldest !== undefined) endpoint.waiting.delete(oldest);
  return withCookie(
    endpoint,
    browserCookie,
    browser,
    showForm(endpoint, { transaction, asked, problem: null, login: asked.loginHint }),
  );
}

/** The login page's form. */
export function answerLogin(endpoint: AuthorizeEndpoint, request: PracticeRequest, nowMs: number): PracticeResponse {
  const form = new URLSearchParams(request.body);
  const transaction = form.get("transaction") ?? "";
  const waiting = endpoint.waiting.get(transaction);
  if (waiting === undefined || waiting.expiresAtMs <= nowMs || waiting.browser !== cookieOf(request, browserCookie)) {
    const text = "This sign-in is over, or was begun in another browser. Go back to the application and begin again.";
    return messagePage(400, "Not signed in", text);
  }
  const { request: asked } = waiting;
  if (form.get("choice") === "cancel") {
    endpoint.waiting.delete(transaction);
    return refuse(endpoint, asked, "access_denied", "User canceled the sign-in.");
  }
  const login = form.get("login") ?? "";
  const person = findPerson(endpoint.options.people, login, form.get("password") ?? "");
  if (person === null) {
    return showForm(endpoint, { transaction, asked, login, problem: "Email and password do not belong together." });
  }
  endpoint.waiting.delete(transaction);
  const session = endpoint.grants.openSession(person, nowMs);
  return withCookie(endpoint, sessionCookie, session.id, grant(endpoint, asked, session, nowMs));
}

/** https://openid.net/specs/openid-connect-rpinitiated-1_0.html */
export async function answerLogout(
  endpoint: AuthorizeEndpoint,
  { query }: PracticeRequest,
  readToken: (token: string) => Promise<Readonly<Record<string, unknown>> | null>,
): Promise<PracticeResponse> {
  const claims = await readToken(query.get("id_token_hint") ?? "");
  const { clientId, postLogoutRedirectUris } = endpoint.options.client;
  if (claims?.["aud"] !== clientId) {
    return messagePage(400, "Not signed out", "The id_token_hint is missing, or is no id token of this application.");
  }
  endpoint.grants.closeSession(String(claims["sid"]));
  const target = query.get("post_logout_redirect_uri");
  const ended = `${sessionCookie}=; Path=${cookiePath(endpoint)}; Max-Age=0; HttpOnly; SameSite=Lax`;
  if (target === null) return messagePage(200, "Signed out", "You can close this page.", [["set-cookie", ended]]);
  if (!postLogoutRedirectUris.includes(target)) {
    const text = "You are signed out. The post_logout_redirect_uri is not registered for the application.";
    return messagePage(400, "Signed out", text, [["set-cookie", ended]]);
  }
  const state = query.get("state");
  return redirect(target, state === null ? {} : { state }, [["set-cookie", ended]]);
}

const oncePerRequest = [
  "client_id",
  "response_type",
  "response_mode",
  "scope",
  "state",
  "nonce",
  "prompt",
  "code_challenge",
  "code_challenge_method",
];

/** Error and description; null: the request can be answered. */
function problemOf(query: URLSearchParams): readonly [error: string, description: string] | null {
  const repeated = oncePerRequest.find((name) => query.getAll(name).length > 1);
  if (repeated !== undefined) return ["invalid_request", `The parameter '${repeated}' is given more than once.`];
  if ((query.get("state") ?? "") === "") return ["invalid_request", "The 'state' parameter is required."];
  if (query.get("response_type") !== "code") {
    return ["unsupported_response_type", "The response type is not supported by the authorization server."];
  }
  if ((query.get("response_mode") ?? "query") !== "query") {
    return ["invalid_request", "The response mode is not supported by the authorization server."];
  }
  if (!scopesOf(query).includes("openid")) return ["invalid_scope", "The scope 'openid' is required."];
  // https://www.rfc-editor.org/rfc/rfc7636#section-4.4.1
  if (query.get("code_challenge_method") !== "S256" || !/^[\w-]{43}$/.test(query.get("code_challenge") ?? "")) {
    return ["invalid_request", "PKCE code challenge is required, with the method S256."];
  }
  const prompts = promptsOf(query);
  if (
    prompts.some((prompt) => !["none", "login"].includes(prompt)) ||
    (prompts.includes("none") && prompts.length > 1)
  ) {
    return ["invalid_request", "The value of 'prompt' is not supported."];
  }
  return null;
}

function scopesOf(query: URLSearchParams): readonly string[] {
  return (query.get("scope") ?? "").split(" ").filter((scope) => scope !== "");
}

function promptsOf(query: URLSearchParams): readonly string[] {
  return (query.get("prompt") ?? "").split(" ").filter((prompt) => prompt !== "");
}

function findPerson(people: readonly Person[], login: string, password: string): Person | null {
  return people.find((person) => person.login === login.trim().toLowerCase() && person.password === password) ?? null;
}

function grant(
  endpoint: AuthorizeEndpoint,
  { redirectUri, state, nonce, scopes, codeChallenge }: AuthorizationRequest,
  { person, id: sessionId, authTimeSeconds }: SignInSession,
  nowMs: number,
): PracticeResponse {
  const code = endpoint.grants.issueCode(
    { person, sessionId, authTimeSeconds, nonce, scopes, redirectUri, codeChallenge },
    nowMs,
  );
  // `iss`: https://www.rfc-editor.org/rfc/rfc9207
  return redirect(redirectUri, { code, state, iss: endpoint.issuer });
}

function refuse(
  { issuer }: AuthorizeEndpoint,
  { redirectUri, state }: Pick<AuthorizationRequest, "redirectUri" | "state">,
  error: string,
  description: string,
): PracticeResponse {
  return redirect(redirectUri, {
    error,
    error_description: description,
    ...(state === "" ? {} : { state }),
    iss: issuer,
  });
}

function redirect(
  address: string,
  parameters: Readonly<Record<string, string>>,
  headers: PracticeResponse["headers"] = [],
): PracticeResponse {
  const url = new URL(address);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return { status: 302, headers: [["location", url.href], ["referrer-policy", "no-referrer"], ...headers], body: "" };
}

interface ShownForm {
  readonly transaction: string;
  readonly asked: AuthorizationRequest;
  readonly login: string;
  readonly problem: string | null;
}

function showForm({ issuer, options }: AuthorizeEndpoint, { asked, ...form }: ShownForm): PracticeResponse {
  const redirectOrigin = new URL(asked.redirectUri).origin;
  return loginPage({ ...form, people: options.people, redirectOrigin }, `${new URL(issuer).pathname}/v1/login`);
}

function cookiePath({ issuer }: AuthorizeEndpoint): string {
  return new URL(issuer).pathname;
}

/** Not `Secure`: the org is on loopback, without TLS. `Lax` is enough for a page on another port of the same machine. */
function withCookie(
  endpoint: AuthorizeEndpoint,
  name: string,
  value: string,
  response: PracticeResponse,
): PracticeResponse {
  const cookie = `${name}=${value}; Path=${cookiePath(endpoint)}; HttpOnly; SameSite=Lax`;
  return { ...response, headers: [...response.headers, ["set-cookie", cookie]] };
}

function cookieOf({ headers }: PracticeRequest, name: string): string | null {
  const pairs = (headers.get("cookie") ?? "").split(";").map((pair) => pair.trim().split("=", 2));
  return pairs.find(([given]) => given === name)?.[1] ?? null;
}
