import { isDeepStrictEqual } from "node:util";
import type { Attestation, Finding, Severity } from "../../shared/report.ts";
import { stateOf } from "../../shared/rule_result.ts";
import type { OwnDecisions } from "../../shared/schemas/finding.ts";
import type { ChangeLineInput, Explanation as StoredExplanation } from "../../shared/schemas/change.ts";
import { shorten } from "../../shared/text.ts";
import { isNamed, type FailOn } from "../decisions/fail_on.ts";
import { ownDecisionsOf } from "../streaming/finding_created.ts";
import type { LogActor, LogEvent } from "./log_event.ts";

/** A verdict that moved: a line of the output and what the gateway stores. A line that is written again after a crash has the same id. */
export interface ChangeLine extends Required<ChangeLineInput> {
  readonly explained_by: readonly Explanation[];
}

interface Explanation extends StoredExplanation {
  readonly actor: LogActor;
}

export type Verdict = Pick<Finding, "status" | "reason">;

/** Finding as it is kept: a result that changes is seen by it. */
export interface KnownFinding extends Pick<
  Finding,
  "fingerprint" | "resource" | "status" | "reason" | "advisory" | "waived"
> {
  readonly check: string;
  readonly causeId: string | null;
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

/** False where the finding is as it was: verdict, and the decision about it. */
export function isMoved({ from, to }: Move): boolean {
  return from === null || to === null || !isSameVerdict(from, to) || !isSameDecision(from, to);
}

/** True when nothing but the decision about it changed. */
export function isOfDecision({ from, to }: Move): boolean {
  return from !== null && to !== null && isSameVerdict(from, to);
}

/** True for the same result, where both findings count for the rule or neither does. */
function isSameVerdict(one: KnownFinding, other: KnownFinding): boolean {
  return one.status === other.status && one.reason === other.reason && one.advisory === other.advisory;
}

function isSameDecision(one: KnownFinding, other: KnownFinding): boolean {
  return one.waived === other.waived && one.attested === other.attested && isDeepStrictEqual(one.own, other.own);
}

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

/** The longest text of a change that the gateway takes, in characters. */
const maxTextLength = 2048;

/** Why it moved: events about the finding's objects, and the others of the interval. */
export type Cause = Pick<ChangeLine, "cause" | "explained_by" | "also" | "not_before">;
export const firstState: Cause = { cause: "start", explained_by: [], also: [], not_before: null };

/** Facts of a line, in addition to its move. */
type LineFacts = Cause & Pick<ChangeLine, "id" | "org_url" | "monitor_id" | "rule" | "seen_at">;

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
    advisory: to?.advisory ?? false,
    ...(to?.own ?? ownDecisionsOf(null, null)),
    expected: shorten(expected, maxTextLength),
    actual: shorten(actual, maxTextLength),
    to_pass: toPass === null ? null : shorten(toPass, maxTextLength),
    cause_id: to?.causeId ?? null,
    ...facts,
  };
}

function toVerdict(finding: KnownFinding | null): Verdict | null {
  return finding === null ? null : { status: finding.status, reason: finding.reason };
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
