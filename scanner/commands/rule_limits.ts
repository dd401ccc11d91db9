import type { JsonObject } from "../../shared/json.ts";
import { catalog, type CatalogCheck } from "../catalog/catalog.ts";
import { accessPolicyId } from "../checks/parsing/access_policy.ts";
import { artifactTable, partPath, partPaths } from "../evidence/artifact_table.ts";
import type { ArtifactName } from "../evidence/artifacts.ts";
import { pathSegment } from "../evidence/collectors/collector.ts";
import type { AuthorizedClient } from "../okta/connection.ts";
import type { IdpRequest, Reading } from "../okta/idp_client.ts";
import { toShownPath } from "../okta/safe_text.ts";

/** Why a scan as things are leaves some rules open, and what to change. */
export interface RuleLimit {
  /** Vulnerability ids, in the order of the STIG. */
  readonly rules: readonly string[];
  /** `manual`: no verdict is possible; `partial`: what passes leaves a part to a person. */
  readonly outcome: "manual" | "partial";
  readonly why: string;
  /** Null where nothing can be changed. */
  readonly remedy: string | null;
}

/** Answers of the organization to one small read of each kind of evidence. */
export interface RuleAnswers {
  readonly limits: readonly RuleLimit[];
  /** Facts about what this role sees of a real organization, where the provider's documents do not say; one sentence each. */
  readonly facts: readonly string[];
  readonly reads: readonly Read[];
}

/** Null: the organization has no such object, so there was nothing to ask. */
type Answer = Reading<readonly JsonObject[]> | null;

interface Read {
  readonly request: IdpRequest;
  readonly answer: Answer;
}

type Limit = Omit<RuleLimit, "rules">;

/** Asks for the first page of everything that the checks read, at most twenty requests. Never throws for what the provider does. */
export async function examineRules(session: AuthorizedClient): Promise<RuleAnswers> {
  const names = (Object.keys(artifactTable) as ArtifactName[]).filter((name) => name !== "apps");
  const reads = new Map<ArtifactName, Read>();
  const readAll = names.map(async (name) => {
    const { request } = artifactTable[name];
    if (request !== null) reads.set(name, { request, answer: await ask(session, request) });
  });
  await Promise.all(readAll);
  const owner = await readOwner(session, reads.get("api_tokens")?.answer ?? null);
  const seesAll = seesEveryApp(reads);
  const limitsOf = (check: CatalogCheck) => limitsOfCheck(check, { session, reads, owner, seesAll });
  return {
    limits: grouped(catalog.map((check) => [check.rule.vuln_id, limitsOf(check)] as const)),
    facts: [
      appsFact(seesAll),
      answerFact(
        "GET /api/v1/users/{id}/roles",
        owner[0]?.answer ?? null,
        "No API token names an owner, so roles of users were not read",
      ),
      answerFact("GET /api/v1/logStreams", reads.get("log_streams")?.answer ?? null, "Log streams were not read"),
    ],
    reads: [...reads.values(), ...owner],
  };
}

async function ask({ client }: AuthorizedClient, request: IdpRequest): Promise<Answer> {
  if (request.path.includes("/first-party-app-settings/")) {
    const object = await client.getObject(request);
    return object.state === "obtained" ? { state: "obtained", value: [object.value] } : { ...object, partial: null };
  }
  // A list of one name ends with its first page, and shows whether the role sees the provider's own apps.
  if (request.path.startsWith("/api/v1/apps?filter=")) return client.getList(request);
  const page = await client.getPage(request);
  return page.state === "obtained" ? { state: "obtained", value: page.value.entries } : { ...page, partial: null };
}

/** Every organization has the provider's own apps, so a list without them is not whole. Null: it could not be read. */
function seesEveryApp(reads: ReadonlyMap<ArtifactName, Read>): boolean | null {
  const answers = [reads.get("admin_console_app")?.answer, reads.get("dashboard_app")?.answer];
  if (answers.some((answer) => answer?.state !== "obtained")) return null;
  return answers.every((answer) => valueOf(answer ?? null).length > 0);
}

/** The roles and groups of one token's owner, and the roles of one of these groups. Empty where no token shows an owner. */
async function readOwner(session: AuthorizedClient, tokens: Answer): Promise<readonly Read[]> {
  const id = idOf(valueOf(tokens), "userId");
  if (id === null) return [];
  const requests = [
    { path: partPath(partPaths.userRoles, id), scope: "roles.read" },
    { path: partPath(partPaths.userGroups, id), scope: "users.read" },
  ];
  const reads = await Promise.all(requests.map(async (request) => ({ request, answer: await ask(session, request) })));
  const groupId = idOf(valueOf(reads[1]?.answer ?? null), "id");
  if (groupId === null) return reads;
  const request = { path: partPath(partPaths.groupRoles, groupId), scope: "roles.read" };
  return [...reads, { request, answer: await ask(session, request) }];
}

function idOf(entries: readonly JsonObject[], field: string): string | null {
  return entries.map((entry) => pathSegment(entry[field])).find((id) => id !== null) ?? null;
}

function valueOf(answer: Answer): readonly JsonObject[] {
  return answer?.state === "obtained" ? answer.value : [];
}

interface Asked {
  readonly session: AuthorizedClient;
  readonly reads: ReadonlyMap<ArtifactName, Read>;
  readonly owner: readonly Read[];
  readonly seesAll: boolean | null;
}

