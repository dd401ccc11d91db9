import type { JsonObject } from "../../shared/json.ts";
import { nearestName } from "../../shared/nearest_name.ts";
import { catalog } from "../catalog/catalog.ts";
import { readZones } from "../checks/evaluating/zones.ts";
import { activityOf } from "../checks/parsing/activity.ts";
import { nameOf } from "../checks/parsing/names.ts";
import { isSuperAdminRole } from "../checks/parsing/api_token.ts";
import { areAllAppsSeen, isSystem } from "../checks/parsing/whole_list.ts";
import { clientIdOf } from "../checks/systemlog_streaming_enabled.ts";
import { entriesOf, type CollectedArtifacts, type Evidence } from "../evidence/artifacts.ts";
import { limitsText, ownLimits } from "../own_limits.ts";
import { zoneProblem } from "./comparison.ts";
import { citationOf, standingOf, type ApiTokenEntry, type OrgPolicy } from "./document.ts";

/**
 * The answer of `org-policy check`: lines for a person; `isFine` is false if something has to be done about the document.
 * `artifacts`: the org to compare the names with; null: only the document itself is examined. `at`: ISO 8601 in UTC.
 */
export function examineOrgPolicy(policy: OrgPolicy, at: string, artifacts: CollectedArtifacts | null) {
  const standing = standingOf(policy, at);
  const standings = {
    in_force: `in force until ${policy.expires}`,
    expired: `expired on ${policy.expires}: it decides nothing`,
    not_in_force_yet: `in force from ${policy.approved_on}: until then it decides nothing`,
  };
  const ineffective = artifacts === null ? [] : ineffectiveNames(policy, artifacts);
  const said = Object.entries(contentOf(policy));
  const limits = catalog.flatMap((check) => {
    const own = ownLimits(check, { parameters: policy.limits ?? {} });
    return own.length === 0 ? [] : [[check.rule.vuln_id, limitsText(own)] as const];
  });
  const isLimited = (rules: string) => limits.some(([rule]) => rules.includes(rule));
  const notCovered = said.filter(([rules, text]) => text === undefined && rules !== siemRule && !isLimited(rules));
  return {
    lines: [
      `${citationOf(policy)} for ${policy.org_url}, ${standings[standing]}`,
      ...[...said, ...limits].flatMap(([rules, text]) => (text === undefined ? [] : [`${rules}: ${text}`])),
      ...notCovered.map(([rules]) => `${rules}: not covered, the STIG alone decides`),
      ...(policy.api_tokens ?? []).flatMap(refusedByStig),
      ...ineffective,
    ],
    isFine: standing === "in_force" && ineffective.length === 0,
  };
}

/** Says what the STIG refuses of an entry, which decides nothing there; such a token may be a permanent finding. */
function refusedByStig({ token, zones, roles }: ApiTokenEntry): readonly string[] {
  const decidesNothing = `The API token ${JSON.stringify(token)} decides nothing for`;
  return [
    ...(zones.length === 0 ? [`${decidesNothing} V-279689: it has no zone`] : []),
    ...(roles.some((label) => isSuperAdminRole({ label })) ? [`${decidesNothing} V-279690: Super Administrator`] : []),
  ];
}

/** The rule that can pass without its part of the document. */
const siemRule = "V-273202";

/** Returns the words of the document for each rule; undefined where it has none. */
function contentOf(policy: OrgPolicy): Readonly<Record<string, string | undefined>> {
  const { session_policies: sessions, apps, api_tokens: tokens, anonymizers, siem } = policy;
  const { certificate_authorities: authorities, user_sourcing: sourcing, okta_subdomain: subdomain } = policy;
  return {
    "V-279691": sessions && counted(sessions, "session policy", "session policies"),
    "V-279693": apps && counted(apps, "app or policy of apps", "apps or policies of apps"),
    "V-279689, V-279690": tokens && counted(tokens, "API token"),
    "V-279692":
      anonymizers === "okta_managed"
        ? "Okta's own list of anonymizers"
        : anonymizers && `${counted(anonymizers.ranges, "range")} of ${anonymizers.source} of ${anonymizers.date}`,
    "V-273207": authorities && counted(authorities, "certificate"),
    "V-273188, V-273189": sourcing && `accounts come from ${sources[sourcing]}`,
    "V-273192": subdomain && "no sign-in at the Okta subdomain",
    [siemRule]: siem && `the service app ${siem.client_id} reads the System Log`,
  };
}

