import type { JsonObject } from "../../shared/json.ts";
import type { Engine, Finding } from "../../shared/report.ts";
import { catalog, type CatalogCheck } from "../catalog/catalog.ts";
import { evaluateCheck } from "../evaluate.ts";
import { artifactTable, objectParts } from "../evidence/artifact_table.ts";
import { isNotShown, type ArtifactName, type CollectedArtifacts, type Evidence } from "../evidence/artifacts.ts";
import { createCollection } from "../evidence/collect.ts";
import type { HttpIdpClient } from "../okta/http_idp_client.ts";
import type { IdpClient, IdpRequest, Reading } from "../okta/idp_client.ts";
import { places } from "../okta/idp_error.ts";
import { toContext } from "../run_scan.ts";

/** Why a scan as things are leaves some rules open, and what to change. */
export interface RuleLimit {
  /** Vulnerability ids, in the order of the STIG. */
  readonly rules: readonly string[];
  /** `manual`: no PASS is possible, and a FAIL only by what can be read; `partial`: what passes leaves a part to a person. */
  readonly outcome: "manual" | "partial";
  readonly why: string;
  /** Null where nothing can be changed, or `why` says what. */
  readonly remedy: string | null;
}

/** Answers of the organization to one small read of each kind of evidence. */
export type RuleAnswers = Awaited<ReturnType<typeof examineRules>>;

type Limit = Omit<RuleLimit, "rules">;

/**
 * Evaluates every check on a sample: the first page of each list, and one object's part for all of them. Its verdicts mean nothing, but
 * evidence that a scan would miss is missing here. At most thirty requests. Never throws for what the provider does.
 */
export async function examineRules(client: HttpIdpClient, engine: Engine) {
  const asked = new Map<string, Promise<Reading<unknown>>>();
  const collection = createCollection(createSample(client, asked));
  await Promise.all(catalog.map((check) => collection.obtainFor(check)));
  const artifacts = await collection.obtain(["built_in_groups"]);
  const seesAll = client.role === "super_admin";
  const answers = new Map(await Promise.all([...asked].map(async ([path, answer]) => [path, await answer] as const)));
  const granted = [...answers.values()].filter((one) => one.state === "obtained" || one.reason !== "missing_scope");
  const refused = granted.flatMap((one) => (one.state === "missing" && one.refusal?.httpStatus !== 404 ? [one] : []));
  const limits = catalog.map((check) => [check.rule.vuln_id, limitsOf(check, artifacts, { seesAll, engine })] as const);
  const sees = seesAll ? ["sees", "every app"] : ["does not see", "only some of the apps"];
  return {
    limits: grouped(limits),
    ruleCount: catalog.length,
    /** Facts about what this role sees of a real organization, where the provider's documents do not say. */
    facts: [
      `This role ${sees[0]} the Okta Admin Console and the Okta Dashboard, so it sees ${sees[1]}`,
      answerFact(objectParts.userRoles.path, answers.get(objectParts.userRoles.path)),
      answerFact("/api/v1/logStreams", artifacts.log_streams),
    ],
    /** Granted reads that were refused, without what every role below Super Administrator is refused. */
    refused: refused.filter(({ detail }) => !detail.includes(artifactTable.admin_console_settings.request.path)),
    /** How many others were answered. */
    read: granted.length - refused.length,
  };
}

/** A client that asks for one page of a list, and for a part of one object only. `asked` receives the answers. */
function createSample(client: HttpIdpClient, asked: Map<string, Promise<Reading<unknown>>>): IdpClient {
  const once = async <Value>({ path }: IdpRequest, read: () => Promise<Reading<Value>>): Promise<Reading<Value>> => {
    const key = templateOf(path);
    const asking = asked.get(key) ?? read();
    asked.set(key, asking);
    return (await asking) as Reading<Value>;
  };
  const getList = (request: IdpRequest): Promise<Reading<readonly JsonObject[]>> => {
    // The two apps that every organization has stand for ten thousand: a role that sees them sees every app.
    if (request.path === artifactTable.apps.request.path) return builtInApps();
    // A list of one name ends with its first page.
    if (request.path.includes("?filter=name")) return once(request, () => client.getList(request));
    return once(request, async () => {
      const page = await client.getPage(request);
      return page.state === "obtained" ? { state: "obtained", value: page.value.entries } : { ...page, partial: null };
    });
  };
  const builtInApps = async (): Promise<Reading<readonly JsonObject[]>> => {
    const [console, dashboard] = await Promise.all([
      getList(artifactTable.admin_console_app.request),
      getList(artifactTable.dashboard_app.request),
    ]);
    if (console.state === "missing") return console;
    return dashboard.state === "missing" ? dashboard : { ...console, value: [...console.value, ...dashboard.value] };
  };
  return { getList, getObject: (request) => once(request, () => client.getObject(request)) };
}