function limitsOfCheck({ artifacts, rule, explanation }: CatalogCheck, asked: Asked): readonly Limit[] {
  const found = artifacts.flatMap((name) => limitsOfArtifact(name, asked));
  // Artifacts that only some organizations need are not declared; the rule's scopes tell of them. Only a refusal matters there.
  const scopes = new Set(artifacts.map((name) => artifactTable[name].request?.scope));
  for (const scope of rule.scopes.filter((name) => !scopes.has(name))) {
    const needed = (Object.keys(artifactTable) as ArtifactName[]).find(
      (name) => artifactTable[name].request?.scope === scope,
    );
    if (needed === undefined) continue;
    found.push(...limitsOfArtifact(needed, asked).filter(({ outcome }) => outcome === "manual"));
  }
  if (artifacts.some((name) => withGroups.has(name))) found.push(...withoutGroups(asked));
  const open = found.filter(({ outcome }) => outcome === "manual");
  if (open.length > 0) return open;
  return explanation.left_to_person === undefined ? found : [...found, leftToPerson];
}

/** Evidence with rules that may be for groups. */
const withGroups = new Set<ArtifactName>([
  "global_session_policies",
  "user_lifecycle_policies",
  "admin_console_app",
  "dashboard_app",
]);

function withoutGroups({ session, reads }: Asked): readonly Limit[] {
  const read = reads.get("built_in_groups");
  const refused = read === undefined ? [] : refusal(read, session);
  const effect = "so a rule for the group Everyone counts as a rule for some people only";
  return refused.map(({ why, remedy }) => ({ outcome: "partial", why: `${why}, ${effect}`, remedy }));
}

function limitsOfArtifact(name: ArtifactName, { session, reads, owner, seesAll }: Asked): readonly Limit[] {
  const refusals = (read: Read | undefined) => (read === undefined ? [] : refusal(read, session));
  if (name === "api_token_owners") return owner.flatMap(refusals);
  if (name === "app_policy_rules") return refusals(reads.get("global_session_policies"));
  if (name === "apps") {
    const builtIn = [reads.get("admin_console_app"), reads.get("dashboard_app")];
    const refused = builtIn.flatMap(refusals);
    if (refused.length > 0) return refused.slice(0, 1);
    return seesAll === false ? [someApps] : [];
  }
  const read = reads.get(name);
  const refused = refusals(read);
  if (refused.length > 0 || (name !== "admin_console_app" && name !== "dashboard_app")) return refused;
  const [app] = valueOf(read?.answer ?? null);
  if (app === undefined) return [hiddenApp];
  return accessPolicyId(app) === null ? [withoutPolicy] : [];
}

const superAdmin =
  "Scan with Super Administrator in a separate run (Applications → your app → Admin roles → Edit assignments), and remove that role afterwards";
const readOnlyFirst = `Assign Read-Only Administrator. If that role is refused too: ${superAdmin.replace("Scan", "scan")}`;
const hiddenApp: Limit = {
  outcome: "manual",
  why: "only Super Administrator sees the Okta Admin Console and the Okta Dashboard in the list of apps",
  remedy: superAdmin,
};
const someApps: Limit = {
  outcome: "partial",
  why: "this role sees only some of the apps",
  remedy: superAdmin,
};
const withoutPolicy: Limit = {
  outcome: "manual",
  why: "the app has no authentication policy, as in every organization of the Classic Engine",
  remedy: "Review the app's sign-on policy in the Admin Console and attest the rule (--decisions)",
};
const leftToPerson: Limit = {
  outcome: "partial",
  why: "the API does not show everything that the rule requires",
  remedy: "Review the rest (see docs/verdicts.md) and attest it (--decisions)",
};

function refusal({ request, answer }: Read, { isGranted, requestedScopes }: AuthorizedClient): readonly Limit[] {
  if (answer === null || answer.state === "obtained") return [];
  if (!isGranted(request.scope)) {
    const scope = requestedScopes.find((name) => name.endsWith(`.${request.scope}`)) ?? request.scope;
    const remedy = "Grant it in Applications → your app → Okta API Scopes";
    return [{ outcome: "manual", why: `the scope ${scope} is not granted`, remedy }];
  }
  if (answer.reason !== "missing_role") return [{ outcome: "manual", why: answer.detail, remedy: null }];
  const call = toShownPath(request.path.replace(/\?.*/, "")).replace(/\/(users|groups)\/[^/]+/, "/$1/{id}");
  const why = `this role may not read GET ${call}`;
  // A custom role may lack what Read-Only Administrator has: the greatest role is never the first remedy for that.
  const needsSuperAdmin = call.startsWith("/api/v1/first-party-app-settings/");
  return [{ outcome: "manual", why, remedy: needsSuperAdmin ? superAdmin : readOnlyFirst }];
}

function grouped(limits: readonly (readonly [rule: string, limits: readonly Limit[]])[]): readonly RuleLimit[] {
  const groups = new Map<string, { readonly limit: Limit; readonly rules: Set<string> }>();
  for (const [rule, found] of limits) {
    for (const limit of found) {
      const key = `${limit.outcome} ${limit.why}`;
      const group = groups.get(key) ?? { limit, rules: new Set() };
      group.rules.add(rule);
      groups.set(key, group);
    }
  }
  const all = [...groups.values()].map(({ limit, rules }) => ({ rules: [...rules], ...limit }));
  return all.toSorted((one, other) => Number(one.outcome === "partial") - Number(other.outcome === "partial"));
}

function appsFact(seesAll: boolean | null): string {
  if (seesAll === null) return "The list of apps could not be read";
  return seesAll
    ? "This role sees the Okta Admin Console and the Okta Dashboard, so it sees every app"
    : "This role does not see the Okta Admin Console and the Okta Dashboard, so it sees only some of the apps";
}

function answerFact(call: string, answer: Answer, nothing: string): string {
  if (answer === null) return nothing;
  return answer.state === "obtained" ? `This role may read ${call}` : `Not readable: ${answer.detail}`;
}
