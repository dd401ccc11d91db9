import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import type { Role } from "../../shared/report.ts";
import { toLine } from "../../shared/text.ts";
import { entriesOf } from "../evidence/artifacts.ts";
import type { IdpClient, IdpRequest, ListPage, PageReader, Reading } from "./idp_client.ts";
import type { Login } from "./login.ts";
import { toShownPath } from "./provider_text.ts";
import { notRequested, notUnderstood, notUsable, toMissing, unanswered, type Missing } from "./refusals.ts";

/** An answer of 200, before anything is known of its content. */
interface Answer {
  readonly state: "answer";
  readonly value: unknown;
  /** The `Link` header. */
  readonly link: string | null;
}

const bodyProblems = { html: "a web page instead of JSON", empty: "an empty body", broken: "broken or cut-off JSON" };

/** Reads the provider's API over HTTP; every way in which that fails becomes evidence with its reason (E6, E8). */
export class HttpIdpClient implements IdpClient, PageReader {
  readonly login: Login;
  /**
   * The role of the run, inferred from responses that were needed anyway. The provider keeps its first-party apps and
   * their settings from every role below Super Administrator, so seeing one proves that role, and being refused or shown
   * an empty list proves a lower one. That lower role is called `read_only_admin` because it is what the run could see;
   * without such a response the role stays `unknown`.
   */
  role: Role = "unknown";
  readonly orgUrl: string;
  /** Answers that the probe read, for the first collector that needs them. */
  readonly #probed = new Map<string, Promise<Answer | Missing>>();

  constructor(orgUrl: string, login: Login) {
    this.orgUrl = orgUrl;
    this.login = login;
  }

  /** True when the token carries a scope, named without prefix. */
  isGranted(scope: string): boolean {
    return this.login.granted.includes(this.login.fullName(scope));
  }

  async getObject(request: IdpRequest): Promise<Reading<JsonObject>> {
    const answer = await this.#read(request);
    if (answer.state === "missing") return answer;
    const { value } = answer;
    if (!isJsonObject(value)) return notUnderstood(request.path, "is not a JSON object");
    const problem = whyNoEvidence(value, request);
    return problem === null ? { state: "obtained", value } : notUnderstood(request.path, problem);
  }

  async getPage(request: IdpRequest): Promise<Reading<ListPage>> {
    const page = await this.#readPage(request);
    if (page.state === "missing") return page;
    const entries = page.entries.map((entry) => (isJsonObject(entry) ? entry : {}));
    return { state: "obtained", value: { entries, next: page.next.path } };
  }

  async getList(request: IdpRequest): Promise<Reading<readonly JsonObject[]>> {
    const reading = await this.#readPages(request);
    // A list of all apps, or of exactly a first-party one: every organization has those, so a whole list that lacks them hides them.
    if (/^\/api\/v1\/apps(\?|$)/.test(request.path)) {
      if (entriesOf(reading).some((app) => firstPartyApps.has(app["name"]))) this.#noteRole("super_admin");
      else if (reading.state === "obtained") this.#noteRole("read_only_admin");
    }
    return reading;
  }

  /** Reads the answer that a collector needs later; where that `isKept`, it then costs no request. */
  async probe(request: IdpRequest, { isKept }: { readonly isKept: boolean }): Promise<Missing | null> {
    const reading = this.#read(request);
    if (isKept) this.#probed.set(request.path, reading);
    const answer = await reading;
    return answer.state === "missing" ? answer : null;
  }