const sources = { okta: "Okta", directory: "a directory", both: "Okta and a directory" } as const;

function counted(list: readonly unknown[], one: string, many = `${one}s`): string {
  return `${list.length} ${list.length === 1 ? one : many}`;
}

/** Absent names of a kind that are compared with those of the org, of which there may be ten thousand. */
const maxAdvised = 10;

/** Names that decide nothing: the org does not have them, or has several, or cannot use the zone. Lists of which the scan sees a part are left out. */
function ineffectiveNames(policy: OrgPolicy, artifacts: CollectedArtifacts): readonly string[] {
  const { session_policies: sessions = [], apps = [], api_tokens: tokens = [], siem } = policy;
  const { network_zones, global_session_policies, access_policies, api_tokens } = artifacts;
  const lists = [...sessions, ...apps].flatMap((entry) => [entry.zones_allowed ?? [], entry.zones_denied ?? []]);
  const zones = [...lists, ...tokens.map((token) => token.zones)].flat();
  const seenApps = areAllAppsSeen(artifacts.apps) ? entriesOf(artifacts.apps) : undefined;
  const active = new Set(seenApps?.filter((app) => activityOf(app) !== "inactive").map(nameOf));
  // An app that was turned off may have the label of the one that took its place.
  const mayBeMeant = (app: JsonObject) => activityOf(app) !== "inactive" || !active.has(nameOf(app));
  const seenSessions = wholeOf(global_session_policies)?.map((one) => one.policy);
  const wholeSessions = seenSessions?.some(isSystem) === true ? seenSessions : undefined;
  const kinds: readonly (readonly [kind: string, known: readonly string[] | undefined, names: readonly string[]])[] = [
    ["zone", wholeOf(network_zones)?.map(nameOf), zones],
    ["session policy", wholeSessions?.map(nameOf), sessions.map((one) => one.policy)],
    ["app", seenApps?.filter(mayBeMeant).map(nameOf), apps.flatMap(({ app }) => app ?? [])],
    ["policy of apps", wholeOf(access_policies)?.map(nameOf), apps.flatMap((one) => one.policy ?? [])],
    ["API token", wholeOf(api_tokens)?.map(nameOf), tokens.map(({ token }) => token)],
    ["client", seenApps?.map(clientIdOf), siem === undefined ? [] : [siem.client_id]],
  ];
  const listed = readZones(network_zones);
  const present = [...new Set(zones)].filter((name) => listed.missing === null && listed.named(name).length > 0);
  const problems = present.flatMap((name) => zoneProblem([name], listed) ?? []);
  const others = kinds.flatMap(([kind, known = null, names]) => {
    if (known === null) return [];
    const count = Map.groupBy(known, (name) => name);
    const isEveryOther = (name: string) => name === "*" && (kind === "session policy" || kind === "app");
    const wanted = [...new Set(names)].filter((name) => !isEveryOther(name));
    const absent = wanted.filter((name) => !count.has(name));
    const repeated = wanted.filter((name) => kind !== "zone" && (count.get(name)?.length ?? 0) > 1);
    return [
      ...absent.map((name, index) => {
        const nearest = index < maxAdvised ? nearestName(name, known) : null;
        const advice = nearest === null ? "" : `: did you mean ${JSON.stringify(nearest)}?`;
        return `The org has no ${kind} ${JSON.stringify(name)}${advice}`;
      }),
      ...repeated.map(
        (name) => `The org has more than one ${kind} ${JSON.stringify(name)}: the document decides nothing`,
      ),
    ];
  });
  return [...others, ...problems.map((problem) => `The document decides nothing by a zone: ${problem}`)];
}

function wholeOf<Value>(evidence: Evidence<Value> | undefined): Value | undefined {
  return evidence?.state === "obtained" ? evidence.value : undefined;
}
