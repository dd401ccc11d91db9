import type { CollectedArtifacts } from "./evidence/artifacts.ts";
import { ruleFields, type CatalogCheck } from "./catalog/catalog.ts";
import { causeTypes } from "../shared/schemas/report.ts";
import type { CheckContext } from "./checks/check.ts";
import type { CauseObject, FindingDraft } from "./checks/evaluating/finding_drafts.ts";
import { isUsableId, sortBy } from "./checks/parsing/names.ts";
import { restsOn } from "./org_policy/document.ts";
import { ownLimits, withOwnLimits } from "./own_limits.ts";
import { notesOf } from "../shared/schemas/finding_notes.ts";
import { toLine } from "../shared/text.ts";
import type { CheckResult, Finding, FindingResource, ManualReason } from "../shared/report.ts";
import { automatedOf, countedFindings, stateOf, worstVerdict, type Verdict } from "../shared/rule_result.ts";

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
  const { parameters: _own, ...stigContext } = context;
  const findingsBy = (values: CheckContext) => toFindings(check, draftFindings(check, artifacts, values), context);
  const byStig = toResult(check, findingsBy(stigContext));
  const limits = ownLimits(check, context);
  if (limits.length === 0) return byStig;
  const { orgPolicy } = context;
  const cite = (finding: Finding): Finding =>
    orgPolicy === undefined || byStig.findings.includes(finding)
      ? finding
      : { ...finding, rests_on: restsOn(orgPolicy) };
  return withOwnLimits(byStig, findingsBy(context), limits, (merged) => toResult(check, merged.map(cite)));
}

/** The result of a check that could not be evaluated at all, as in a scan that was interrupted. */
export function unevaluatedResult(
  check: CatalogCheck,
  problem: { readonly reason: ManualReason; readonly detail: string },
  context: EvaluationContext,
): CheckResult {
  return toResult(check, toFindings(check, [couldNotEvaluate(problem.reason, problem.detail)], context));
}

function draftFindings(
  check: CatalogCheck,
  artifacts: CollectedArtifacts,
  context: CheckContext,
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

/** Sorted, and one for each resource. */
function toFindings(
  check: CatalogCheck,
  drafts: readonly FindingDraft[],
  { orgUrl, digest }: EvaluationContext,
): readonly Finding[] {
  const org = orgResource(orgUrl);
  // A rule that fails leaves no other work to a person.
  const isFailing = drafts.some(({ status }) => status === "FAIL");
  const findings = drafts.map((draft): Finding => {
    const resource = draft.resource ?? org;
    const cause = causeOf(draft);
    return {
      ...verdictOf(draft),
      resource,
      expected: toLine(draft.expected, maxTextLength),
      actual: toLine(draft.actual, maxTextLength),
      detail: sentence(resource, draft, draft.status === "PASS" && !isFailing ? draft.uncovered : undefined),
      // Made of the check and the resource only: wording, order and time do not change a fingerprint.
      fingerprint: digest(JSON.stringify([check.name, org.id, resource.type, resource.id])),
      waived: false,
      waiver: null,
      change: null,
      advisory: draft.status === "MANUAL" && draft.isAdvisory === true,
      cause: cause === null ? null : causeId(cause, digest),
      ...notesOf(draft.notes ?? {}, maxTextLength),
    };
  });
  return sortBy(onePerResource(findings), ({ resource: { type, name, id } }) => [type, name, id].join("\u0000"));
}

function toResult(check: CatalogCheck, findings: readonly Finding[]): CheckResult {
  const decisive = countedFindings(findings);
  const verdict = worstVerdict(decisive);
  return {
    ...ruleFields(check),
    ...verdict,
    automated: automatedOf(decisive),
    detail: summarize(findings, decisive, verdict),
    attestation: null,
    findings,
  };
}

/** 12 hex digits, the same for the same object in every scan. */
export function causeId({ type, id }: CauseObject, digest: EvaluationContext["digest"]): string {
  return digest(`${type}\n${id}`).slice(0, 12);
}

/** Object that decides, else the resource itself where a change of it can make the finding pass. */
function causeOf(draft: FindingDraft): CauseObject | null {
  if (draft.status !== "FAIL") return null;
  if (draft.cause !== undefined || draft.resource === null) return draft.cause ?? null;
  const { type, id } = draft.resource;
  const known = causeTypes.find((name) => name === type);
  return known !== undefined && isUsableId(id) ? { type: known, id } : null;
}

/** Makes a PASS that leaves a part of the rule to a person MANUAL: a PASS leaves nothing to ask. */
function verdictOf(draft: FindingDraft): Pick<Finding, "status" | "reason" | "automated"> {
  if (draft.status === "MANUAL") return { status: "MANUAL", reason: draft.reason, automated: null };
  if (draft.status === "FAIL" || draft.uncovered === undefined) {
    return { status: draft.status, reason: null, automated: null };
  }
  return { status: "MANUAL", reason: "partly_automated", automated: "PASS" };
}

function orgResource(orgUrl: string): FindingResource {
  const origin = URL.canParse(orgUrl) ? new URL(orgUrl).origin : orgUrl;
  return { type: "org", id: origin, name: origin.replace(/^https?:\/\//, "") };
}

/** Length that report readers and the gateway accept: provider names are long, and a finding may list several. */
const maxTextLength = 4000;
/** Thirty certificates of a chain. */
const maxDetailLength = 12_000;

const typeNames: Readonly<Record<string, string>> = { org: "Organization", api_token: "API token" };

function sentence(resource: FindingResource, draft: FindingDraft, open: string | undefined): string {
  const type =
    typeNames[resource.type] ?? resource.type.replaceAll("_", " ").replace(/^./, (letter) => letter.toUpperCase());
  const note = draft.note === undefined ? "" : `: ${draft.note}`;
  const text = `${type} "${resource.name}": expected ${draft.expected}, found ${draft.actual}${note}`;
  // The words for a person stay, however long the evidence before them is.
  const end = open === undefined ? "" : `${note === "" ? ":" : ";"} ${toLine(open, maxTextLength)}`;
  const whole = `${toLine(text, maxDetailLength - end.length)}${end}`;
  return `${withoutEnd(whole.replaceAll(/\s+/g, " "))}.`;
}

/** Removes trailing dots and blanks. A regular expression for this would take quadratic time. */
function withoutEnd(text: string): string {
  let end = text.length;
  while (end > 0 && ". ".includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** Keeps the worse of two findings about one resource. */
function onePerResource(findings: readonly Finding[]): readonly Finding[] {
  const kept = new Map<string, Finding>();
  for (const finding of findings) {
    const other = kept.get(finding.fingerprint);
    const worst = other === undefined ? finding : worstVerdict([other, finding]);
    if (other?.status !== worst.status || other.reason !== worst.reason) kept.set(finding.fingerprint, finding);
  }
  return [...kept.values()];
}

/** The finding that it names has the reason of the rule. */
function summarize(findings: readonly Finding[], decisive: readonly Finding[], verdict: Verdict): string {
  const state = stateOf(verdict);
  const deciding = decisive.filter((finding) => stateOf(finding) === state);
  const first = deciding.find(({ reason }) => reason === verdict.reason)?.detail ?? "";
  if (findings.length === 1) return first;
  const [isOne, length] = [deciding.length === 1, findings.length];
  const verbs = isOne
    ? { pass: "passes", fail: "fails", manual: "needs manual review", not_applicable: "does not apply" }
    : { pass: "pass", fail: "fail", manual: "need manual review", not_applicable: "do not apply" };
  return `${deciding.length} of ${length} findings ${verbs[state]}; the first: ${first}`;
}
