import { nearestName } from "../../shared/nearest_name.ts";
import { nameOf } from "../checks/parsing/names.ts";
import { availableValue, type CollectedArtifacts, type Evidence } from "../evidence/artifacts.ts";
import { citationOf, standingOf, type OrgPolicy } from "./document.ts";

/** The answer of `org-policy check`: lines for a person, and whether something has to be done about the document. */
export interface Examination {
  readonly lines: readonly string[];
  readonly isFine: boolean;
}

/** `artifacts`: the org to compare the names with; null: only the document itself is examined. `at`: ISO 8601 in UTC. */
export function examineOrgPolicy(policy: OrgPolicy, at: string, artifacts: CollectedArtifacts | null): Examination {
  const standing = standingOf(policy, at);
  const standings = {
    in_force: `in force until ${policy.expires}`,
    expired: `expired on ${policy.expires}: it decides nothing`,
    not_in_force_yet: `in force from ${policy.approved_on}: until then it decides nothing`,
  };
  const absent = artifacts === null ? [] : absentNames(policy, artifacts);
  const covered = sections.map(({ rules, say }) => ({ rules, said: say(policy) }));
  return {
    lines: [
      `${citationOf(policy)} for ${policy.org_url}, ${standings[standing]}`,
      ...covered.flatMap(({ rules, said }) => (said === null ? [] : [`${rules.join(", ")}: ${said}`])),
      ...covered.flatMap(({ rules, said }) =>
        said === null ? [`${rules.join(", ")}: not covered, stays MANUAL`] : [],
      ),
      ...absent,
    ],
    isFine: standing === "in_force" && absent.length === 0,
  };
}

interface Section {
  /** V-numbers. */
  readonly rules: readonly string[];
  /** Null: the document says nothing about it. */
  readonly say: (policy: OrgPolicy) => string | null;
}

function counted(list: readonly unknown[] | undefined, one: string, many = `${one}s`): string | null {
  return list === undefined ? null : `${list.length} ${list.length === 1 ? one : many}`;
}

const sections: readonly Section[] = [
  { rules: ["V-279691"], say: (policy) => counted(policy.session_policies, "session policy", "session policies") },
  { rules: ["V-279693"], say: (policy) => counted(policy.apps, "app or policy of apps", "apps or policies of apps") },
  { rules: ["V-279689", "V-279690"], say: (policy) => counted(policy.api_tokens, "API token") },
  {
    rules: ["V-279692"],
    say({ anonymizers }) {
      if (anonymizers === undefined) return null;
      if (anonymizers === "okta_managed") return "Okta's own list of anonymizers";
      return `${counted(anonymizers.ranges, "range")} of ${anonymizers.source} of ${anonymizers.date}`;
    },
  },
  { rules: ["V-273207"], say: (policy) => counted(policy.certificate_authorities, "certificate") },
  {
    rules: ["V-273188", "V-273189"],
    say: ({ user_sourcing: sourcing }) => (sourcing === undefined ? null : `accounts come from ${sources[sourcing]}`),
  },
  {
    rules: ["V-273192"],
    say: ({ okta_subdomain: subdomain }) => (subdomain === undefined ? null : "no sign-in at the Okta subdomain"),
  },
];

const sources = { okta: "Okta", directory: "a directory", both: "Okta and a directory" } as const;

/** A name that the org does not have decides nothing. Lists that were not read in whole are left out. */
function absentNames(policy: OrgPolicy, artifacts: CollectedArtifacts): readonly string[] {
  const { session_policies: sessions = [], apps = [], api_tokens: tokens = [] } = policy;
  const zones = [...sessions, ...apps].flatMap(({ zones_allowed: allowed = [], zones_denied: denied = [] }) => [
    ...allowed,
    ...denied,
  ]);
  return [
    ...absentFrom(artifacts.network_zones, [...zones, ...tokens.flatMap((token) => token.zones)], "zone"),
    ...absentFrom(
      mapped(artifacts.global_session_policies, ({ policy: one }) => one),
      sessions.map((one) => one.policy),
      "session policy",
    ),
    ...absentFrom(
      artifacts.apps,
      apps.flatMap(({ app }) => app ?? []),
      "app",
    ),
    ...absentFrom(
      artifacts.access_policies,
      apps.flatMap((one) => one.policy ?? []),
      "policy of apps",
    ),
    ...absentFrom(
      artifacts.api_tokens,
      tokens.map(({ token }) => token),
      "API token",
    ),
  ];
}

function absentFrom(
  evidence: Evidence<readonly Named[]> | undefined,
  names: readonly string[],
  kind: string,
): readonly string[] {
  if (evidence?.state !== "obtained") return [];
  const known = evidence.value.map(nameOf);
  const has = new Set([...known, "*"]);
  return [...new Set(names)]
    .filter((name) => !has.has(name))
    .map((name) => {
      const nearest = nearestName(name, known);
      const advice = nearest === null ? "" : `: did you mean ${JSON.stringify(nearest)}?`;
      return `The org has no ${kind} ${JSON.stringify(name)}${advice}`;
    });
}

type Named = Parameters<typeof nameOf>[0];

function mapped<Item>(
  evidence: Evidence<readonly Item[]> | undefined,
  map: (item: Item) => Named,
): Evidence<readonly Named[]> | undefined {
  if (evidence === undefined) return undefined;
  const value = availableValue(evidence);
  return evidence.state === "obtained" && value !== null ? { state: "obtained", value: value.map(map) } : undefined;
}
