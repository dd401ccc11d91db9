import { hash } from "node:crypto";
import { faultyAnswers, truncated, withNullEntry } from "../../practice_org/api/faults.ts";
import { routes } from "../../practice_org/api/routes.ts";
import { findRoute } from "../../practice_org/http/route_table.ts";
import type { PracticeResponse } from "../../practice_org/http/messages.ts";
import { createRandom } from "../support/random.ts";
import { json, orgUrl, tokenPath, type Answer } from "./answers.ts";
import type { RecordedOrg } from "./recorded_orgs.ts";

/** Faults of an answer, as the practice org and so Okta sends them. */
const faultNames = [
  "forbidden",
  "insufficient-scope",
  "invalid-token",
  "not-available",
  "not-found",
  "server-error",
  "rate-limit",
  "html",
  "truncated-json",
  "wrong-shape",
  "null-entry",
  "second-page-fails",
] as const;

export type FaultName = (typeof faultNames)[number];

/** `request` is the path with its query, `right` what the organization would answer, `nowMs` the organization's time. */
export function faultyAnswer(name: FaultName, { request, right, nowMs }: FaultyCall): Answer {
  const [path = "", query = ""] = request.split("?");
  if (name === "truncated-json") return answerOf(truncated(responseOf(right)));
  if (name === "null-entry") return answerOf(withNullEntry(responseOf(right)));
  if (name === "second-page-fails" && !request.includes("after=")) return firstHalf(request, right);
  const scope = findRoute(routes, path)?.scope ?? null;
  const given = {
    method: "GET",
    path,
    query: new URLSearchParams(query),
    headers: new Map<string, string>(),
    body: "",
  };
  const scopes = scope === null ? [] : [`okta.${scope}`];
  const call = { url: orgUrl, request: given, scheme: "Bearer", scopes, nowMs } as const;
  const answer = faultyAnswers[name === "second-page-fails" ? "server-error" : name];
  if (answer === undefined) throw new TypeError(`The practice org has no answer of the fault ${name}`);
  return answerOf(answer(call));
}

/** Every list has two pages, and the second one fails. */
function firstHalf(request: string, right: Answer): Answer {
  const list: unknown = right.status === 200 ? JSON.parse(right.body) : null;
  if (!Array.isArray(list)) return right;
  const next = `<${orgUrl}${request}${request.includes("?") ? "&" : "?"}after=second>; rel="next"`;
  return json(200, list.slice(0, Math.ceil(list.length / 2)), { link: next });
}

function responseOf({ headers, ...answer }: Answer): PracticeResponse {
  return { ...answer, headers: Object.entries(headers) };
}

function answerOf({ headers, ...response }: PracticeResponse): Answer {
  return { ...response, headers: Object.fromEntries(headers) };
}

interface FaultyCall {
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
function withoutCursor(request: string): string {
  return request.replace(/([?&])after=[^&]*&?/, "$1").replace(/[?&]$/, "");
}

/** The path with `*` for each id, and the type of policies: what one endpoint answers. */
function familyOf(request: string): string {
  const [path = "", query = ""] = request.split("?");
  const type = new URLSearchParams(query).get("type");
  const family = path.replace(
    /\/(policies|users|groups|brands|keys|clients|apps|idps)\/(?!credentials\b)[^/]+/,
    "/$1/*",
  );
  return type === null ? family : `${family}?type=${type}`;
}

/** These meet each fault on every family of paths, the token endpoint's too; each other one meets each fault on one path, drawn. */
const thorough = ["compliant/super", "typical/super", "edge/super"];

export function faultsOf({ name, answers }: RecordedOrg): readonly Fault[] {
  const paths = [...answers.keys()].toSorted();
  const random = createRandom(Number.parseInt(hash("sha256", name).slice(0, 8), 16));
  const drawn = [...new Set(paths.map(withoutCursor))].filter((path) => path.startsWith("/api/v1/"));
  const families = thorough.includes(name) ? [...new Set([...paths, tokenPath].map(familyOf))] : [];
  return faultNames.flatMap((fault) => [
    ...families.map((at) => ({ name: fault, at })),
    { name: fault, at: drawn[Math.floor(random() * drawn.length)] ?? "" },
  ]);
}
