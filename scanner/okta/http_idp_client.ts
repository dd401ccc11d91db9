import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import type { Role } from "../../shared/report.ts";
import { toLine } from "../../shared/text.ts";
import { entriesOf } from "../evidence/artifacts.ts";
import type { IdpClient, IdpRequest, ListPage, PageReader, Reading } from "./idp_client.ts";
import { parseBody } from "./json_answer.ts";
import type { Login } from "./login.ts";
import { nextPage, PageChain } from "./next_page.ts";
import { brokenChain, notJson, notRequested, notUnderstood, toMissing, unanswered, type Missing } from "./refusals.ts";

export interface HttpIdpClientOptions {
  readonly orgUrl: string;
  readonly login: Pick<Login, "granted" | "get" | "nowMs">;
  /** `okta` or `idp`: what the provider puts before `.policies.read`. */
  readonly scopePrefix: string;
}

/** An answer of 200, before anything is known of its content. */
interface Page {
  readonly state: "page";
  readonly value: unknown;
  /** The `Link` header. */
  readonly link: string | null;
}

/** Reads the provider's API over HTTP; every way in which that fails becomes evidence with its reason (E6, E8). */
export class HttpIdpClient implements IdpClient, PageReader {
  readonly login: Pick<Login, "granted" | "get" | "nowMs">;
  readonly roleEvidence = new RoleEvidence();
  readonly #options: HttpIdpClientOptions;
  /** Pages that the probe read, for the first collector that needs them. */
  readonly #probed = new Map<string, Promise<Page | Missing>>();

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
    if (page.state === "missing") return page;
    const { value } = page;
    if (!isJsonObject(value)) return notUnderstood(request.path, "is not a JSON object");
    const problem = whyNoEvidence(value, request);
    return problem === null ? { state: "obtained", value } : notUnderstood(request.path, problem);
  }

  async getPage(request: IdpRequest): Promise<Reading<ListPage>> {
    const page = await this.#read(request);
    if (page.state === "missing") return page;
    if (!Array.isArray(page.value)) return notUnderstood(request.path, "is not a JSON array");
    const entries = page.value.map((entry: unknown) => (isJsonObject(entry) ? entry : {}));
    const { path: next } = nextPage(page.link, new URL(request.path, this.#options.orgUrl));
    return { state: "obtained", value: { entries, next } };
  }

  async getList(request: IdpRequest): Promise<Reading<readonly JsonObject[]>> {
    const reading = await this.#readPages(request);
    this.roleEvidence.noteList(request.path, entriesOf(reading), reading.state === "obtained");
    return reading;
  }

  /** Reads the first page and keeps it for the next read of it, which then costs no request. */
  async probe(request: IdpRequest): Promise<Missing | null> {
    const reading = this.#read(request);
    this.#probed.set(request.path, reading);
    const page = await reading;
    return page.state === "missing" ? page : null;
  }

  /** Forgets the probe's answers: they are read again. */
  forgetProbed(): void {
    this.#probed.clear();
  }

  async #readPages(request: IdpRequest): Promise<Reading<readonly JsonObject[]>> {
    const { keep = (entry: JsonObject) => entry, onEntry } = request;
    const items: JsonObject[] = [];
    const chain = new PageChain(this.#options.orgUrl);
    let unreadable: Missing | null = null;
    let { path } = request;
    for (let pages = 1; ; pages++) {
      const page = await this.#read({ ...request, path });
      if (page.state === "missing") return brokenList(page, items, pages);
      if (!Array.isArray(page.value)) return brokenList(notUnderstood(path, "is not a JSON array"), items, pages);
      // An entry that nobody could name is left out, and the list is missing one.
      const entries = page.value.filter(isIdentified).map((entry) => keep(entry));
      for (const entry of entries) {
        items.push(entry);
        onEntry?.(entry);
      }
      if (entries.length < page.value.length)
        unreadable = notUnderstood(path, "holds an entry without id, type and name");
      const next = chain.next(page.link, path);
      if (next.problem !== null) return brokenList(brokenChain(path, next.problem), items, pages + 1);
      if (next.path === null)
        return unreadable === null ? { state: "obtained", value: items } : { ...unreadable, partial: items };
      ({ path } = next);
    }
  }

  #read(request: IdpRequest): Promise<Page | Missing> {
    const probed = this.#probed.get(request.path);
    this.#probed.delete(request.path);
    return probed ?? this.#fetchPage(request);
  }

  async #fetchPage({ path, scope }: IdpRequest): Promise<Page | Missing> {
    if (!this.isGranted(scope)) return notRequested(path, this.#fullName(scope));
    try {
      const response = await this.login.get(path);
      const refusal = response.status === 200 ? null : toMissing(response, path, this.#fullName(scope));
      this.roleEvidence.note(path, response.status, refusal?.refusal.errorCode ?? null);
      if (refusal !== null) return refusal;
      const parsed = parseBody(response.body);
      if (parsed.kind !== "json") return notJson(path, parsed.kind);
      const { value, isCut } = parsed;
      // The log decides no verdict, and must go on.
      if (isCut && scope !== "logs.read") return notUnderstood(path, "is nested too deeply");
      return { state: "page", value, link: response.headers.get("link") };
    } catch (error) {
      return unanswered(path, error);
    }
  }

  #fullName(scope: string): string {
    return `${this.#options.scopePrefix}.${scope}`;
  }
}

