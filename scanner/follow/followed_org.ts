import type { Engine } from "../../shared/report.ts";
import { artifactTable, firstRequests } from "../evidence/artifact_table.ts";
import type { CollectedArtifacts, JsonList } from "../evidence/artifacts.ts";
import { createCollection } from "../evidence/collect.ts";
import type { Connection } from "../okta/connection.ts";
import {
  pathSegment,
  type IdpClient,
  type IdpRequest,
  type ListPage,
  type PageReader,
  type Reading,
} from "../okta/idp_client.ts";
import { attempt, IdpError } from "../okta/idp_error.ts";
import { ownValues } from "../org_policy/document.ts";
import type { JsonObject } from "../../shared/json.ts";
import type { FollowParts, FollowPlan } from "./follow_plan.ts";
import type { SavedAnswer } from "./follow_state.ts";
import type { LogEvent, Relevant } from "./log_event.ts";
import { isAppList, touchedBy } from "./touched.ts";

/** Page size of the provider's list of apps. */
const appsPerPage = 200;

/**
 * The org as it was read last: the connection, and each answer in memory. Collectors that run again ask only for what was
 * forgotten, so a change of one policy costs the requests of that policy.
 */
export class FollowedOrg implements IdpClient, PageReader {
  readonly #plan: FollowPlan;
  readonly #parts: FollowParts;
  readonly #answers: Map<string, SavedAnswer>;
  #connection: Connection | null = null;

  constructor(plan: FollowPlan, parts: FollowParts, saved: readonly SavedAnswer[]) {
    this.#plan = plan;
    this.#parts = parts;
    this.#answers = new Map(saved.map((answer) => [answer.path, answer]));
  }

  get engine(): Engine {
    return this.#connection?.org.engine ?? "unknown";
  }

  /** Rejects with `IdpError`. */
  async connect({ forgetsProbe }: { readonly forgetsProbe: boolean }): Promise<void> {
    const { signal, checks } = this.#plan;
    const probes = firstRequests(checks.flatMap((check) => check.artifacts));
    // The probe's answer serves a full scan that follows at once; later it would be an old one.
    const connection = await this.#parts.connect({ signal, probes, forgetsProbe, trace: this.#parts.trace });
    await this.#connection?.close();
    this.#connection = connection;
  }

  /** Other scopes may be granted by now, and tokens that were refused early are requested again. The old connection stays where it fails. */
  async reconnect(): Promise<void> {
    const error = await attempt(this.connect({ forgetsProbe: false }));
    if (error instanceof IdpError) this.#parts.say(`${error.message}. ${error.remedy}`);
  }

  async close(): Promise<void> {
    await this.#connection?.close();
  }

  /** The provider's time. */
  nowMs(): number {
    return this.#connection?.nowMs() ?? this.#parts.clock.nowMs();
  }

  getPage(request: IdpRequest): Promise<Reading<ListPage>> {
    return this.#client().getPage(request);
  }

  getObject(request: IdpRequest): Promise<Reading<JsonObject>> {
    return this.#ask(request, () => this.#client().getObject(request));
  }

  getList(request: IdpRequest): Promise<Reading<JsonList>> {
    return this.#ask(request, () => this.#client().getList(request));
  }