  #noteRole(role: Role): void {
    if (role === "super_admin" || this.role === "unknown") this.role = role;
  }

  async #readPages(request: IdpRequest): Promise<Reading<readonly JsonObject[]>> {
    const { keep = (entry: JsonObject) => entry, onEntry } = request;
    const items: JsonObject[] = [];
    const read = new Set<string>();
    let unreadable: Missing | null = null;
    let bytes = 0;
    for (let { path } = request; ;) {
      read.add(path);
      const page = await this.#readPage({ ...request, path }, read);
      if (page.state === "missing") return brokenList(page, items, read.size);
      // An entry that nobody could name is left out, and the list is missing one.
      const entries = page.entries.filter(isIdentified).map((entry) => keep(entry));
      bytes += Buffer.byteLength(JSON.stringify(entries));
      if (bytes > maxListBytes) return brokenList(tooLarge(path), items, read.size);
      for (const entry of entries) {
        items.push(entry);
        onEntry?.(entry);
      }
      if (entries.length < page.entries.length)
        unreadable = notUnderstood(path, "holds an entry without id, type and name");
      const { next } = page;
      if (next.problem !== null) return brokenList(notUsable(path, `, but ${next.problem}`), items, read.size + 1);
      if (next.path === null)
        return unreadable === null ? { state: "obtained", value: items } : { ...unreadable, partial: items };
      ({ path } = next);
    }
  }

  async #readPage(request: IdpRequest, read?: ReadonlySet<string>) {
    const answer = await this.#read(request);
    if (answer.state === "missing") return answer;
    const { value, link } = answer;
    if (!Array.isArray(value)) return notUnderstood(request.path, "is not a JSON array");
    const next = nextPage(link, new URL(request.path, this.orgUrl), read);
    return { state: "page", entries: value as readonly unknown[], next } as const;
  }

  #read(request: IdpRequest): Promise<Answer | Missing> {
    const probed = this.#probed.get(request.path);
    this.#probed.delete(request.path);
    return probed ?? this.#fetch(request);
  }

  async #fetch({ path, scope }: IdpRequest): Promise<Answer | Missing> {
    if (!this.isGranted(scope)) return notRequested(path, this.login.fullName(scope));
    try {
      const response = await this.login.get(path);
      const { status, headers, body } = response;
      const refusal = status === 200 ? null : toMissing(response, path, this.login.fullName(scope));
      if (path.startsWith("/api/v1/first-party-app-settings/")) {
        if (refusal === null) this.#noteRole("super_admin");
        else if (status === 403 && refusal.refusal.errorCode === "E0000006") this.#noteRole("read_only_admin");
      }
      if (refusal !== null) return refusal;
      const remedy = "check for a proxy or firewall in between, and scan again";
      if (body.kind !== "json") return notUsable(path, ` with ${bodyProblems[body.kind]}; ${remedy}`);
      // The log decides no verdict, and must go on.
      if (body.isCut && scope !== "logs.read") return notUnderstood(path, "is nested too deeply");
      return { state: "answer", value: body.value, link: headers.get("link") };
    } catch (error) {
      return unanswered(path, error);
    }
  }
}

/** `page`: the number of the page that failed, from 1. */
function brokenList(missing: Missing, items: readonly JsonObject[], page: number): Reading<readonly JsonObject[]> {
  if (page === 1) return missing;
  const detail = `${missing.detail} (page ${page} of a list; ${items.length} entries before it were read)`;
  return { ...missing, partial: items, detail };
}

/** A hundred thousand apps. */
const maxListBytes = 64 * 1_048_576;

function tooLarge(path: string): Missing {
  const problem = `, but a list of more than ${maxListBytes / 1_048_576} MiB is not kept; examine it in the Admin Console`;
  return { ...notUsable(path, problem), reason: "unreadable" };
}

/** More pages than any list of the provider has. */
const maxPages = 1000;

/** The path of the page after `page`, which stays on the organization's origin; or why it is unknown. `read`: the pages of the list so far. */
function nextPage(header: string | null, page: URL, read: ReadonlySet<string> = new Set()) {
  const unknown = (problem: string | null) => ({ path: null, problem });
  const [target, another] = nextTargets(header ?? "");
  if (target === undefined) return unknown(null);
  const url = target === "" || another !== undefined ? null : URL.parse(target, page);
  // Below another base a path that begins like this is a host.
  if (url === null || url.pathname.startsWith("//")) return unknown("its next link cannot be read");
  if (url.origin !== page.origin || url.username !== "" || url.password !== "") {
    const where = url.origin === "null" ? "elsewhere" : `to ${url.origin}`;
    return unknown(`its next link leads ${where}, away from the organization, and is not followed`);
  }
  const path = url.pathname + url.search;
  if (!isSameList(url, page))
    return unknown(`its next link leads to another list, ${toShownPath(path)}, and is not followed`);
  if (read.has(path)) return unknown("its next link repeats a page that was already read");
  return read.size < maxPages ? { path, problem: null } : unknown(`its pages do not end after ${maxPages}`);
}

/** True when one link continues the other's list: at the same path, and with no other of what selects the entries. */
function isSameList(next: URL, list: URL): boolean {
  const selects = ["type", "filter", "search", "q"];
  return (
    next.pathname === list.pathname &&
    selects.every((name) => !next.searchParams.has(name) || next.searchParams.get(name) === list.searchParams.get(name))
  );
}

/** Targets of `rel="next"` in `Link` headers (RFC 8288), however many there are; `""` for one that cannot be read. */
function nextTargets(header: string): readonly string[] {
  const links = header.split(/,(?=\s*<)/).filter((link) => /;\s*rel\s*=\s*("[^"]*\bnext\b|next\b)/i.test(link));
  const targets = new Set(links.map((link) => /^\s*<\s*([^>\s]+)\s*>/.exec(link)?.[1] ?? ""));
  // Elsewhere the word may be a next page that would be lost.
  if (targets.size === 0 && /\bnext\b/i.test(header.replaceAll(/<[^>]*>/g, ""))) targets.add("");
  return [...targets];
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
