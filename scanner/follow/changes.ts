import { isDeepStrictEqual } from "node:util";
import type { Attestation, CheckResult, Finding, ManualReason, Severity } from "../../shared/report.ts";
import { failuresOf, stateOf, worstVerdict } from "../../shared/rule_result.ts";
import type { OwnDecisions } from "../../shared/schemas/finding.ts";
import type { ChangeLineInput, Explanation as StoredExplanation } from "../../shared/schemas/change.ts";
import { shorten } from "../../shared/text.ts";
import type { CatalogCheck } from "../catalog/catalog.ts";
import { isNamed, type FailOn } from "../decisions/fail_on.ts";
import { ownDecisionsOf } from "../streaming/finding_created.ts";
import type { LogActor, LogEvent } from "./log_event.ts";

/** A verdict that moved: a line of the output and what the gateway stores. A line that is written again after a crash has the same id. */
export interface ChangeLine extends Required<ChangeLineInput> {
  readonly explained_by: readonly Explanation[];
}

export interface Explanation extends StoredExplanation {
  readonly actor: LogActor;
}

export type Verdict = Pick<Finding, "status" | "reason">;

/** Finding as it is kept: a result that changes is seen by it. */
export interface KnownFinding extends Pick<
  Finding,
  "fingerprint" | "resource" | "status" | "reason" | "advisory" | "waived"
> {
  readonly check: string;
  /** A person's answer for its rule, where the finding leaves the rule open. */
  readonly attested: Attestation["status"] | null;
  readonly own: OwnDecisions;
}

/** A change before its time, cause and id. */
export interface Move {
  readonly from: KnownFinding | null;
  readonly to: KnownFinding | null;
  readonly expected: string;
  readonly actual: string;
  readonly toPass: string | null;
}

/** Evidence of a check that could not be collected. */
export interface MissingList {
  readonly reason: ManualReason;
  readonly detail: string;
}

export interface Comparison {
  readonly moves: readonly Move[];
  /** The findings of the check from now on. */
  readonly known: readonly KnownFinding[];
}

/**
 * Compares a check's findings with those known of it. Status, reason and the decision about it count. While a list is missing its resources
 * are not gone: each becomes MANUAL with the reason, so that its history goes on.
 */
export function compareWithKnown(
  before: readonly KnownFinding[],
  result: CheckResult,
  missing: MissingList | null,
): Comparison {
  const old = new Map(before.map((finding) => [finding.fingerprint, finding]));
  const moves: Move[] = [];
  const known: KnownFinding[] = [];
  const failing = new Set(failuresOf(result));
  for (const finding of result.findings) {
    const from = old.get(finding.fingerprint) ?? null;
    const to = toKnown(result, finding, failing.has(finding));
    known.push(to);
    old.delete(finding.fingerprint);
    if (from === null || !isSameVerdict(from, to) || !isSameDecision(from, to))
      moves.push({ from, to, expected: finding.expected, actual: finding.actual, toPass: finding.to_pass ?? null });
  }
  for (const from of old.values()) {
    // The finding that stood for a whole list which could not be read: it ends when the list can be.
    const isOrgs = from.resource.type === "org";
    if (missing === null || isOrgs) {
      moves.push({ from, to: null, actual: "no longer there", ...unexpected });
      continue;
    }
    const to: KnownFinding = { ...from, status: "MANUAL", reason: missing.reason };
    known.push(to);
    if (!isSameVerdict(from, to)) moves.push({ from, to, actual: missing.detail, ...unexpected });
  }
  return { moves, known };
}

/** Texts of a finding that is gone, or that could not be read. */
const unexpected = { expected: "", toPass: null };

/** True for a finding that `--fail-on` names and did not name before: what ends the monitor. */
export function isNewFailure({ from, to }: Move, failOn: FailOn, severity: Severity): boolean {
  const [before, after] = [openStatus(from), openStatus(to)];
  return after !== null && before !== "FAIL" && before !== after && isNamed(failOn, after, severity);
}

/** Null for what fails no run. */
function openStatus(finding: KnownFinding | null): "FAIL" | "MANUAL" | null {
  if (finding === null || finding.advisory || finding.waived) return null;
  const { attested } = finding;
  const state = stateOf({ ...finding, attestation: attested === null ? null : { status: attested } });
  return state === "fail" ? "FAIL" : state === "manual" ? "MANUAL" : null;
}