  /** Makes invalid what the events touch: the next `collect` reads it again. */
  async invalidate(events: readonly LogEvent[]): Promise<readonly Relevant[]> {
    const known = this.#paths().map((path) => {
      const ids = this.#listAt(path).map((entry) => entry["id"]);
      return { path, ids: ids.filter((id) => typeof id === "string") };
    });
    const touched = touchedBy(events, known);
    this.#forget(touched.flatMap(({ paths }) => paths));
    const apps = new Set(touched.flatMap((found) => found.apps));
    if (apps.size > 0) await this.#refreshApps(apps);
    return touched;
  }

  /** Makes invalid what could not be collected: the next `collect` reads it again. */
  invalidateFailed(): void {
    this.#forget(this.#failed());
  }

  /** Reads what is invalid; the rest is in memory. */
  async collect(): Promise<CollectedArtifacts> {
    const { checks, signal, orgPolicy } = this.#plan;
    const values = ownValues(orgPolicy.current(), new Date(this.#parts.clock.nowMs()).toISOString());
    const collection = createCollection(this, { signal, values, trace: this.#parts.trace });
    await Promise.all(checks.map((check) => collection.obtainFor(check)));
    return collection.artifacts();
  }

  /** Reads everything again, and keeps nothing else. */
  async collectAll(): Promise<void> {
    this.#forget(this.#paths());
    await this.collect();
    for (const { path, isForgotten } of this.#answers.values()) if (isForgotten) this.#answers.delete(path);
  }

  hasFailed(): boolean {
    return this.#failed().length > 0;
  }

  toSave(): readonly SavedAnswer[] {
    return [...this.#answers.values()];
  }

  #paths(): readonly string[] {
    return [...this.#answers.keys()];
  }

  #client(): Connection["client"] {
    if (this.#connection === null) throw new Error("Cannot read from the provider: there is no connection");
    return this.#connection.client;
  }

  async #ask<Value>({ path }: IdpRequest, read: () => Promise<Reading<Value>>): Promise<Reading<Value>> {
    const known = this.#answers.get(path);
    // The same path has answers of the same type.
    if (known !== undefined && known.isForgotten !== true) return known.reading as Reading<Value>;
    const reading = await read();
    this.#remember(path, reading);
    return reading;
  }

  #remember(path: string, reading: Reading<unknown>): void {
    const known = this.#answers.get(path);
    const wasEver = known !== undefined && (known.wasObtained || known.reading.state === "obtained");
    this.#answers.set(path, { path, reading, wasObtained: wasEver && reading.state === "missing" });
  }

  #forget(paths: readonly string[]): void {
    for (const path of paths) {
      const answer = this.#answers.get(path);
      if (answer !== undefined) this.#answers.set(path, { ...answer, isForgotten: true });
    }
  }

  /** Paths whose last answer may be another one soon: the provider failed, or refused what it gave before. */
  #failed(): readonly string[] {
    return this.toSave().flatMap(({ path, reading, wasObtained }) => {
      // A 404 is an answer: of the sign-in page that a brand has not customized.
      if (reading.state === "obtained" || reading.refusal?.httpStatus === 404) return [];
      return wasObtained || reading.reason === "provider_error" ? [path] : [];
    });
  }

  /** Reads these apps one by one, or the whole lists where that takes fewer requests. */
  async #refreshApps(ids: ReadonlySet<string>): Promise<void> {
    const lists = this.#paths().filter(isAppList);
    const pages = lists.reduce((sum, path) => sum + Math.max(1, Math.ceil(this.#listAt(path).length / appsPerPage)), 0);
    const isWhole = (path: string) => {
      const answer = this.#answers.get(path);
      return answer?.reading.state === "obtained" && answer.isForgotten !== true;
    };
    if (ids.size >= pages || !lists.every(isWhole)) this.#forget(lists);
    else await Promise.all([...ids].map((id) => this.#refreshApp(id, lists)));
  }

  async #refreshApp(id: string, lists: readonly string[]): Promise<void> {
    const segment = pathSegment(id);
    if (segment === null) return this.#forget(lists);
    const app = await this.#client().getObject({ path: `/api/v1/apps/${segment}`, scope: "apps.read" });
    if (app.state === "missing" && app.refusal?.httpStatus !== 404) return this.#forget(lists);
    for (const path of lists) {
      const others = this.#listAt(path).filter((entry) => entry["id"] !== id);
      const isEntry = app.state === "obtained" && belongsTo(path, app.value);
      const value = isEntry ? [...others, artifactTable.apps.request.keep?.(app.value)] : others;
      this.#remember(path, { state: "obtained", value });
    }
  }

  #listAt(path: string): JsonList {
    const reading = this.#answers.get(path)?.reading;
    const value = reading?.state === "obtained" ? reading.value : reading?.partial;
    return Array.isArray(value) ? (value as JsonList) : [];
  }
}

/** A list of apps has a filter by name, or none. */
function belongsTo(path: string, app: JsonObject): boolean {
  const filter = new URL(path, "https://org.invalid").searchParams.get("filter");
  return filter === null || filter === `name eq "${String(app["name"])}"`;
}