/** `/api/v1/policies/{id}/rules` for the rules of any policy. */
function templateOf(path: string): string {
  const fits = (template: string) => new RegExp(`^${template.replace("{id}", "[^/?]+")}$`).test(path);
  return Object.values(objectParts).find((part) => fits(part.path))?.path ?? path;
}

/** Evidence with rules that may be for groups. */
const withGroups: readonly ArtifactName[] = [
  "global_session_policies",
  "user_lifecycle_policies",
  "admin_console_app",
  "dashboard_app",
];

function limitsOf(
  check: CatalogCheck,
  artifacts: CollectedArtifacts,
  { seesAll, engine }: { readonly seesAll: boolean; readonly engine: Engine },
): readonly Limit[] {
  const missing = check.artifacts.flatMap((name) => {
    const evidence: Evidence<unknown> | undefined = artifacts[name];
    return evidence?.state === "missing" ? [evidence] : [];
  });
  const context = toContext({ engine, evaluatedAt: sampledAt, orgUrl: "https://org.invalid", orgPolicy: null });
  const { findings } = evaluateCheck(check, artifacts, context);
  // A part of the evidence is missing, or the provider hides it, which only a finding says.
  const isUnread = ({ reason, detail }: Finding) =>
    isNotShown(reason) || (reason === "needs_review" && detail.includes("Classic Engine"));
  const open = findings.filter((finding) => !finding.advisory && isUnread(finding));
  const [first] = [...missing, ...open];
  if (first !== undefined) {
    // The last part of `App "X": expected A, found B: why.` is the same for every app.
    const why = first.detail.replace(/^.*?, found [^:]*: /, "").replace(/\.$/, "");
    return [{ outcome: "manual", why, remedy: remedyFor(first.reason, why) }];
  }
  const { built_in_groups: groups } = artifacts;
  const effect = "so a rule for the group Everyone counts as a rule for some people only";
  return [
    ...(check.leftToPerson === null ? [] : [leftToPerson]),
    ...(check.artifacts.includes("apps") && !seesAll ? [someApps] : []),
    ...(groups?.state === "missing" && check.artifacts.some((name) => withGroups.includes(name))
      ? [{ outcome: "partial", why: `${groups.detail}, ${effect}`, remedy: null } as const]
      : []),
  ];
}

/** A custom role may lack what Read-Only Administrator has: the greatest role is never the first remedy for that. */
function remedyFor(reason: string | null, why: string): string | null {
  if (reason === "needs_review") return attest;
  if (reason !== "missing_role") return null;
  const isBelowSuper = why.includes("GET /") && !why.includes(artifactTable.admin_console_settings.request.path);
  return isBelowSuper
    ? `Assign Read-Only Administrator. If that role is refused too: ${superAdmin.replace("S", "s")}`
    : superAdmin;
}

/** Certificates have to be valid at some time; the sample's verdicts mean nothing. */
const sampledAt = "2026-01-01T00:00:00.000Z";

const superAdmin = `Scan with Super Administrator in a separate run (${places.role}), and remove that role afterwards`;
const attest = "Review the app's sign-on policy in the Admin Console and attest the rule (--decisions)";
const someApps: Limit = { outcome: "partial", why: "this role sees only some of the apps", remedy: superAdmin };
const leftToPerson: Limit = {
  outcome: "partial",
  why: "the API does not show everything that the rule requires",
  remedy: "Review the rest (see scanstream explain), and attest it (--decisions) or use your policy (--org-policy)",
};

function grouped(limits: readonly (readonly [rule: string, limits: readonly Limit[]])[]): readonly RuleLimit[] {
  const all = limits.flatMap(([rule, found]) => found.map((limit) => ({ rule, limit })));
  const groups = Map.groupBy(all, ({ limit: { outcome, why } }) => `${outcome} ${why}`);
  return [...groups.values()]
    .flatMap((group) => {
      const [first] = group;
      return first === undefined ? [] : [{ rules: [...new Set(group.map(({ rule }) => rule))], ...first.limit }];
    })
    .toSorted((one, other) => Number(one.outcome === "partial") - Number(other.outcome === "partial"));
}

function answerFact(path: string, answer: Evidence<unknown> | undefined): string {
  if (answer === undefined) return `GET ${path} was not read`;
  return answer.state === "obtained" ? `This role may read GET ${path}` : `Not readable: ${answer.detail}`;
}
