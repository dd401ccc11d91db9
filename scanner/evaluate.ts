import type { CollectedArtifacts } from "./evidence/artifacts.ts";
import type { CatalogCheck } from "./catalog/catalog.ts";
import type { CheckContext, FindingDraft } from "./checks/check.ts";
import { toLine } from "../shared/text.ts";
import {
  worstStatus,
  type CheckResult,
  type Finding,
  type FindingResource,
  type ManualReason,
} from "../shared/report.ts";

export interface EvaluationContext extends CheckContext {
  readonly orgUrl: string;
  /** SHA-256 in hex, for orgs with thousands of findings; by default the portable, slower one of Web Crypto. */
  readonly sha256?: (text: string) => string;
}

/**
 * Judges one check. Whatever happens gives exactly one result: an artifact that is not there and a check that throws
 * are MANUAL with the reason, and never cost another check its result. The same artifacts give the same result, with
 * the same fingerprints, at any time and place.
 */
export async function evaluateCheck(
  check: CatalogCheck,
  artifacts: CollectedArtifacts,
  context: EvaluationContext,
): Promise<CheckResult> {
  return toResult(check, draftFindings(check, artifacts, context), context);
}

/** The result of a check that could not be evaluated at all, as in a scan that was interrupted. */
export async function unevaluatedResult(
  check: CatalogCheck,
  problem: { readonly reason: ManualReason; readonly detail: string },
  context: EvaluationContext,
): Promise<CheckResult> {
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
    return drafts.length > 0 ? drafts : [couldNotEvaluate("unreadable", "The check found nothing to say")];
  } catch (error) {
    const problem = error instanceof Error ? error.message : "unknown";
    return [couldNotEvaluate("unreadable", `The check failed on an answer that it does not understand (${problem})`)];
  }
}

function couldNotEvaluate(reason: ManualReason, detail: string): FindingDraft {
  return { status: "MANUAL", reason, resource: null, expected: "evidence to judge", actual: "none", note: detail };
}

async function toResult(
  check: CatalogCheck,
  drafts: readonly FindingDraft[],
  context: EvaluationContext,
): Promise<CheckResult> {
  const org = orgResource(context.orgUrl);
  const sha256 = context.sha256 ?? portableSha256;
  const findings = await Promise.all(
    drafts.map(async (draft) => {
      const resource = draft.resource ?? org;
      // Over what a finding is about, never over what it says: wording, order and time leave it as it is.
      const subject = JSON.stringify([check.name, org.id, resource.type, resource.id]);
      return toFinding(draft, resource, await sha256(subject));
    }),
  );
  const sorted = onePerResource(findings).sort(byResource);
  const counted = sorted.filter((finding) => !finding.advisory);
  const status = worstStatus((counted.length > 0 ? counted : sorted).map((finding) => finding.status));
  const { rule } = check;
  return {
    check: check.name,
    vuln_id: rule.vuln_id,
    stig_id: rule.stig_id,
    rule_id: rule.rule_id,
    severity: rule.severity,
    category: rule.category,
    title: rule.title,
    status,
    reason: status === "MANUAL" ? firstReason(counted.length > 0 ? counted : sorted) : null,
    detail: summarize(sorted, status),
    coverage: sorted.some((finding) => finding.coverage === "partial") ? "partial" : rule.coverage,
    attestation: null,
    findings: sorted,
  };
}

function toFinding(draft: FindingDraft, resource: FindingResource, fingerprint: string): Finding {
  return {
    status: draft.status,
    reason: draft.status === "MANUAL" ? draft.reason : null,
    resource,
    expected: toLine(draft.expected, maxTextLength),
    actual: toLine(draft.actual, maxTextLength),
    detail: sentence(resource, draft),
    fingerprint,
    waived: false,
    waiver: null,
    change: null,
    ...coverageOf(draft),
    advisory: draft.status === "MANUAL" && draft.isAdvisory === true,
  };
}

function coverageOf(draft: FindingDraft): Pick<Finding, "coverage" | "coverage_reason"> {
  if (draft.status !== "PASS" || draft.uncovered === undefined) return { coverage: "full", coverage_reason: null };
  return { coverage: "partial", coverage_reason: toLine(draft.uncovered, maxTextLength) };
}

async function portableSha256(text: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return digest.reduce((hex, byte) => hex + hexOf(byte), "");
}

const hexDigits = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

function hexOf(byte: number): string {
  return hexDigits[byte] ?? "";
}

function orgResource(orgUrl: string): FindingResource {
  const origin = URL.canParse(orgUrl) ? new URL(orgUrl).origin : orgUrl;
  return { type: "org", id: origin, name: origin.replace(/^https?:\/\//, "") };
}

/** A reader's, a column's and the gateway's patience: names of the provider are long, and a finding may list several. */
const maxTextLength = 4000;

const typeNames: Readonly<Record<string, string>> = { org: "Organization", api_token: "API token" };

function sentence(resource: FindingResource, draft: FindingDraft): string {
  const type =
    typeNames[resource.type] ?? resource.type.replaceAll("_", " ").replace(/^./, (letter) => letter.toUpperCase());
  const note = draft.note === undefined ? "" : `: ${draft.note}`;
  const text = `${type} "${resource.name}": expected ${draft.expected}, found ${draft.actual}${note}`;
  return `${withoutEnd(toLine(text, maxTextLength - 1).replaceAll(/\s+/g, " "))}.`;
}

/** Without the dots and blanks at its end. */
function withoutEnd(text: string): string {
  let end = text.length;
  while (end > 0 && ". ".includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** A list that names the same thing twice gives one finding, the worse one. */
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

/** By code points: the order is the same whatever the provider's, and in every locale. */
function byResource({ resource: one }: Finding, { resource: other }: Finding): number {
  return compare(one.type, other.type) || compare(one.name, other.name) || compare(one.id, other.id);
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

// What a person can mend comes first; not_applicable only where nothing else is left to look at.
const reasonOrder: readonly ManualReason[] = [
  "missing_scope",
  "missing_role",
  "not_available",
  "provider_error",
  "unreadable",
  "needs_review",
  "not_applicable",
];

function firstReason(findings: readonly Finding[]): ManualReason | null {
  return reasonOrder.find((reason) => findings.some((finding) => finding.reason === reason)) ?? null;
}

function summarize(findings: readonly Finding[], status: Finding["status"]): string {
  const decisive = findings.filter((finding) => finding.status === status);
  const first = decisive[0]?.detail ?? "";
  if (findings.length === 1) return first;
  const verbs = { PASS: "pass", FAIL: "fail", MANUAL: "need a person" };
  return `${decisive.length} of ${findings.length} ${verbs[status]}; the first: ${first}`;
}