/** `page`: the number of the page that failed, from 1. */
function brokenList(missing: Missing, items: readonly JsonObject[], page: number): Reading<readonly JsonObject[]> {
  if (page === 1) return missing;
  const detail = `${missing.detail} (page ${page} of a list; ${items.length} entries before it were read)`;
  return { ...missing, partial: items, detail };
}

/** Every entry of Okta's lists is an object, and says what it is. */
function isIdentified(entry: unknown): entry is JsonObject {
  if (!isJsonObject(entry)) return false;
  return [entry["id"], entry["type"], entry["name"]].some((text) => typeof text === "string" && text.trim() !== "");
}

/** Why an object says nothing about any setting; null where it may. */
function whyNoEvidence(value: JsonObject, { fields = Object.keys(value) }: IdpRequest): string | null {
  if (typeof value["errorCode"] === "string") return `is the error ${toLine(value["errorCode"], 40)}`;
  if (fields.length === 0) return "is an object without any field";
  return fields.some((field) => field in value) ? null : `is an object without ${fields.join(" or ")}`;
}

const firstPartyApps = new Set<unknown>(["saasure", "okta_enduser"]);

/**
 * Infers the role of the run from responses that were needed anyway. The provider keeps its first-party apps and
 * their settings from every role below Super Administrator, so seeing one proves that role, and being refused or shown
 * an empty list proves a lower one. That lower role is called `read_only_admin` because it is what the run could see;
 * without such a response the role stays `unknown`.
 */
class RoleEvidence {
  #hasRead = false;
  #sawFirstParty = false;
  #wasKeptOut = false;

  note(path: string, status: number, errorCode: string | null): void {
    if (status === 200) this.#hasRead = true;
    if (!path.startsWith("/api/v1/first-party-app-settings/")) return;
    if (status === 200) this.#sawFirstParty = true;
    if (status === 403 && errorCode === "E0000006") this.#wasKeptOut = true;
  }

  /** A list of all apps, or of exactly a first-party one: every organization has those, so a whole list that lacks them hides them. */
  noteList(path: string, entries: readonly JsonObject[], isWhole: boolean): void {
    if (!/^\/api\/v1\/apps(\?|$)/.test(path)) return;
    if (entries.some((app) => firstPartyApps.has(app["name"]))) this.#sawFirstParty = true;
    else if (isWhole) this.#wasKeptOut = true;
  }

  role(): Role {
    if (this.#sawFirstParty) return "super_admin";
    return this.#wasKeptOut && this.#hasRead ? "read_only_admin" : "unknown";
  }
}
