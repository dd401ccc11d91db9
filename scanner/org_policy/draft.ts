import { accessPolicyId } from "../checks/parsing/access_policy.ts";
import { activityOf } from "../checks/parsing/activity.ts";
import { directoryOf } from "../checks/evaluating/directory.ts";
import { nameOf } from "../checks/parsing/names.ts";
import { judgeZone } from "../checks/network_zone_block_anonymized_proxies.ts";
import { otherBrands } from "../checks/signon_dod_warning_banner_configured.ts";
import { everyoneIn } from "../checks/parsing/policy_rules.ts";
import { readZones, type Zones } from "../checks/evaluating/zones.ts";
import { availableValue, entriesOf, type CollectedArtifacts } from "../evidence/artifacts.ts";
import type { ArtifactsDocument } from "../evidence/artifacts_document.ts";
import type { ApiTokenEntry, AppEntry, ZoneLists } from "./document.ts";
import { areRolesRead, policyZoneUse, roleName, rolesOf, tokenZoneUse, type ZoneUse } from "./facts.ts";
import { orgPolicyFormat } from "./schema.ts";

/**
 * Writes down the org as it is. Nobody has approved that: `approved_by`, `reference`, each purpose and, where a directory is in use,
 * the source of users are empty, and a document without them is refused, so that a person reads it. An object is left out if it
 * cannot be read, or names a zone that the org does not have once.
 */
export function draftOrgPolicy({ scan, artifacts }: ArtifactsDocument, day: string) {
  const zones = readZones(artifacts.network_zones);
  const sessions = withSoleName(draftSessions(artifacts, zones), ({ policy }) => policy);
  const apps = draftApps(artifacts, zones);
  const tokens = withSoleName(draftTokens(artifacts, zones), ({ token }) => token);
  const authorities = draftAuthorities(artifacts);
  const hasOtherBrand = otherBrands(artifacts.brand_sign_in_pages) === "with a domain";
  const directory = directoryOf(artifacts);
  const blocksByOkta = zones.listed.some((zone) => judgeZone(zone)?.kind === "blocks");
  return {
    format: orgPolicyFormat,
    org_url: new URL(scan.org_url).origin,
    approved_by: "",
    approved_on: day,
    expires: `${Number(day.slice(0, 4)) + 1}${day.slice(4)}`.replace("02-29", "02-28"),
    reference: "",
    ...(sessions.length > 0 && { session_policies: sessions }),
    ...(apps.length > 0 && { apps }),
    ...(tokens.length > 0 && { api_tokens: tokens }),
    ...(blocksByOkta && { anonymizers: "okta_managed" as const }),
    ...(authorities.length > 0 && { certificate_authorities: authorities }),
    ...(directory.kind === "in_use" && { user_sourcing: "" as const }),
    ...(directory.kind === "none" && !directory.hidesApps && { user_sourcing: "okta" as const }),
    ...(hasOtherBrand && { okta_subdomain: { use: "not_used" as const, prevented_by: "" } }),
  };
}

function draftSessions(
  { global_session_policies: policies, built_in_groups: groups }: CollectedArtifacts,
  zones: Zones,
) {
  const reading = { accessPath: "actions.signon.access", zones, everyone: everyoneIn(groups) } as const;
  return entriesOf(policies).flatMap(({ policy, rules }) => {
    const lists = rules?.state === "obtained" ? zoneLists(policyZoneUse(rules.value, reading), zones) : null;
    return lists === null || activityOf(policy) !== "active" ? [] : [{ policy: nameOf(policy), ...lists }];
  });
}

/** Leaves out what has a name that others have, too: the document speaks of objects by name, and would be refused. */
function withSoleName<Entry>(entries: readonly Entry[], nameOfEntry: (entry: Entry) => string): Entry[] {
  const byName = Map.groupBy(entries, nameOfEntry);
  return entries.filter((entry) => byName.get(nameOfEntry(entry))?.length === 1);
}

/** Drafts by policy where its name is known: the entry counts for the apps that will be bound to it, too. */
function draftApps(artifacts: CollectedArtifacts, zones: Zones) {
  const { apps, app_policy_rules: byId, access_policies: named, built_in_groups: groups } = artifacts;
  const names = new Map(entriesOf(named).map((policy) => [policy["id"], nameOf(policy)]));
  const rules = (byId === undefined ? null : availableValue(byId)) ?? {};
  const reading = { accessPath: "actions.appSignOn.access", zones, everyone: everyoneIn(groups) } as const;
  const entries = new Map<string, AppEntry>();
  for (const app of entriesOf(apps)) {
    const policyId = activityOf(app) === "active" && app["signOnMode"] !== null ? accessPolicyId(app) : null;
    const evidence = typeof policyId === "string" && Object.hasOwn(rules, policyId) ? rules[policyId] : undefined;
    if (evidence?.state !== "obtained") continue;
    const lists = zoneLists(policyZoneUse(evidence.value, reading), zones);
    const policy = names.get(policyId);
    const entry = policy === undefined ? { app: nameOf(app) } : { policy };
    if (lists !== null) entries.set(JSON.stringify(entry), { ...entry, ...lists });
  }
  return [...entries.values()];
}

function draftTokens({ api_tokens: tokens, api_token_owners: owners }: CollectedArtifacts, zones: Zones) {
  const known = (owners === undefined ? null : availableValue(owners)) ?? {};
  return entriesOf(tokens).flatMap((token): ApiTokenEntry[] => {
    const owner = known[String(token["userId"])];
    if (owner === undefined || owner.login === null || !areRolesRead(owner)) return [];
    const roles = [...new Set(rolesOf(owner).map(roleName))];
    const allowed = zoneLists(tokenZoneUse(token, zones), zones)?.zones_allowed ?? [];
    return [{ token: nameOf(token), owner: owner.login, roles, zones: allowed, purpose: "" }];
  });
}

function draftAuthorities({ smart_card_idps: idps }: CollectedArtifacts) {
  const certificates = entriesOf(idps).flatMap(({ idp, certificate }) => {
    const found = activityOf(idp) === "active" ? availableValue(certificate) : null;
    return found === null ? [] : [found, ...found.chain];
  });
  const byDigest = new Map(certificates.map(({ sha256, subject }) => [sha256, subject]));
  return [...byDigest].map(([sha256, name]) => ({ sha256, name }));
}

function zoneLists(use: ZoneUse | null, zones: Zones): ZoneLists | null {
  const [allowed = [], denied = []] = [use?.allowed, use?.denied].map((names) => [...new Set(names)].toSorted());
  const isOpenToo = use !== null && use.open !== null && allowed.length > 0;
  const areNamed = [...allowed, ...denied].every((name) => zones.named(name).length === 1);
  if (isOpenToo || !areNamed || allowed.length + denied.length === 0) return null;
  return {
    ...(allowed.length > 0 && { zones_allowed: allowed }),
    ...(denied.length > 0 && { zones_denied: denied }),
  };
}
