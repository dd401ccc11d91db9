import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import type { Cause, CheckResult, Finding, FindingResource } from "../../shared/report.ts";
import { shorten } from "../../shared/text.ts";
import type { CatalogCheck } from "../catalog/catalog.ts";
import { isCauseOf } from "../causes/cause_objects.ts";
import { causesOf } from "../causes/causes.ts";
import { accessPolicyId } from "../checks/parsing/access_policy.ts";
import { activityOf } from "../checks/parsing/activity.ts";
import { nameOf } from "../checks/parsing/names.ts";
import { everyoneIn, restrictionsOf, accessOf, inOrder } from "../checks/parsing/policy_rules.ts";
import { type DecidingFields, artifactsReadBy } from "../checks/check.ts";
import { firstRequestText, objectParts } from "../evidence/artifact_table.ts";
import type { ArtifactName, CollectedArtifacts, JsonList } from "../evidence/artifacts.ts";
import type { ArtifactsDocument } from "../evidence/artifacts_document.ts";
import { consoleSettings } from "../evidence/listed_objects.ts";
import { objectLists, type ObjectList, type OrgObject } from "../evidence/org_objects.ts";
import type { OwnValues } from "../org_policy/document.ts";
import { failuresFirst, findingMarks, noteOf } from "../reports/result_text.ts";

/** Explanation of one rule of the STIG by an org's evidence. */
export type OrgExplanation = ReturnType<typeof explainOrg>;
export type ExplainedFinding = OrgExplanation["findings"][number];
export type ExplainedRule = ExplainedFinding["rules"][number];
export type DecidingValue = ExplainedFinding["values"][number];

/** More findings than this are counted. */
const maxFindings = 20;
/** Longer values are cut. */
const maxValueLength = 300;

/** One check's objects in the order in which Okta evaluates them, and what decides. */
export function explainOrg(
  check: CatalogCheck,
  result: CheckResult,
  { document, values = {} }: { readonly document: ArtifactsDocument; readonly values?: OwnValues },
) {
  const { artifacts, scan } = document;
  const causes = causesOf([result], artifacts);
  const org = indexOrg(artifacts);
  const alike = ({ cause, fingerprint, actual }: Finding) => (cause === null ? fingerprint : `${cause} ${actual}`);
  const findings = [...Map.groupBy(failuresFirst(result.findings), alike).values()];
  return {
    org_url: scan.org_url,
    status: result.status,
    detail: result.detail,
    /** Findings with the same cause and the same actual value are one; `also` names the other objects. */
    findings: findings.slice(0, maxFindings).flatMap(([finding, ...others]) => {
      if (finding === undefined) return [];
      const also = others.map(({ resource }) => resource.name);
      return [{ ...explainFinding(finding, { check, org, causes }), also }];
    }),
    /** Findings that are not listed. */
    more: findings.slice(maxFindings).flat().length,
    /** Artifacts that were read for it, in the order of the check's needs. */
    read: artifactsReadBy(check, artifacts, values).map((artifact) => readOf(artifact, document)),
  };
}

/** The request that gave the evidence, and when; what was not collected has the end of the scan. */
function readOf(artifact: ArtifactName, { artifacts, scan }: ArtifactsDocument) {
  const evidence = artifacts[artifact];
  const { request = firstRequestText(artifact), at = scan.ended_at } = evidence?.read ?? {};
  const state = evidence === undefined ? "not collected" : evidence.state === "missing" ? evidence.reason : "obtained";
  return { artifact, request, at, state };
}

interface Context {
  readonly check: CatalogCheck;
  readonly org: ReturnType<typeof indexOrg>;
  readonly causes: readonly Cause[];
}

