import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import { toLine } from "../../shared/text.ts";
import type { IdpClient, IdpRequest, ListPage, PageReader, Reading } from "./idp_client.ts";
import { IdpError } from "./idp_error.ts";
import { objectIn, parseBody, type ParsedBody } from "./json_answer.ts";
import { cursorOf, nextPage } from "./next_page.ts";
import { NetworkError } from "./network_error.ts";
import { missingScope, toMissing, type Missing } from "./refusals.ts";
import type { Login } from "./login.ts";
import { RoleEvidence } from "./role_evidence.ts";
import { toShownPath } from "./safe_text.ts";
import type { ReceivedResponse } from "./http_transport.ts";
import { ForbiddenRequest } from "./http_transport.ts";

export interface HttpIdpClientOptions {
  readonly orgUrl: string;
  readonly login: Pick<Login, "granted" | "get">;
  /** `okta` or `idp`: what the provider puts before `.policies.read`. */
  readonly scopePrefix: string;
}

/** More pages than any list of the provider has. */
const maxPages = 1000;

/** Reads the provider's API over HTTP; every way in which that fails becomes evidence with its reason (E6, E8). */
export class HttpIdpClient implements IdpClient, PageReader {
  readonly login: Pick<Login, "granted" | "get">;
  readonly roleEvidence = new RoleEvidence();
  readonly #options: HttpIdpClientOptions;
  /** Pages that the probe read, for the first collector that needs them. */
  readonly #probed = new Map<string, Promise<Page>>();

  constructor(options: HttpIdpClientOptions) {
    this.#options = options;
    this.login = options.login;
  }

  /** True when the token carries a scope, named without prefix. */
  isGranted(scope: string): boolean {
    return this.login.granted.includes(this.#fullName(scope));
  }

  async getObject(request: IdpRequest): Promise<Reading<JsonObject>> {
    const page = await this.#read(request);
    if (page.state === "missing") return nothing(page.missing);
    const { value } = page;
    if (!isJsonObject(value)) return nothing(notUnderstood(request.path, "is not a JSON object"));
    const problem = whyNoEvidence(value);
    return problem === null ? { state: "obtained", value } : nothing(notUnderstood(request.path, problem));
  }

  async getList(request: IdpRequest): Promise<Reading<readonly JsonObject[]>> {
    const reading = await this.#readPages(request);
    if (reading.state === "obtained") this.roleEvidence.noteWholeList(request.path);
    return reading;
  }

  async getPage(request: IdpRequest): Promise<Reading<ListPage>> {
    const page = await this.#read(request);
    if (page.state === "missing") return nothing(page.missing);
    if (!Array.isArray(page.value)) return nothing(notUnderstood(request.path, "is not a JSON array"));
    const entries = page.value.map((entry: unknown) => (isJsonObject(entry) ? entry : {}));
    const next = nextPage(page.link, new URL(request.path, this.#options.orgUrl));
    return { state: "obtained", value: { entries, next: next.path } };
  }

  /** Reads the first page and keeps it for the next read of it, which then costs no request. */
  async probe(request: IdpRequest): Promise<Missing | null> {
    const page = this.#read(request);
    this.#probed.set(request.path, page);
    const outcome = await page;
    return outcome.state === "missing" ? outcome.missing : null;
  }

  /** Forgets the probe's answers: they are read again. */
  forgetProbed(): void {
    this.#probed.clear();
  }

  async #readPages(request: IdpRequest): Promise<Reading<readonly JsonObject[]>> {
    const items: JsonObject[] = [];
    const cursors = new Set<string>([cursorOf(request.path)]);
    let unreadable: Missing | null = null;
    let path = request.path;
    for (let pages = 1; ; pages++) {
      const page = await this.#read({ ...request, path });
      if (page.state === "missing") return brokenList({ items, pages, missing: page.missing });
      if (!Array.isArray(page.value))
        return brokenList({ items, pages, missing: notUnderstood(path, "is not a JSON array") });
      unreadable = this.#collect(page.value, { ...request, path }, items) ?? unreadable;
      const next = nextPage(page.link, new URL(path, this.#options.orgUrl));
      if (next.problem !== null)
        return brokenList({ items, pages: pages + 1, missing: brokenChain(path, next.problem) });
      if (next.path === null && unreadable !== null) return { state: "missing", partial: items, ...unreadable };
      if (next.path === null) return { state: "obtained", value: items };
      const cursor = cursorOf(next.path);
      const problem = cursors.has(cursor)
        ? "its next link repeats a page that was already read"
        : pages >= maxPages
          ? `its pages do not end after ${maxPages}`
          : null;
      if (problem !== null) return brokenList({ items, pages: pages + 1, missing: brokenChain(path, problem) });
      cursors.add(cursor);
      path = next.path;
    }
  }

  /** Adds a page's entries to the list. An entry that nobody could name is left out, and the list is missing one. */
  #collect(page: readonly unknown[], { path, keep, onEntry }: IdpRequest, items: JsonObject[]): Missing | null {
    const entries = page.filter(isIdentified);
    this.roleEvidence.noteEntries(path, entries);
    for (const entry of entries) {
      const kept = keep === undefined ? entry : keep(entry);
      items.push(kept);
      onEntry?.(kept);
    }
    return entries.length === page.length ? null : notUnderstood(path, "holds an entry without id, type and name");
  }

  #read(request: IdpRequest): Promise<Page> {
    const probed = this.#probed.get(request.path);
    if (probed !== undefined) {
      this.#probed.delete(request.path);
      return probed;
    }
    return this.#fetchPage(request);
  }

  async #fetchPage(request: IdpRequest): Promise<Page> {
    const scope = this.#fullName(request.scope);
    if (!this.isGranted(request.scope)) {
      return toPage({
        ...missingScope(`GET ${toShownPath(request.path)} was not asked for`, scope),
        refusal: noRefusal,
      });
    }
    try {
      const response = await this.login.get(request.path);
      const parsed = response.status === 200 ? parseBody(response.body) : null;
      this.#note(request.path, response, parsed);
      if (parsed === null) return toPage(toMissing(response, request, scope));
      if (parsed.kind !== "json") return toPage(notJson(request.path, parsed.kind));
      const { value, isCut } = parsed;
      // The log decides no verdict, and must go on.
      if (isCut && request.scope !== "logs.read") return toPage(notUnderstood(request.path, "is nested too deeply"));
      return { state: "page", value, link: response.headers.get("link") };
    } catch (error) {
      return toPage(failed(request.path, error));
    }
  }

  #fullName(scope: string): string {
    return `${this.#options.scopePrefix}.${scope}`;
  }

