import type { FindingResource, Severity } from "../../shared/report.ts";
import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import type { ArtifactName, Evidence } from "../evidence/artifacts.ts";
import type { Check, FindingDraft } from "./check.ts";
import { viewOf } from "./company_checks/artifact_views.ts";
import { evaluateCondition, evaluateEntries, Unavailable, type Steps } from "./company_checks/evaluate_expression.ts";
import type { Expression } from "./company_checks/expression.ts";
import { fail, manual, manualForMissing, pass, unreadable, type Subject } from "./evaluating/finding_drafts.ts";
import { showValue } from "./parsing/fields.ts";
import { isNamed, resourceOf } from "./parsing/names.ts";

/** A rule of a company's own, in addition to those of the STIG. */
export interface CompanyRule {
  /** `ACME-7`. */
  readonly id: string;
  readonly title: string;
  readonly severity: Severity;
  readonly artifact: ArtifactName;
  /** What is judged: one finding each. */
  readonly each: Expression;
  readonly condition: Expression;
  readonly expected: string;
  readonly remediation: string;
  /** The verdict where there is nothing to judge. */
  readonly ifNone: "PASS" | "FAIL" | "MANUAL";
}

/** Some seconds; an org of ten thousand apps and a rule of two thousand characters take less. */
const maxSteps = 50_000_000;

/** The check of a company's rule; its evidence is judged as that of any other. */
export function companyCheck(rule: CompanyRule): Check {
  const { id, title, artifact, each, condition, expected, remediation } = rule;
  return {
    name: companyCheckName(id),
    artifacts: [artifact],
    conditionalArtifacts: () => [],
    parameters: [],
    explanation: {
      examines: `${title} (${each.source} of ${artifact})`,
      why: `A rule of the organization: ${expected}`,
      fix: [remediation],
      deciding_fields: [`${artifact}: ${condition.source}`],
    },
    evaluate: (artifacts) => judge(artifacts[artifact], rule),
  };
}

/** `ACME-7` is `company_acme_7`: no check of the STIG is called so. */
export function companyCheckName(id: string): string {
  return `company_${id.toLowerCase().replaceAll(/[^a-z0-9]+/g, "_")}`;
}

function judge(evidence: Evidence<unknown> | undefined, rule: CompanyRule): readonly FindingDraft[] {
  const { artifact, each, expected, ifNone } = rule;
  const org: Subject = { resource: null, expected };
  if (evidence === undefined) throw new TypeError(`Cannot evaluate a rule without the artifact ${artifact}`);
  const steps: Steps = { left: maxSteps };
  const isWhole = each.kind === "current";
  if (evidence.state === "missing") {
    // A list that broke off proves what fails in it; a rule about all of it has no verdict.
    const found = isWhole || evidence.partial === null ? [] : judgeEach(evidence.partial, rule, steps).drafts;
    return [...found.filter(({ status }) => status === "FAIL"), manualForMissing(org, evidence)];
  }
  const { drafts, problem } = judgeEach(evidence.value, rule, steps);
  const all = problem === null ? drafts : [...drafts, manualFor(org, problem)];
  if (all.length > 0) return all;
  if (ifNone === "MANUAL") return [manual(org, "not_applicable", "nothing that the rule is about")];
  return [(ifNone === "PASS" ? pass : fail)(org, "nothing that the rule is about")];
}

function judgeEach(
  value: unknown,
  rule: CompanyRule,
  steps: Steps,
): { readonly drafts: readonly FindingDraft[]; readonly problem: Unavailable | null } {
  const { toView } = viewOf(rule.artifact);
  const places: Places = new Map();
  const onStep = (found: object, parent: object, key: string | number) => void places.set(found, { parent, key });
  const { items, problem } = evaluateEntries(rule.each, toView(value), { steps, onStep });
  return { drafts: items.map((item) => judgeItem(item, rule, { steps, places })), problem };
}

/** Where each object and list was found that a rule's path leads to. */
type Places = Map<object, { readonly parent: object; readonly key: string | number }>;

function judgeItem(
  item: unknown,
  rule: CompanyRule,
  { steps, places }: { readonly steps: Steps; readonly places: Places },
): FindingDraft {
  const { type, isList } = viewOf(rule.artifact);
  const isWhole = rule.each.kind === "current" && isList;
  const { expected } = rule;
  if (item instanceof Unavailable) return manualFor({ resource: null, expected }, item);
  if (!isWhole && !isJsonObject(item)) return unreadable({ resource: null, expected }, showValue(item));
  const resource = isWhole || !isJsonObject(item) ? null : namedResource(resourceType(rule.each, type), item, places);
  const subject: Subject = { resource, expected };
  const reads = new Map<string, unknown>();
  const onRead = (source: string, read: unknown) => void reads.set(source, read);
  const truth = evaluateCondition(rule.condition, item, { steps, onRead });
  if (truth instanceof Unavailable) return manualFor(subject, truth);
  return (truth === true ? pass : fail)(subject, describe(reads));
}

/** What has no separate name is named by its place in what has one, so that each entry is a separate finding. */
function namedResource(type: string, item: JsonObject, places: Places): FindingResource {
  const keys: (string | number)[] = [];
  let at: object = item;
  let place = places.get(at);
  while (!isNamed(at) && place !== undefined) {
    keys.unshift(place.key);
    at = place.parent;
    place = places.get(at);
  }
  if (keys.length === 0) return resourceOf(type, item);
  // A list that is the evidence itself has no name.
  const owner = isJsonObject(at) ? resourceOf(type, at) : { id: type, name: type };
  return { type, id: [owner.id, ...keys].join("/"), name: [owner.name, ...keys].join("/") };
}

/** Among `[*].rules[*]` the rules. */
function resourceType(each: Expression, type: string): string {
  if (each.kind === "entries") return resourceType(each.of, type);
  return each.kind === "field" ? each.name.replace(/s$/, "") : type;
}

function manualFor(subject: Subject, { reason, detail }: Unavailable): FindingDraft {
  return manual(subject, reason, detail);
}

const maxShown = 5;

/** The values that were compared, in the order of the condition: `status "ACTIVE", priority 2`. */
function describe(reads: ReadonlyMap<string, unknown>): string {
  const shown = [...reads]
    .filter(([, value]) => !(value instanceof Unavailable))
    .slice(0, maxShown)
    .map(([source, value]) => `${source} ${value === null ? "not set" : showValue(value)}`);
  return shown.length === 0 ? "nothing to compare" : shown.join(", ");
}
