import { artifactTable, listIdentity, type ArtifactRow } from "../evidence/artifact_table.ts";
import type { ArtifactName } from "../evidence/artifacts.ts";
import { actedOn, hasHappened, isApp, type LogEvent } from "./log_event.ts";

/** Names in the answers so far: enough to find the ones that a change touches. */
export interface KnownAnswers {
  paths(): readonly string[];
  /** True when the list at that path has an entry with this id. */
  holds(path: string, id: string): boolean;
}

/** Evidence that an event makes doubtful. Verdicts never come from an event, only from what is then read again. */
export interface Touched {
  readonly artifacts: readonly ArtifactName[];
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
export function touchedBy(
  events: readonly LogEvent[],
  known: KnownAnswers,
): readonly (Touched & { readonly event: LogEvent })[] {
  const changing = events.filter((event) => hasHappened(event) && !beginsWith(event.type, traffic));
  const created = changing.filter(({ type }) => type.endsWith(".create")).flatMap(({ targets }) => targets);
  const newIds = new Set(created.map(({ id }) => id));
  return changing.flatMap((event) => {
    const touched = touchedByOne(event, { known, newIds });
    return touched === null ? [] : [{ event, ...touched }];
  });
}

function touchedByOne(
  event: LogEvent,
  { known, newIds }: { readonly known: KnownAnswers; readonly newIds: ReadonlySet<string> },
): Touched | null {
  const touched = rows.filter(([, { events }]) => beginsWith(event.type, events));
  const ofTargets = rows.filter(([, { eventsOfTargets = [] }]) => beginsWith(event.type, eventsOfTargets));
  const apps = event.targets.filter(isApp).map(({ id }) => id);
  const ids = event.targets.filter((target) => !isApp(target)).map(({ id }) => id);
  const lists = touched.flatMap(([, { request }]) =>
    known.paths().filter((path) => request !== null && listIdentity(path) === listIdentity(request.path)),
  );
  const parts = partsOf(touched, known);
  const areKnown = ids.some((id) => [...lists, ...parts].some((path) => isAbout(path, id, known)));
  // A new object changes no answer about another one.
  const isAny = !areKnown && !ids.some((id) => newIds.has(id));
  const paths = [
    ...(apps.length === 0 ? lists : lists.filter((path) => !isAppList(path))),
    ...parts.filter((path) => isAny || ids.some((id) => isAbout(path, id, known))),
    ...partsOf(ofTargets, known).filter((path) => {
      const targets = actedOn(event);
      return targets.length === 0 || targets.some(({ id }) => isAbout(path, id, known));
    }),
  ];
  const single = lists.some(isAppList) ? apps : [];
  if (paths.length === 0 && single.length === 0) return null;
  const own = [...touched, ...ofTargets].map(([name]) => name);
  const sharing = rows.filter(([, { partsOf: other }]) => other !== undefined && own.includes(other));
  return { artifacts: [...own, ...sharing.map(([name]) => name)], paths: [...new Set(paths)], apps: single };
}

function partsOf(of: readonly Row[], known: KnownAnswers): readonly string[] {
  const beginnings = of.flatMap(([, { parts = [] }]) => parts.map(({ path }) => path.slice(0, path.indexOf("{id}"))));
  return known.paths().filter((path) => beginsWith(path, beginnings));
}

/** True for an answer about an object, and for a list that has it as an entry. */
function isAbout(path: string, id: string, known: KnownAnswers): boolean {
  return path.split("/").includes(encodeURIComponent(id)) || known.holds(path, id);
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
