import { artifactTable, firstRequests } from "../evidence/artifact_table.ts";
import type { CollectedArtifacts, JsonList } from "../evidence/artifacts.ts";
import { createCollection } from "../evidence/collect.ts";
import type { Connection } from "../okta/connection.ts";
import { pathSegment, type IdpClient, type IdpRequest, type Reading } from "../okta/idp_client.ts";
import { attempt, IdpError } from "../okta/idp_error.ts";
import { ownValues } from "../org_policy/document.ts";
import type { JsonObject } from "../../shared/json.ts";
import type { FollowParts, FollowPlan } from "./follow_plan.ts";
import type { FollowState, SavedAnswer } from "./follow_state.ts";
import type { LogEvent, Relevant } from "./log_event.ts";
import { isAppList, touchedBy } from "./touched.ts";

/** Page size of the provider's list of apps. */
const appsPerPage = 200;

export type FollowedOrg = Awaited<ReturnType<typeof connectOrg>>;

/**
 * The org as it was read last: the connection, and each answer in memory. Collectors that run again ask only for what was
 * forgotten, so a change of one policy costs the requests of that policy. Rejects with `IdpError`.
 */
export async function connectOrg(plan: FollowPlan, parts: FollowParts, saved: FollowState | null) {
  const answers = new Map(saved?.answers.map((answer) => [answer.path, answer]));
  // The probe's answer serves a full scan that follows at once; later it would be an old one.
  let connection = await connect({ keepsProbe: saved === null });
  const client: IdpClient = {
    getObject: (request) => ask(request, () => connection.client.getObject(request)),
    getList: (request) => ask(request, () => connection.client.getList(request)),
  };
  return {
    engine: () => connection.org.engine,
    /** The provider's time. */
    nowMs: () => connection.client.login.nowMs(),
    getPage: (request: IdpRequest) => connection.client.getPage(request),
    reconnect,
    close: () => connection.sender.close(),
    invalidate,
    /** Makes invalid what could not be collected: the next `collect` reads it again. */
    invalidateFailed: () => forget(failed()),
    hasFailed: () => failed().length > 0,
    collect,
    collectAll,
    toSave: (): readonly SavedAnswer[] => [...answers.values()],
  };

  function connect({ keepsProbe }: { readonly keepsProbe: boolean }): Promise<Connection> {
    const probes = firstRequests(plan.checks.flatMap((check) => check.artifacts));
    return parts.connect({ signal: plan.signal, probes, keepsProbe, trace: parts.trace });
  }

  /** Other scopes may be granted by now, and tokens that were refused early are requested again. The old connection stays where it fails. */
  async function reconnect(): Promise<void> {
    const next = await attempt(connect({ keepsProbe: true }));
    if (next instanceof IdpError) return parts.say(`${next.message}. ${next.remedy}`);
    await connection.sender.close();
    connection = next;
  }

  /** Makes invalid what the events touch: the next `collect` reads it again. */
  async function invalidate(events: readonly LogEvent[]): Promise<readonly Relevant[]> {
    // Most polls have no event, and there may be ten thousand ids.
    if (events.length === 0) return [];
    const known = [...answers.keys()].map((path) => {
      const ids = listAt(path).map((entry) => entry["id"]);
      return { path, ids: ids.filter((id) => typeof id === "string") };
    });
    const touched = touchedBy(events, known);
    forget(touched.flatMap(({ paths }) => paths));
    const apps = new Set(touched.flatMap((found) => found.apps));
    if (apps.size > 0) await refreshApps(apps);
    return touched;
  }

  /** Reads what is invalid; the rest is in memory. */
  async function collect(): Promise<CollectedArtifacts> {
    const values = ownValues(plan.orgPolicy.current(), new Date(parts.clock.nowMs()).toISOString());
    const collection = createCollection(client, { signal: plan.signal, values, trace: parts.trace });
    await Promise.all(plan.checks.map((check) => collection.obtainFor(check)));
    return collection.artifacts();
  }

  /** Reads everything again, and keeps nothing else. */
  async function collectAll(): Promise<void> {
    forget(answers.keys());
    await collect();
    for (const { path, isForgotten } of answers.values()) if (isForgotten) answers.delete(path);
  }

  async function ask<Value>({ path }: IdpRequest, read: () => Promise<Reading<Value>>): Promise<Reading<Value>> {
    const known = answers.get(path);
    // The same path has answers of the same type.
    if (known !== undefined && !known.isForgotten) return known.reading as Reading<Value>;
    const reading = await read();
    remember(path, reading);
    return reading;
  }

  function remember(path: string, reading: Reading<unknown>): void {
    const known = answers.get(path);
    const wasEver = known !== undefined && (known.wasObtained || known.reading.state === "obtained");
    answers.set(path, { path, reading, wasObtained: wasEver && reading.state === "missing" });
  }

  function forget(paths: Iterable<string>): void {
    for (const path of paths) {
      const answer = answers.get(path);
      if (answer !== undefined) answers.set(path, { ...answer, isForgotten: true });
    }
  }

  /** Paths whose last answer may be another one soon: the provider failed, or refused what it gave before. */
  function failed(): readonly string[] {
    return [...answers.values()].flatMap(({ path, reading, wasObtained }) => {
      // A 404 is an answer: of the sign-in page that a brand has not customized.
      if (reading.state === "obtained" || reading.refusal?.httpStatus === 404) return [];
      return wasObtained || reading.reason === "provider_error" ? [path] : [];
    });
  }

  /** Reads these apps one by one, or the whole lists where that takes fewer requests. */
  async function refreshApps(ids: ReadonlySet<string>): Promise<void> {
    const lists = [...answers.values()].filter(({ path }) => isAppList(path));
    const paths = lists.map(({ path }) => path);
    const pages = paths.reduce((sum, path) => sum + Math.max(1, Math.ceil(listAt(path).length / appsPerPage)), 0);
    const areWhole = lists.every(({ reading, isForgotten }) => reading.state === "obtained" && !isForgotten);
    if (ids.size >= pages || !areWhole) forget(paths);
    else await Promise.all([...ids].map((id) => refreshApp(id, paths)));
  }

  async function refreshApp(id: string, lists: readonly string[]): Promise<void> {
    const segment = pathSegment(id);
    if (segment === null) return forget(lists);
    const app = await connection.client.getObject({ path: `/api/v1/apps/${segment}`, scope: "apps.read" });
    if (app.state === "missing" && app.refusal?.httpStatus !== 404) return forget(lists);
    for (const path of lists) {
      const others = listAt(path).filter((entry) => entry["id"] !== id);
      const isEntry = app.state === "obtained" && belongsTo(path, app.value);
      const value = isEntry ? [...others, artifactTable.apps.request.keep?.(app.value)] : others;
      remember(path, { state: "obtained", value });
    }
  }

  function listAt(path: string): JsonList {
    const reading = answers.get(path)?.reading;
    const value = reading?.state === "obtained" ? reading.value : reading?.partial;
    return Array.isArray(value) ? (value as JsonList) : [];
  }
}

/** A list of apps has a filter by name, or none. */
function belongsTo(path: string, app: JsonObject): boolean {
  const filter = new URL(path, "https://org.invalid").searchParams.get("filter");
  return filter === null || filter === `name eq "${String(app["name"])}"`;
}