export function explainFinding(finding: Finding, { check, org, causes }: Context) {
  const { status, reason, resource, expected, actual } = finding;
  const rules = org.rulesOf(resource);
  const fields = fieldsOf(check, rules !== null);
  const deciding = decidingRule(finding, rules ?? []);
  const object = rules === null ? org.objectOf(resource) : null;
  let isReached = true;
  return {
    status,
    reason,
    resource,
    expected,
    actual,
    /** Lines about the rest: what is left to a person, and which decisions of people count. */
    notes: [noteOf(finding), ...findingMarks(finding)].filter(Boolean),
    /** The rules that Okta evaluates, in its order; empty where no rules decide. */
    rules: inOrder(rules ?? []).map((rule) => {
      const conditions = [...restrictionsOf(rule, org.everyone).keys()];
      const wasReached = isReached;
      const isOfApp = isJsonObject(rule["actions"]) && "appSignOn" in rule["actions"];
      isReached &&= activityOf(rule) !== "active" || conditions.length > 0;
      return {
        id: typeof rule["id"] === "string" ? rule["id"] : "",
        name: nameOf(rule),
        priority: rule["priority"] ?? null,
        status: activityOf(rule),
        access: accessOf(rule, isOfApp ? "actions.appSignOn.access" : "actions.signon.access"),
        /** The names of the conditions that leave others to the next rule; empty: the rule is for everybody. */
        conditions,
        decides: rule === deciding,
        /** False: a rule before it is for everybody. */
        isReached: wasReached,
        values: valuesOf(rule, fields),
      };
    }),
    /** The fields of the object that decide, as the API shows them. */
    values: object === null ? [] : valuesOf(object, fields),
    /** Change that would make it pass; null where it passes or no change is known. */
    change: causes.find(({ id }) => id === finding.cause)?.change ?? null,
  };
}

/** The rule that the verdict names: by its cause where it fails, else by its name in what was found. */
function decidingRule(finding: Finding, rules: JsonList): JsonObject | null {
  const byName = rules.filter((rule) => finding.actual.includes(`rule "${nameOf(rule)}"`));
  return rules.find((rule) => isCauseOf(finding, rule)) ?? (byName.length === 1 ? (byName[0] ?? null) : null);
}

/** Finds objects of the artifacts, for each of thousands of findings. The first of two that are alike counts. */
export function indexOrg(artifacts: CollectedArtifacts) {
  const lists = objectLists(artifacts).toReversed();
  const ofRules = lists.filter(({ artifact }) => artifact !== "user_lifecycle_policies");
  const byParent = new Map<unknown, ObjectList>(ofRules.map((list) => [list.parent?.id, list]));
  const keyOf = ({ type, id }: Pick<OrgObject, "type" | "id">) => `${type} ${id}`;
  const objects = lists.flatMap((list) => list.objects.toReversed());
  const byKey = new Map(objects.map((object) => [keyOf(object), object.value]));
  const objectOf = ({ type, id }: FindingResource) =>
    byKey.get(keyOf({ type: id === consoleSettings.id ? consoleSettings.type : type, id })) ?? null;
  return {
    everyone: everyoneIn(artifacts.built_in_groups),
    objectOf,
    /** The rules that decide about a policy or an app; null where it is not rules that decide. */
    rulesOf(resource: FindingResource): JsonList | null {
      if (resource.type !== "policy" && resource.type !== "app") return null;
      const app = resource.type === "app" ? objectOf(resource) : null;
      const list = byParent.get(resource.id) ?? (app === null ? undefined : byParent.get(accessPolicyId(app)));
      return list?.objects.map(({ value }) => value) ?? null;
    },
  };
}

/** The deciding fields of a rule, or of any other object. */
function fieldsOf({ decidingFields }: CatalogCheck, areOfRules: boolean): readonly string[] {
  const isOfRules = ({ request }: DecidingFields) => request === `GET ${objectParts.policyRules.path}`;
  const fields = decidingFields.filter((one) => isOfRules(one) === areOfRules).flatMap((one) => one.fields);
  const shown = areOfRules ? fields.filter((path) => /^(?:actions|conditions)\./.test(path)) : fields;
  // Lists are shown whole.
  const paths = shown.map((path) => path.replace(/\[\].*/, ""));
  return [...new Set(paths)].filter((path) => !path.endsWith("access"));
}

/** Fields such as `settings.password.age.historyCount`, with their values as JSON. */
function valuesOf(object: JsonObject, fields: readonly string[]) {
  return fields.flatMap((field) => {
    const value = field
      .split(".")
      .reduce<unknown>((inner, key) => (isJsonObject(inner) ? inner[key] : undefined), object);
    return value === undefined ? [] : [{ field, value: shorten(JSON.stringify(value), maxValueLength) }];
  });
}