/** True when nothing but the decision about it changed. */
export function isOfDecision({ from, to }: Move): boolean {
  return from !== null && to !== null && isSameVerdict(from, to);
}

/** The limit of the change schema. */
export const maxExplanations = 20;
/** The longest text of a change that the gateway takes, in characters. */
const maxTextLength = 2048;

/** Facts of a line, in addition to its move. */
export type LineFacts = Pick<
  ChangeLine,
  "id" | "org_url" | "monitor_id" | "rule" | "seen_at" | "cause" | "explained_by" | "also"
>;

export function toChangeLine(move: Move, { id, org_url, monitor_id, ...facts }: LineFacts): ChangeLine {
  const { from, to, expected, actual, toPass } = move;
  const finding = to ?? from;
  if (finding === null) throw new TypeError("Cannot write a change: it has neither a verdict before nor one after");
  const { check, fingerprint, resource } = finding;
  return {
    schema: "scanstream.change/1",
    id,
    org_url,
    monitor_id,
    check,
    fingerprint,
    resource,
    from: toVerdict(from),
    to: toVerdict(to),
    from_waived: from?.waived ?? false,
    to_waived: to?.waived ?? false,
    ...(to?.own ?? ownDecisionsOf(null, null)),
    expected: shorten(expected, maxTextLength),
    actual: shorten(actual, maxTextLength),
    to_pass: toPass === null ? null : shorten(toPass, maxTextLength),
    ...facts,
  };
}

/** A line for each finding of a check, as a monitor's first state; `actual` says what state that is. */
export function toStateLines(
  { name, rule: { severity } }: CatalogCheck,
  known: readonly KnownFinding[],
  {
    actual,
    newId,
    ...facts
  }: Pick<LineFacts, "org_url" | "monitor_id" | "seen_at"> & {
    readonly actual: string;
    readonly newId: () => string;
  },
): readonly ChangeLine[] {
  const findings = known.filter(({ check }) => check === name);
  const rule = { ...ruleVerdict(findings), severity };
  return findings.map((to) =>
    toChangeLine(
      { from: null, to, actual, ...unexpected },
      { ...facts, id: newId(), rule, cause: "start", explained_by: [], also: [] },
    ),
  );
}

export function toExplanation(event: LogEvent, withAddresses: boolean): Explanation {
  const object = objectOf(event);
  return {
    uuid: event.uuid ?? "unknown",
    event_type: event.type,
    published: event.published,
    actor: event.actor,
    transaction_id: event.transactionId,
    ...(object !== null && { object }),
    ...(withAddresses && { ip_address: event.ipAddress }),
  };
}

/** The last target with a name: where there are several, the log names a rule after its policy. */
export function objectOf({ targets }: LogEvent): NonNullable<Explanation["object"]> | null {
  const found = targets.findLast(({ type, name }) => type !== null && name !== null && type !== "User");
  return found === undefined ? null : { type: found.type ?? "", name: found.name ?? "" };
}

function toKnown({ check, attestation }: CheckResult, finding: Finding, isFailing: boolean): KnownFinding {
  const { fingerprint, resource, status, reason, advisory, waived } = finding;
  // A person may have found a failure where the scan found none.
  const isOpen = stateOf(finding) === "manual" || (isFailing && status !== "FAIL");
  const answer = isOpen ? attestation : null;
  const attested = answer?.status ?? null;
  const own = ownDecisionsOf(finding.waiver, answer);
  return { check, fingerprint, resource, status, reason, advisory, waived, attested, own };
}

function toVerdict(finding: KnownFinding | null): Verdict | null {
  return finding === null ? null : { status: finding.status, reason: finding.reason };
}

function isSameVerdict(one: Verdict, other: Verdict): boolean {
  return one.status === other.status && one.reason === other.reason;
}

function isSameDecision(one: KnownFinding, other: KnownFinding): boolean {
  return one.waived === other.waived && one.attested === other.attested && isDeepStrictEqual(one.own, other.own);
}

/** The verdict of a check by its findings, without attestations. */
export function ruleVerdict(findings: readonly KnownFinding[]): Verdict {
  const relevant = findings.filter(({ advisory }) => !advisory);
  return worstVerdict(relevant.length > 0 ? relevant : findings);
}
