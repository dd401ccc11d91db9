import { json, orgUrl, tokenPath, type Answer } from "./answers.ts";

/**
 * What goes wrong with an answer, as Okta sends it: statuses, error codes, bodies and headers are recorded ones. `request` is the
 * path with its query, `right` what the organization would answer, `nowMs` the organization's time.
 */
export const faults = {
  /** The admin role is missing; the token endpoint refuses in OAuth's form, as where the client is outside of a network zone. */
  forbidden: ({ request }) =>
    request === tokenPath
      ? json(403, {
          error: "access_denied",
          error_description: "Policy evaluation failed for this request, please check the policy configurations.",
        })
      : providerError(403, "E0000006", "You do not have permission to perform the requested action"),
  "insufficient-scope": ({ request }) => ({
    status: 403,
    headers: { "www-authenticate": challenge(request) },
    body: "",
  }),
  "invalid-token": () => providerError(401, "E0000011", "Invalid token provided"),
  "not-available": () =>
    providerError(401, "E0000015", "You do not have permission to access the feature you are requesting"),
  "not-found": () => providerError(404, "E0000007", "Not found: Resource not found"),
  "server-error": serverError,
  "rate-limit": ({ nowMs }) =>
    providerError(429, "E0000047", "API call exceeded rate limit due to too many requests.", {
      "x-rate-limit-limit": "1",
      "x-rate-limit-remaining": "0",
      "x-rate-limit-reset": String(Math.floor(nowMs / 1000) + 1),
    }),
  /** As a proxy answers. */
  html: () => ({
    status: 200,
    headers: { "content-type": "text/html; charset=utf-8" },
    body: "<!DOCTYPE html><html><head><title>Sign in to continue</title></head><body>Network sign-in</body></html>",
  }),
  "truncated-json": ({ right }) => ({
    ...right,
    body: right.body.slice(0, Math.max(1, Math.floor(right.body.length / 2))),
  }),
  "wrong-shape": () => json(200, { unexpected: true }),
  /** A list that begins with null; any other answer as it is. */
  "null-entry": ({ right }) => ({
    ...right,
    body: right.body.replace(/^\s*\[\s*(\]?)/, (_all, end) => (end === "]" ? "[null]" : "[null,")),
  }),
  /** Every list has two pages, and the second one fails. */
  "second-page-fails": ({ request, right }) => {
    if (request.includes("after=")) return serverError();
    const list: unknown = right.status === 200 ? JSON.parse(right.body) : null;
    if (!Array.isArray(list)) return right;
    const next = `<${orgUrl}${request}${request.includes("?") ? "&" : "?"}after=second>; rel="next"`;
    return json(200, list.slice(0, Math.ceil(list.length / 2)), { link: next });
  },
} as const satisfies Record<string, (call: FaultyCall) => Answer>;

export type FaultName = keyof typeof faults;
export const faultNames = Object.keys(faults) as readonly FaultName[];

export interface FaultyCall {
  readonly request: string;
  readonly right: Answer;
  readonly nowMs: number;
}

/** Which requests meet a fault: all of a family, or one path with its pages. */
export interface Fault {
  readonly name: FaultName;
  readonly at: string;
}

export function isHit({ at }: Fault, request: string): boolean {
  return at === withoutCursor(request) || at === familyOf(request);
}

/** The path without its place in a list of pages. */
export function withoutCursor(request: string): string {
  return request.replace(/([?&])after=[^&]*&?/, "$1").replace(/[?&]$/, "");
}

/** The path with `*` for each id, and the type of policies: what one endpoint answers. */
export function familyOf(request: string): string {
  const [path = "", query = ""] = request.split("?");
  const type = new URLSearchParams(query).get("type");
  const family = path.replace(
    /\/(policies|users|groups|brands|keys|clients|apps|idps)\/(?!credentials\b)[^/]+/,
    "/$1/*",
  );
  return type === null ? family : `${family}?type=${type}`;
}

function serverError(): Answer {
  return providerError(500, "E0000009", "Internal Server Error");
}

function providerError(
  status: number,
  errorCode: string,
  errorSummary: string,
  headers: Answer["headers"] = {},
): Answer {
  return json(
    status,
    { errorCode, errorSummary, errorLink: errorCode, errorId: "oaeReplayed", errorCauses: [] },
    headers,
  );
}

/** The reason of a 403 without a body. Okta writes `http://` here even where it is reached by https. */
function challenge(request: string): string {
  const realm = orgUrl.replace(/^https:/, "http:");
  const path = request.split("?", 1)[0] ?? "";
  const scope = scopes.find(([pattern]) => pattern.test(path))?.[1];
  return [
    `Bearer authorization_uri="${realm}/oauth2/v1/authorize"`,
    `realm="${realm}"`,
    `scope="${scope === undefined ? "" : `okta.${scope}`}"`,
    'error="insufficient_scope"',
    'error_description="The access token provided does not contain the required scopes."',
    `resource="${path}"`,
  ].join(", ");
}

const scopes: readonly (readonly [path: RegExp, scope: string])[] = [
  [/\/roles$|\/iam\//, "roles.read"],
  [/\/(apps|first-party-app-settings)\b/, "apps.read"],
  [/\/policies\b/, "policies.read"],
  [/\/brands\b/, "brands.read"],
  [/\/authenticators\b/, "authenticators.read"],
  [/\/zones\b/, "networkZones.read"],
  [/\/api-tokens\b/, "apiTokens.read"],
  [/\/users\b/, "users.read"],
  [/\/groups\b/, "groups.read"],
  [/\/logStreams\b/, "logStreams.read"],
  [/\/idps\b/, "idps.read"],
];
