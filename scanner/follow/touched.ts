import { artifactTable, listIdentity, type ArtifactRow } from "../evidence/artifact_table.ts";
import type { ArtifactName } from "../evidence/artifacts.ts";
import { actedOn, hasHappened, isApp, type LogEvent, type LogTarget, type Relevant } from "./log_event.ts";

/** An answer in memory, by what is enough to find the ones that a change touches. */
export interface KnownAnswer {
  readonly path: string;
  /** Ids of its entries, where it is a list. */
  readonly ids: readonly string[];
}

/** Evidence that an event makes doubtful. Verdicts never come from an event, only from what is then read again. */
interface Touched extends Relevant {
  /** Answers that have to be read again, by their path. */
  readonly paths: readonly string[];
  /** Single entries of the app lists that have to be read again: an org may have ten thousand. */
  readonly apps: readonly string[];
}

type Row = readonly [ArtifactName, ArtifactRow<unknown>];

const rows = Object.entries(artifactTable) as unknown as readonly Row[];

/** Beginnings of types that report traffic or attempts, and change nothing. */
const traffic: readonly string[] = [
  "policy.evaluate_sign_on",
  "policy.scheduled.",
  "policy.rule.action.",
  "policy.execute.",
  "policy.auth_reevaluate.",
  "policy.continuous_access.",
  "policy.entity_risk.",
  "application.configuration.detect_error",
  "application.configuration.read_client_secret",
  "application.configuration.reset_logo",
  "application.configuration.update_logo",
  "application.policy.sign_on.deny_access",
  "system.custom_url_domain.cert_",
  "system.api_token.request_outside_allowed_range",
  "group.user_membership.rule.",
  "iam.role.subscriptions.",
  "system.idp.lifecycle.read_client_secret",
];

/**
 * Finds what each of some events touches: the first list of each artifact whose row names its type, and of the answers after it the
 * ones that are about a target of the event; all of them if none is. Events that change nothing that was read are left out.
 */
export function touchedBy(events: readonly LogEvent[], known: readonly KnownAnswer[]): readonly Touched[] {
  const changing = events.filter((event) => hasHappened(event) && !beginsWith(event.type, traffic));
  if (changing.length === 0) return [];
  const created = changing.filter(({ type }) => type.endsWith(".create")).flatMap(({ targets }) => targets);
  const newIds = new Set(created.map(({ id }) => id));
  // Made once for all events of a poll, of which there may be thousands.
  const artifacts = indexOf(known);
  const about = pathsById(known);
  return changing.flatMap((event) => touchedByOne(event) ?? []);

  function touchedByOne(event: LogEvent): Touched | null {
    const touched = artifacts.filter(({ row }) => beginsWith(event.type, row.events));
    const ofTargets = artifacts.filter(({ row }) => beginsWith(event.type, row.eventsOfTargets ?? []));
    const apps = event.targets.filter(isApp);
    const others = event.targets.filter((target) => !isApp(target));
    const lists = touched.flatMap((artifact) => [...artifact.lists]);
    const paths = pathsAbout(others);
    const parts = among(paths, touched);
    // A new object changes no answer about another one.
    const isKnown = parts.length > 0 || paths.some((path) => lists.includes(path));
    const isAny = !isKnown && !others.some(({ id }) => newIds.has(id));
    const targets = actedOn(event);
    const all = [
      ...(apps.length === 0 ? lists : lists.filter((path) => !isAppList(path))),
      ...(isAny ? partsOf(touched) : parts),
      ...(targets.length === 0 ? partsOf(ofTargets) : among(pathsAbout(targets), ofTargets)),
    ];
    const single = lists.some(isAppList) ? apps.map(({ id }) => id) : [];
    if (all.length === 0 && single.length === 0) return null;
    const own = [...touched, ...ofTargets].map(({ name }) => name);
    const sharing = rows.filter(([, { partsOf: other }]) => other !== undefined && own.includes(other));
    return { event, artifacts: [...own, ...sharing.map(([name]) => name)], paths: [...new Set(all)], apps: single };
  }

  function pathsAbout(targets: readonly LogTarget[]): readonly string[] {
    return targets.flatMap(({ id }) => [...(about.get(encodeURIComponent(id)) ?? [])]);
  }
}

type KnownArtifact = ReturnType<typeof indexOf>[number];

/** Each artifact with the paths of the answers to its first request (`lists`), and of those about its objects (`parts`). */
function indexOf(known: readonly KnownAnswer[]) {
  const paths = known.map(({ path }) => path);
  return rows.map(([name, row]) => {
    const list = row.request === null ? null : listIdentity(row.request.path);
    const beginnings = (row.parts ?? []).map(({ path }) => path.slice(0, path.indexOf("{id}")));
    const lists = new Set(paths.filter((path) => listIdentity(path) === list));
    return { name, row, lists, parts: new Set(paths.filter((path) => beginsWith(path, beginnings))) };
  });
}

/** The paths of the answers about an object, and of the lists that have it as an entry, by its id. */
function pathsById(known: readonly KnownAnswer[]): ReadonlyMap<string, ReadonlySet<string>> {
  const about = new Map<string, Set<string>>();
  for (const { path, ids } of known) {
    for (const id of [...path.split("/"), ...ids.map(encodeURIComponent)]) {
      const paths = about.get(id) ?? new Set();
      about.set(id, paths.add(path));
    }
  }
  return about;
}

function partsOf(found: readonly KnownArtifact[]): readonly string[] {
  return found.flatMap(({ parts }) => [...parts]);
}

function among(paths: readonly string[], found: readonly KnownArtifact[]): readonly string[] {
  return paths.filter((path) => found.some(({ parts }) => parts.has(path)));
}

export function isAppList(path: string): boolean {
  return path.startsWith("/api/v1/apps?");
}

function beginsWith(text: string, beginnings: readonly string[]): boolean {
  return beginnings.some((beginning) => text.startsWith(beginning));
}

/**
 * Filters of the log in the order in which they are tried: a provider may refuse a long one. An event is examined by
 * `touchedBy` no matter what the filter passed.
 */
export const logFilters: readonly (string | null)[] = [filterOfTable(), null];

function filterOfTable(): string {
  return prefixes()
    .map((prefix) => {
      const wanted = `eventType sw "${prefix}"`;
      const ignored = traffic.filter((type) => type.startsWith(prefix) && !type.endsWith("."));
      const others = ignored.map((type) => ` and eventType ne "${type}"`);
      return others.length === 0 ? wanted : `(${wanted}${others.join("")})`;
    })
    .join(" or ");
}

/** Beginnings that no shorter one covers. */
function prefixes(): readonly string[] {
  const all = [...new Set(rows.flatMap(([, { events, eventsOfTargets = [] }]) => [...events, ...eventsOfTargets]))];
  return all.filter((prefix) => !all.some((other) => other !== prefix && prefix.startsWith(other)));
}
