import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import type { IdpClient, IdpRequest, Reading } from "./idp_client.ts";
import { IdpError } from "./idp_error.ts";
import { objectIn, parseBody, type ParsedBody } from "./json_answer.ts";
import { parseNextLink } from "./link_header.ts";
import { NetworkError } from "./network_error.ts";
import { missingScope, toMissing, type Missing } from "./refusals.ts";
import type { RoleEvidence } from "./role_evidence.ts";
import { toShownPath } from "./safe_text.ts";
import type { AccessToken } from "./token_endpoint.ts";
import { oauthError } from "./token_errors.ts";
import type { TokenSource } from "./token_source.ts";
import type { ReceivedResponse, RequestSender } from "./request_sender.ts";
import { ForbiddenRequest } from "./http_transport.ts";

export interface HttpIdpClientOptions {
  readonly orgUrl: string;
  readonly transport: RequestSender;
  readonly tokens: TokenSource;
  readonly roleEvidence: RoleEvidence;
  /** `okta` or `idp`: what the provider puts before `.policies.read`. */
  readonly scopePrefix: string;
}

/** More pages than any list of the provider has. */
const maxPages = 1000;
const maxNonceTurns = 2;

/** Reads the provider's API over HTTP; every way in which that fails becomes evidence with its reason (E6, E8). */
export class HttpIdpClient implements IdpClient {
  readonly #options: HttpIdpClientOptions;
  readonly #underWay = new Map<string, Promise<Page>>();
  /** Pages that the probe read, for the collector that asks for them next. */
  readonly #kept = new Map<string, Promise<Page>>();

  constructor(options: HttpIdpClientOptions) {
    this.#options = options;
  }

  async getObject(request: IdpRequest): Promise<Reading<JsonObject>> {
    const page = await this.#read(request);
    if (page.state === "missing") return { state: "missing", partial: null, ...page.missing };
    if (isJsonObject(page.value)) return { state: "obtained", value: page.value };
    return { state: "missing", partial: null, ...notUnderstood(request.path, "is not a JSON object") };
  }

  async getList(request: IdpRequest): Promise<Reading<readonly JsonObject[]>> {
    const reading = await this.#readPages(request);
    if (reading.state === "obtained") this.#options.roleEvidence.noteWholeList(request.path);
    return reading;
  }

  /** Reads the first page and keeps it, so that whoever asks for it next costs no request. */
  async probe(request: IdpRequest): Promise<Missing | null> {
    const page = this.#read(request);
    this.#kept.set(request.path, page);
    const outcome = await page;
    return outcome.state === "missing" ? outcome.missing : null;
  }

  async #readPages(request: IdpRequest): Promise<Reading<readonly JsonObject[]>> {
    const items: JsonObject[] = [];
    const cursors = new Set<string>([cursorOf(request.path)]);
    let unreadable: Missing | null = null;
    let path = request.path;
    for (let pages = 1; ; pages++) {
      const page = await this.#read({ ...request, path });
      if (page.state === "missing") return broken({ items, pages, missing: page.missing });
      if (!Array.isArray(page.value))
        return broken({ items, pages, missing: notUnderstood(path, "is not a JSON array") });
      unreadable = this.#collect(page.value, { ...request, path }, items) ?? unreadable;
      const next = this.#nextPath(page, path);
      if (next.problem !== null) return broken({ items, pages: pages + 1, missing: brokenChain(path, next.problem) });
      if (next.path === null && unreadable !== null) return { state: "missing", partial: items, ...unreadable };
      if (next.path === null) return { state: "obtained", value: items };
      const cursor = cursorOf(next.path);
      const problem = cursors.has(cursor)
        ? "its next link repeats a page that was already read"
        : pages >= maxPages
          ? `its pages do not end after ${maxPages}`
          : null;
      if (problem !== null) return broken({ items, pages: pages + 1, missing: brokenChain(path, problem) });
      cursors.add(cursor);
      path = next.path;
    }
  }

  /** Adds a page's entries to the list. An entry that is no object costs itself: what it would have been, or null. */
  #collect(page: readonly unknown[], { path, keep }: IdpRequest, items: JsonObject[]): Missing | null {
    const entries = page.filter(isJsonObject);
    this.#options.roleEvidence.noteEntries(path, entries);
    for (const entry of entries) items.push(keep === undefined ? entry : keep(entry));
    return entries.length === page.length ? null : notUnderstood(path, "holds something that is not a JSON object");
  }

  #read(request: IdpRequest): Promise<Page> {
    const kept = this.#kept.get(request.path);
    if (kept !== undefined) {
      this.#kept.delete(request.path);
      return kept;
    }
    const shared = this.#underWay.get(request.path);
    if (shared !== undefined) return shared;
    const page = this.#fetchPage(request).finally(() => this.#underWay.delete(request.path));
    this.#underWay.set(request.path, page);
    return page;
  }

  async #fetchPage(request: IdpRequest): Promise<Page> {
    const scope = `${this.#options.scopePrefix}.${request.scope}`;
    if (!this.#options.tokens.granted.includes(scope)) {
      return toPage({ ...missingScope(`GET ${toShownPath(request.path)} was not asked for`, scope), refusal: unasked });
    }
    try {
      const answer = await this.#get(request.path);
      const parsed = answer.status === 200 ? parseBody(answer.body) : null;
      this.#note(request.path, answer, parsed);
      if (parsed === null) return toPage(toMissing(answer, request, scope));
      if (parsed.kind !== "json") return toPage(notJson(request.path, parsed.kind));
      return { state: "page", value: parsed.value, link: answer.headers.get("link") };
    } catch (error) {
      return toPage(failed(request.path, error));
    }
  }

  /** One GET, with a new nonce or a new token where the provider asks for it. */
  async #get(path: string): Promise<ReceivedResponse> {
    const { orgUrl, transport, tokens } = this.#options;
    let nonceTurns = 0;
    let hasRenewed = false;
    for (;;) {
      let token: AccessToken | null = null;
      const prepare = async () => {
        token = await tokens.current();
        return { headers: await tokens.authorize(token, orgUrl + path) };
      };
      const answer = await transport.send({ method: "GET", path, prepare });
      tokens.noteNonce(answer);
      if (asksForNonce(answer) && nonceTurns++ < maxNonceTurns) continue;
      if (isTokenRefused(answer) && !hasRenewed && token !== null) {
        hasRenewed = true;
        if (await tokens.replace(token)) continue;
      }
      return answer;
    }
  }

  #note(path: string, answer: ReceivedResponse, parsed: ParsedBody | null): void {
    const code = objectIn(parsed === null ? answer.body : "")["errorCode"];
    const errorCode = typeof code === "string" ? code : null;
    this.#options.roleEvidence.note({ path, status: answer.status, errorCode });
  }

  /** The next page's path, which stays on the organization's origin; or why there is no telling. */
  #nextPath(page: ReadPage, path: string): { readonly path: string | null; readonly problem: string | null } {
    const link = parseNextLink(page.link);
    if (link.kind === "none") return { path: null, problem: null };
    const base = new URL(path, this.#options.orgUrl);
    if (link.kind === "broken" || !URL.canParse(link.target, base)) {
      return { path: null, problem: "its next link cannot be read" };
    }
    const url = new URL(link.target, base);
    // Below another base such a path is a host.
    if (url.pathname.startsWith("//")) return { path: null, problem: "its next link cannot be read" };
    if (url.origin === this.#options.orgUrl && url.username === "" && url.password === "") {
      return { path: url.pathname + url.search, problem: null };
    }
    const where = url.origin === "null" ? "elsewhere" : `to ${url.origin}`;
    return { path: null, problem: `its next link leads ${where}, away from the organization, and is not followed` };
  }
}