  #note(path: string, response: ReceivedResponse, parsed: ParsedBody | null): void {
    const code = objectIn(parsed === null ? response.body : "")["errorCode"];
    const errorCode = typeof code === "string" ? code : null;
    this.roleEvidence.note({ path, status: response.status, errorCode });
  }
}

interface ReadPage {
  readonly state: "page";
  readonly value: unknown;
  /** The `Link` header. */
  readonly link: string | null;
}

type Page = ReadPage | { readonly state: "missing"; readonly missing: Missing };

/** There was no response. */
const noRefusal = { httpStatus: null, errorCode: null };

function toPage(missing: Missing): Page {
  return { state: "missing", missing };
}

function nothing(missing: Missing): Reading<never> {
  return { state: "missing", partial: null, ...missing };
}

interface BrokenList {
  readonly items: readonly JsonObject[];
  /** The number of the page that failed, from 1. */
  readonly pages: number;
  readonly missing: Missing;
}

function brokenList({ items, pages, missing }: BrokenList): Reading<readonly JsonObject[]> {
  if (pages === 1) return nothing(missing);
  const detail = `${missing.detail} (page ${pages} of a list; ${items.length} entries before it were read)`;
  return { state: "missing", partial: items, ...missing, detail };
}

function brokenChain(path: string, problem: string): Missing {
  const detail = `GET ${toShownPath(path)} answered 200, but ${problem}`;
  return { reason: "provider_error", detail, refusal: { httpStatus: 200, errorCode: null } };
}

/** Every entry of Okta's lists is an object, and says what it is. */
function isIdentified(entry: unknown): entry is JsonObject {
  if (!isJsonObject(entry)) return false;
  return [entry["id"], entry["type"], entry["name"]].some((text) => typeof text === "string" && text.trim() !== "");
}

function notUnderstood(path: string, what: string): Missing {
  const detail = `GET ${toShownPath(path)} answered 200, but its body ${what}, so it is not understood`;
  return { reason: "unreadable", detail, refusal: { httpStatus: 200, errorCode: null } };
}

function notJson(path: string, kind: Exclude<ParsedBody["kind"], "json">): Missing {
  const what = { html: "a web page instead of JSON", empty: "an empty body", broken: "broken or cut-off JSON" }[kind];
  const remedy = "check for a proxy or firewall in between, and scan again";
  const detail = `GET ${toShownPath(path)} answered 200 with ${what}; ${remedy}`;
  return { reason: "provider_error", detail, refusal: { httpStatus: 200, errorCode: null } };
}

/** Rethrows what is not the provider's doing: an abort, and bugs. */
function failed(path: string, error: unknown): Missing {
  const request = `GET ${toShownPath(path)}`;
  if (error instanceof NetworkError) {
    const detail = `${request} got no answer: ${error.message}; scan again later`;
    return { reason: "provider_error", detail, refusal: noRefusal };
  }
  if (error instanceof IdpError) {
    const detail = `${request} was not asked for, because the access token could not be renewed: ${error.message}`;
    return { reason: "provider_error", detail, refusal: noRefusal };
  }
  if (error instanceof ForbiddenRequest)
    return { ...notUnderstood(path, "is not needed"), detail: `${request}: ${error.message}`, refusal: noRefusal };
  throw error;
}

/** Why an object says nothing about any setting; null where it may. */
function whyNoEvidence(value: JsonObject): string | null {
  if (typeof value["errorCode"] === "string") return `is the error ${toLine(value["errorCode"], 40)}`;
  return Object.keys(value).length === 0 ? "is an object without any field" : null;
}
