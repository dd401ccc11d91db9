import type { CollectedArtifacts } from "./evidence/artifacts.ts";
import { ruleFields, type CatalogCheck } from "./catalog/catalog.ts";
import { effectOf } from "./checks/parameter.ts";
import { causeTypes, type CauseObject, type CheckContext, type FindingDraft } from "./checks/check.ts";
import { isUsableId } from "./checks/parsing/ids.ts";
import { notesOf } from "../shared/schemas/finding_notes.ts";
import { toLine } from "../shared/text.ts";
import {
  stateOf,
  worstStatus,
  worstVerdict,
  type CheckResult,
  type Finding,
  type FindingResource,
  type ManualReason,
  type Tailoring,
} from "../shared/report.ts";

export interface EvaluationContext extends CheckContext {
  readonly orgUrl: string;
  /** Makes a fingerprint: SHA-256 in hex. */
  readonly digest: (text: string) => string;
}

/**
 * Evaluates one check. There is always exactly one result: a missing artifact and a check that throws give MANUAL with
 * the reason, and never affect another check. The same artifacts give the same result with the same fingerprints.
 */
export function evaluateCheck(
  check: CatalogCheck,
  artifacts: CollectedArtifacts,
  context: EvaluationContext,
): CheckResult {
  const result = toResult(check, draftFindings(check, artifacts, context), context);
  const tailored = tailoredParameters(check, context);
  if (tailored.length === 0) return result;
  const { parameters: _own, ...stigContext } = context;
  const byStig = toResult(check, draftFindings(check, artifacts, stigContext), context);
  return withTailoring(result, tailored, byStig);
}

function tailoredParameters(check: CatalogCheck, { parameters = {} }: EvaluationContext): Tailoring["parameters"] {
  return check.parameters.flatMap((parameter) => {
    const { name, unit, stigValue } = parameter;
    const value = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
    const effect = value === undefined ? null : effectOf(parameter, value);
    return value === undefined || effect === null ? [] : [{ name, unit, value, stig_value: stigValue, effect }];
  });
}

/** The verdict by the organization's values, with the one by the STIG's next to it. */
function withTailoring(result: CheckResult, parameters: Tailoring["parameters"], byStig: CheckResult): CheckResult {
  const effect = parameters.some((parameter) => parameter.effect === "looser") ? "looser" : "stricter";
  const stigFindings = new Map(byStig.findings.map((finding) => [finding.fingerprint, finding.status]));
  return {
    ...result,
    tailoring: { effect, parameters, stig_status: byStig.status, stig_reason: byStig.reason },
    findings: result.findings.map((finding) => {
      const stigStatus = stigFindings.get(finding.fingerprint);
      return stigStatus === undefined ? finding : { ...finding, stig_status: stigStatus };
    }),
  };
}

/** The result of a check that could not be evaluated at all, as in a scan that was interrupted. */
export function unevaluatedResult(
  check: CatalogCheck,
  problem: { readonly reason: ManualReason; readonly detail: string },
  context: EvaluationContext,
): CheckResult {
  return toResult(check, [couldNotEvaluate(problem.reason, problem.detail)], context);
}

function draftFindings(
  check: CatalogCheck,
  artifacts: CollectedArtifacts,
  context: EvaluationContext,
): readonly FindingDraft[] {
  const absent = check.artifacts.find((name) => artifacts[name] === undefined);
  if (absent !== undefined) {
    return [couldNotEvaluate("provider_error", `What the check needs was not collected (${absent})`)];
  }
  try {
    const drafts = check.evaluate(artifacts, context);
    return drafts.length > 0 ? drafts : [couldNotEvaluate("unreadable", "The check returned no findings")];
  } catch (error) {
    const problem = error instanceof Error ? error.message : "unknown";
    return [couldNotEvaluate("unreadable", `The check failed on an answer that it does not understand (${problem})`)];
  }
}

function couldNotEvaluate(reason: ManualReason, detail: string): FindingDraft {
  return { status: "MANUAL", reason, resource: null, expected: "evidence to judge", actual: "none", note: detail };
}

function toResult(check: CatalogCheck, drafts: readonly FindingDraft[], context: EvaluationContext): CheckResult {
  const org = orgResource(context.orgUrl);
  const findings = drafts.map((draft) => toFinding(draft, { check, org, digest: context.digest }));
  const sorted = onePerResource(findings).sort(byResource);
  const counted = sorted.filter((finding) => !finding.advisory);
  const { status, reason } = worstVerdict(counted.length > 0 ? counted : sorted);
  return {
    ...ruleFields(check),
    status,
    reason,
    detail: summarize(sorted, status),
    coverage: sorted.some((finding) => finding.coverage === "partial") ? "partial" : check.rule.coverage,
    attestation: null,
    findings: sorted,
  };
}