interface ReadPage {
  readonly state: "page";
  readonly value: unknown;
  /** The `Link` header. */
  readonly link: string | null;
}

type Page = ReadPage | { readonly state: "missing"; readonly missing: Missing };

/** Nothing was answered. */
const unasked = { httpStatus: null, errorCode: null };

function toPage(missing: Missing): Page {
  return { state: "missing", missing };
}

interface BrokenList {
  readonly items: readonly JsonObject[];
  /** The number of the page that failed, from 1. */
  readonly pages: number;
  readonly missing: Missing;
}

function broken({ items, pages, missing }: BrokenList): Reading<readonly JsonObject[]> {
  if (pages === 1) return { state: "missing", partial: null, ...missing };
  const detail = `${missing.detail} (page ${pages} of a list; ${items.length} entries before it were read)`;
  return { state: "missing", partial: items, ...missing, detail };
}

function brokenChain(path: string, problem: string): Missing {
  const detail = `GET ${toShownPath(path)} answered 200, but ${problem}`;
  return { reason: "provider_error", detail, refusal: { httpStatus: 200, errorCode: null } };
}

function notUnderstood(path: string, what: string): Missing {
  const detail = `GET ${toShownPath(path)} answered 200, but its body ${what}, so it is not understood`;
  return { reason: "unreadable", detail, refusal: { httpStatus: 200, errorCode: null } };
}

function notJson(path: string, kind: Exclude<ParsedBody["kind"], "json">): Missing {
  if (kind === "too_deep") return notUnderstood(path, "is nested too deeply");
  const what = { html: "a web page instead of JSON", empty: "an empty body", broken: "broken or cut-off JSON" }[kind];
  const remedy = "check for a proxy or firewall in between, and scan again";
  const detail = `GET ${toShownPath(path)} answered 200 with ${what}; ${remedy}`;
  return { reason: "provider_error", detail, refusal: { httpStatus: 200, errorCode: null } };
}

/** Rethrows what is no answer of the provider: an abort, and bugs. */
function failed(path: string, error: unknown): Missing {
  const asked = `GET ${toShownPath(path)}`;
  if (error instanceof NetworkError) {
    const detail = `${asked} got no answer: ${error.message}; scan again later`;
    return { reason: "provider_error", detail, refusal: unasked };
  }
  if (error instanceof IdpError) {
    const detail = `${asked} was not asked for, because the access token could not be renewed: ${error.message}`;
    return { reason: "provider_error", detail, refusal: unasked };
  }
  if (error instanceof ForbiddenRequest)
    return { ...notUnderstood(path, "is not needed"), detail: `${asked}: ${error.message}`, refusal: unasked };
  throw error;
}

function cursorOf(path: string): string {
  const { pathname, searchParams } = new URL(path, "https://org.invalid");
  const after = searchParams.get("after");
  searchParams.sort();
  return after === null ? `${pathname}?${searchParams}` : `${pathname} after ${after}`;
}

function asksForNonce(answer: ReceivedResponse): boolean {
  if ((answer.status !== 401 && answer.status !== 400) || answer.headers.get("dpop-nonce") === null) return false;
  const challenge = answer.headers.get("www-authenticate") ?? "";
  return /use_dpop_nonce/.test(challenge) || oauthError(answer).error === "use_dpop_nonce";
}

/** E0000015 is a 401 as well, but says that a feature is off, whatever the token. */
function isTokenRefused(answer: ReceivedResponse): boolean {
  return answer.status === 401 && objectIn(answer.body)["errorCode"] !== "E0000015";
}
