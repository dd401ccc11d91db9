import type { JsonObject } from "../../shared/json.ts";
import { pathSegment, type IdpClient, type IdpRequest, type Reading } from "../okta/idp_client.ts";
import type { JsonList } from "./artifacts.ts";

/** Names in the answers so far: enough to find the ones that a change touches. */
export interface KnownAnswers {
  paths(): readonly string[];
  /** True when the list at that path has an entry with this id. */
  holds(path: string, id: string): boolean;
}

/**
 * A client that asks for each path once and answers from memory afterwards. Collectors that run again through it ask
 * only for what was forgotten, so a change of one policy costs the requests of that policy.
 */
export interface RememberedAnswers extends IdpClient, KnownAnswers {
  /** Asked for again when a collector next needs them. */
  forget(paths: readonly string[]): void;
  /** Asks for everything that `collect` needs again, and keeps nothing else. */
  renew(collect: () => Promise<unknown>): Promise<void>;
  /** Reads these apps one by one, or the whole lists where that takes fewer requests. */
  refreshApps(ids: readonly string[]): Promise<void>;
  /** Paths whose last answer may be another one soon: the provider failed, or refused what it gave before. */
  failed(): readonly string[];
  saved(): SavedAnswers;
}

export type SavedAnswers = readonly SavedAnswer[];

export interface SavedAnswer {
  readonly path: string;
  readonly reading: Reading<unknown>;
  readonly wasObtained: boolean;
  /** It was forgotten, and no collector has needed it since; another process must not take it for true either. */
  readonly isForgotten?: true;
}

export interface RememberedAnswersOptions {
  /** Asked at each request: a connection is replaced from time to time. */
  readonly source: () => IdpClient;
  readonly saved?: SavedAnswers;
}

const appLists = "/api/v1/apps?";
/** Page size of the provider's list of apps. */
const appsPerPage = 200;

export function createRememberedAnswers(options: RememberedAnswersOptions): RememberedAnswers {
  const { source, saved = [] } = options;
  const answers = new Map(saved.map((answer) => [answer.path, answer]));
  /** How entries are reduced, by list: an entry that is read alone is reduced like those of its list. */
  const keeps = new Map<string, NonNullable<IdpRequest["keep"]>>();

  return {
    async getObject(request) {
      return ask(request, () => source().getObject(request));
    },
    async getList(request) {
      if (request.keep !== undefined) keeps.set(request.path, request.keep);
      return ask(request, () => source().getList(request));
    },
    forget,
    async renew(collect) {
      forget([...answers.keys()]);
      await collect();
      for (const { path, isForgotten } of answers.values()) if (isForgotten) answers.delete(path);
    },
    refreshApps,
    paths: () => [...answers.keys()],
    holds: (path, id) => listAt(path).some((entry) => entry["id"] === id),
    failed: () => [...answers.values()].filter(isFailed).map(({ path }) => path),
    saved: () => [...answers.values()],
  };

  function forget(paths: readonly string[]): void {
    for (const path of paths) {
      const answer = answers.get(path);
      if (answer !== undefined) answers.set(path, { ...answer, isForgotten: true });
    }
  }

  async function ask<Value>({ path }: IdpRequest, read: () => Promise<Reading<Value>>): Promise<Reading<Value>> {
    const known = answers.get(path);
    // The same path has answers of the same type.
    if (known !== undefined && known.isForgotten !== true) return known.reading as Reading<Value>;
    const reading = await read();
    remember(path, reading);
    return reading;
  }

  function remember(path: string, reading: Reading<unknown>): void {
    const known = answers.get(path);
    const wasObtained = reading.state === "missing" && known !== undefined && wasEverObtained(known);
    answers.set(path, { path, reading, wasObtained });
  }

  async function refreshApps(ids: readonly string[]): Promise<void> {
    const wanted = new Set(ids);
    const known = [...answers.keys()].filter((path) => path.startsWith(appLists));
    const pages = known.reduce((sum, path) => sum + Math.max(1, Math.ceil(listAt(path).length / appsPerPage)), 0);
    const areWhole = known.map((path) => answers.get(path)).every(isWhole);
    if (wanted.size >= pages || !areWhole) forget(known);
    else await Promise.all([...wanted].map((id) => refreshApp(id, known)));
  }

  async function refreshApp(id: string, lists: readonly string[]): Promise<void> {
    const segment = pathSegment(id);
    const app =
      segment === null ? null : await source().getObject({ path: `/api/v1/apps/${segment}`, scope: "apps.read" });
    const isGone = app?.state === "missing" && app.refusal?.httpStatus === 404;
    if (app === null || (app.state === "missing" && !isGone)) return forget(lists);
    for (const path of lists) {
      const others = listAt(path).filter((entry) => entry["id"] !== id);
      const entry = app.state === "obtained" && belongsTo(path, app.value) ? reduced(path, app.value) : null;
      remember(path, { state: "obtained", value: entry === null ? others : [...others, entry] });
    }
  }

  function reduced(path: string, entry: JsonObject): JsonObject {
    const keep = keeps.get(path);
    return keep === undefined ? entry : keep(entry);
  }

  function listAt(path: string): JsonList {
    const reading = answers.get(path)?.reading;
    const value = reading?.state === "obtained" ? reading.value : reading?.partial;
    return Array.isArray(value) ? (value as JsonList) : [];
  }
}

function isWhole(answer: SavedAnswer | undefined): boolean {
  return answer?.reading.state === "obtained" && answer.isForgotten !== true;
}

/** A list of apps has a filter by name, or none. */
function belongsTo(path: string, app: JsonObject): boolean {
  const filter = new URL(path, "https://org.invalid").searchParams.get("filter");
  return filter === null || filter === `name eq "${String(app["name"])}"`;
}

function wasEverObtained({ reading, wasObtained }: SavedAnswer): boolean {
  return reading.state === "obtained" || wasObtained;
}

/** A 404 is an answer: of the sign-in page that a brand has not customized. */
function isFailed({ reading, wasObtained }: SavedAnswer): boolean {
  if (reading.state === "obtained" || reading.refusal?.httpStatus === 404) return false;
  return wasObtained || reading.reason === "provider_error";
}