/** 12 hex digits, the same for the same object in every scan. */
export function causeId({ type, id }: CauseObject, digest: EvaluationContext["digest"]): string {
  return digest(`${type}\n${id}`).slice(0, 12);
}

/** What decides, else the resource itself where a change of it can make the finding pass. */
function causeOf(draft: FindingDraft): CauseObject | null {
  if (draft.status !== "FAIL") return null;
  if (draft.cause !== undefined || draft.resource === null) return draft.cause ?? null;
  const { type, id } = draft.resource;
  const known = causeTypes.find((name) => name === type);
  return known !== undefined && isUsableId(id) ? { type: known, id } : null;
}

interface Subject extends Pick<EvaluationContext, "digest"> {
  readonly check: CatalogCheck;
  readonly org: FindingResource;
}

function toFinding(draft: FindingDraft, { check, org, digest }: Subject): Finding {
  const resource = draft.resource ?? org;
  const cause = causeOf(draft);
  return {
    status: draft.status,
    reason: draft.status === "MANUAL" ? draft.reason : null,
    resource,
    expected: toLine(draft.expected, maxTextLength),
    actual: toLine(draft.actual, maxTextLength),
    detail: sentence(resource, draft),
    // For the check and the resource only: wording, order and time do not change a fingerprint.
    fingerprint: digest(JSON.stringify([check.name, org.id, resource.type, resource.id])),
    waived: false,
    waiver: null,
    change: null,
    ...coverageOf(draft),
    advisory: draft.status === "MANUAL" && draft.isAdvisory === true,
    cause: cause === null ? null : causeId(cause, digest),
    ...notesOf(draft.notes ?? {}, maxTextLength),
  };
}

function coverageOf(draft: FindingDraft): Pick<Finding, "coverage" | "coverage_reason"> {
  if (draft.status !== "PASS" || draft.uncovered === undefined) return { coverage: "full", coverage_reason: null };
  return { coverage: "partial", coverage_reason: toLine(draft.uncovered, maxTextLength) };
}

function orgResource(orgUrl: string): FindingResource {
  const origin = URL.canParse(orgUrl) ? new URL(orgUrl).origin : orgUrl;
  return { type: "org", id: origin, name: origin.replace(/^https?:\/\//, "") };
}

/** What report readers and the gateway accept: provider names are long, and a finding may list several. */
const maxTextLength = 4000;

const typeNames: Readonly<Record<string, string>> = { org: "Organization", api_token: "API token" };

function sentence(resource: FindingResource, draft: FindingDraft): string {
  const type =
    typeNames[resource.type] ?? resource.type.replaceAll("_", " ").replace(/^./, (letter) => letter.toUpperCase());
  const note = draft.note === undefined ? "" : `: ${draft.note}`;
  const text = `${type} "${resource.name}": expected ${draft.expected}, found ${draft.actual}${note}`;
  return `${withoutEnd(toLine(text, maxTextLength - 1).replaceAll(/\s+/g, " "))}.`;
}

/** Without trailing dots and blanks. A regular expression for this would take quadratic time. */
function withoutEnd(text: string): string {
  let end = text.length;
  while (end > 0 && ". ".includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** Among two findings about one resource the worse one. */
function onePerResource(findings: readonly Finding[]): Finding[] {
  const kept = new Map<string, Finding>();
  for (const finding of findings) {
    const other = kept.get(finding.fingerprint);
    if (other === undefined || worstStatus([finding.status, other.status]) !== other.status) {
      kept.set(finding.fingerprint, finding);
    }
  }
  return [...kept.values()];
}

/** By code points, so the order is the same in every locale. */
function byResource({ resource: one }: Finding, { resource: other }: Finding): number {
  return compare(one.type, other.type) || compare(one.name, other.name) || compare(one.id, other.id);
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

function summarize(findings: readonly Finding[], status: Finding["status"]): string {
  const decisive = findings.filter((finding) => finding.status === status);
  const first = decisive[0]?.detail ?? "";
  if (findings.length === 1) return first;
  const verbs = { PASS: "pass", FAIL: "fail", MANUAL: "need manual review", NOT_APPLICABLE: "do not apply" };
  const isApplicable = decisive.some((finding) => stateOf(finding) !== "not_applicable");
  const verb = verbs[isApplicable ? status : "NOT_APPLICABLE"];
  return `${decisive.length} of ${findings.length} findings ${verb}; the first: ${first}`;
}
