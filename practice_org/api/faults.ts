import { insufficientScope, type TokenScheme } from "../auth/authorize_call.ts";
import {
  providerError,
  epochSeconds,
  json,
  oauthError,
  type PracticeRequest,
  type PracticeResponse,
} from "../http/messages.ts";
import { rateLimitHeaders } from "../http/rate_limits.ts";
import { tokenPath } from "../auth/token_endpoint.ts";

/** The faults that can be set, each with what the client then sees. */
export const faultNames = {
  forbidden: "403 E0000006: the admin role is missing",
  "insufficient-scope": "403 with an empty body: the token lacks the scope",
  "invalid-token": "401 E0000011: the token is no longer accepted",
  "not-available": "401 E0000015: the feature is not enabled in this org",
  "not-found": "404 E0000007",
  "server-error": "500 E0000009",
  "rate-limit": "429 E0000047, however long one waits",
  html: "200 with a web page instead of JSON, as a proxy answers",
  "truncated-json": "200 with JSON that stops in the middle",
  "wrong-shape": "200 with JSON of an undocumented shape",
  "null-entry": "200 with null as the first entry of a list",
  "cut-connection": "the connection breaks in the middle of the answer",
  timeout: "no answer at all",
  reset: "the connection is reset",
  "second-page-fails": "500 on every page but the first",
  "next-link-elsewhere": "the link to the next page leads to another host",
  "repeated-cursor": "the link to the next page leads to the same page again",
  "empty-log-page": "the log answers an empty page with a link to go on, though it has events",
  "doubled-log-page": "the log answers each event twice",
  "log-cursor-lost": "400 E0000029 where a request goes on from an earlier page of the log",
  "duplicate-events": "each event is persisted twice, with the same uuid",
  "missing-events": "changes are made, and the log has no event of them",
  "unknown-event-type": "events of a change have a type that is documented nowhere",
  "event-without-target": "events of a change name no target",
} as const;

export type FaultName = keyof typeof faultNames;

export interface Fault {
  readonly name: FaultName;
  /**
   * Path of the requests that it hits: `/api/v1/zones` and all that is below it; `*` stands for any one segment, a closing `$`
   * leaves out what is below, `?type=PASSWORD` asks for that parameter. Default: all of `/api/v1`.
   */
  readonly path?: string;
  /** How many requests it hits. Default: all. */
  readonly times?: number;
  /** Origin that `next-link-elsewhere` leads to. */
  readonly target?: string;
}

/** These go wrong when an event is written; the path of such a fault means nothing. */
const writingFaults = new Set<FaultName>([
  "duplicate-events",
  "missing-events",
  "unknown-event-type",
  "event-without-target",
]);

const form = /^([a-z-]+)(?:\*([0-9]+))?(?::(.*))?$/;

/** `NAME`, `NAME:PATH` or `NAME*TIMES:PATH`, such as `forbidden:/api/v1/zones`. Throws a `RangeError` that names what is expected. */
export function parseFault(text: string): Fault {
  const [, name = "", times, path] = form.exec(text) ?? [];
  if (!isFaultName(name)) {
    throw new RangeError(`"${text}": expected NAME or NAME:PATH, NAME one of ${Object.keys(faultNames).join(", ")}`);
  }
  if (path !== undefined && !/^\/[^\s]*$/.test(path)) {
    throw new RangeError(`"${text}": expected a path that begins with /, such as ${name}:/api/v1/zones`);
  }
  if (times !== undefined && !(Number(times) >= 1 && Number(times) <= 1_000_000)) {
    throw new RangeError(`"${text}": expected a number of times from 1 to 1000000`);
  }
  return {
    name,
    ...(path === undefined ? {} : { path }),
    ...(times === undefined ? {} : { times: Number(times) }),
  };
}

function isFaultName(text: string): text is FaultName {
  return Object.hasOwn(faultNames, text);
}

export interface Faults {
  /** Replaces all that are set. Counts of `times` start again. */
  set(faults: readonly Fault[]): void;
  /** The faults that hit this request; each counts as used. */
  take(path: string, query: URLSearchParams): RequestFaults;
  /** The faults that hit the events of one change; each counts as used. */
  takeForChange(): readonly FaultName[];
}

export function createFaults(initial: readonly Fault[]): Faults {
  let current: { readonly fault: Fault; left: number }[] = [];
  const set = (faults: readonly Fault[]) => {
    current = faults.map((fault) => ({ fault, left: fault.times ?? Number.POSITIVE_INFINITY }));
  };
  set(initial);
  const takeWhere = (isWanted: (fault: Fault) => boolean): readonly Fault[] => {
    const hit = current.filter(({ fault, left }) => left > 0 && isWanted(fault));
    for (const entry of hit) entry.left -= 1;
    return hit.map(({ fault }) => fault);
  };
  return {
    set,
    take: (path, query) =>
      requestFaults(takeWhere((fault) => !writingFaults.has(fault.name) && isHit(fault, path, query))),
    takeForChange: () => takeWhere(({ name }) => writingFaults.has(name)).map(({ name }) => name),
  };
}

function isHit(fault: Fault, path: string, query: URLSearchParams): boolean {
  const [pattern = "", wantedQuery = ""] = (fault.path ?? "/api/v1").split("?");
  for (const [name, value] of new URLSearchParams(wantedQuery)) {
    if (query.get(name) !== value) return false;
  }
  const isExact = pattern.endsWith("$");
  const wanted = pattern.replace(/\/?\$?$/, "").split("/");
  const asked = path.split("/");
  if (isExact ? asked.length !== wanted.length : asked.length < wanted.length) return false;
  return wanted.every((segment, index) => segment === "*" || segment === asked[index]);
}

export interface FaultyCall {
  readonly url: string;
  readonly request: PracticeRequest;
  readonly scheme: TokenScheme;
  readonly scopes: readonly string[];
  readonly nowMs: number;
}

export const faultyAnswers: Partial<Record<FaultName, (call: FaultyCall) => PracticeResponse>> = {
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
  "server-error": () => providerError("E0000009"),
  "rate-limit": ({ nowMs }) => providerError("E0000047", { headers: rateLimitHeaders(1, 0, epochSeconds(nowMs) + 1) }),
  html: () => ({ status: 200, headers: [["content-type", "text/html; charset=utf-8"]], body: proxyPage }),
  "wrong-shape": () => json(200, { unexpected: true }),
};

/** `.invalid` never resolves (RFC 2606): what a client wrongly sends there reaches no host. */
const elsewhere = "https://elsewhere.invalid";

/** The faults that hit one request. */
export interface RequestFaults {
  has(name: FaultName): boolean;
  /** Origin of the links to the next page. */
  linkOrigin(right: string): string;
  /** Answer in place of the right one; null for faults of another kind. */
  answer(call: FaultyCall): PracticeResponse | null;
}

function requestFaults(faults: readonly Fault[]): RequestFaults {
  return {
    has: (name) => faults.some((fault) => fault.name === name),
    linkOrigin(right) {
      const fault = faults.find(({ name }) => name === "next-link-elsewhere");
      return fault === undefined ? right : (fault.target ?? elsewhere);
    },
    answer: (call) => faults.map(({ name }) => faultyAnswers[name]?.(call)).find((one) => one !== undefined) ?? null,
  };
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
