import { pipe, transform } from "valibot";
import { isHolding } from "../../../shared/rule_result.ts";
import type { Change } from "../../../shared/schemas/change.ts";
import type { Decision } from "../../../shared/schemas/decision.ts";
import {
  storedFindingSchema,
  type FindingWaiver,
  type OwnDecisions,
  type StoredFinding,
} from "../../../shared/schemas/finding.ts";
import { mapNotes } from "../../../shared/schemas/finding_notes.ts";

/** A decision that the gateway keeps, or that the run of a finding had. */
export interface KnownDecision
  extends Pick<Decision, "kind" | "status" | "reason" | "expires">, Partial<Pick<Decision, "resource" | "org_url">> {
  /** Absent: the run had it in a file, a checklist or as its own limits. */
  readonly id?: string;
  /** Null: nobody is named. */
  readonly by: string | null;
}

/** A finding of a scan, or the present verdict that a monitor knows, with the decisions that its run had. */
export interface Finding extends Omit<StoredFinding, keyof OwnDecisions> {
  readonly ownWaiver: KnownDecision | null;
  readonly ownAttestation: KnownDecision | null;
}

export const findingSchema = pipe(storedFindingSchema, transform(toScanned));

export function toScanned(stored: StoredFinding): Finding {
  return { ...stored, ownWaiver: toWaiver(stored), ownAttestation: toAttestation(stored) };
}

/** The waiver that the run of a finding had. */
export function toWaiver(finding: FindingWaiver): KnownDecision | null {
  const { waiver_reason: reason, waiver_by: by, waiver_expires: expires } = finding;
  return reason === null ? null : { kind: "waiver", status: null, reason, by, expires };
}

function toAttestation(finding: OwnDecisions): KnownDecision | null {
  const { attestation_status: status, attestation_by: by, attestation_expires: expires } = finding;
  return status === null
    ? null
    : { kind: "attestation", status, reason: finding.attestation_reason ?? "", by, expires };
}

/** The present verdict as a finding, with what the last scan said of it; null where it is gone. */
export function toFinding(change: Change, scanned: Finding | undefined): Finding | null {
  const { to, from, check, fingerprint, resource, cause, expected, actual, to_pass, cause_id, created_at } = change;
  if (to === null) return null;
  const isSameResult = scanned?.status === to.status && scanned.reason === to.reason;
  // A value that changes and keeps its result is no change: a later scan knows it, and says where and when it was read.
  const isNewer = cause === "start" || (scanned?.created_at ?? "") > created_at;
  const isScanned = isSameResult && (isNewer || scanned.actual === actual);
  const isDecided = ["decision", "org_policy"].includes(cause) && created_at >= (scanned?.created_at ?? "");
  const isLost = to.status === "MANUAL" && from !== null && from.status !== "MANUAL";
  const own = {
    ...mapNotes(() => null),
    detail: isLost ? `${from.status} before` : "",
    cause: cause_id,
    expected: expected === "" ? (scanned?.expected ?? "") : expected,
    actual,
    to_pass: to_pass ?? scanned?.to_pass ?? null,
  };
  return {
    ...(isScanned ? scanned : own),
    fingerprint,
    check,
    status: to.status,
    reason: to.reason,
    severity: change.rule.severity,
    resource_type: resource.type,
    resource_id: resource.id,
    resource_name: resource.name,
    // A monitor does not say whether anything was evaluated: only a scan with the same result does.
    automated: isSameResult ? scanned.automated : null,
    advisory: change.advisory,
    ownWaiver: toWaiver(change) ?? (change.to_waived ? gatewayWaiver : null),
    // Only a scan knows the answers of a checklist.
    ownAttestation: toAttestation(change) ?? (isSameResult && !isDecided ? scanned.ownAttestation : null),
    created_at,
  };
}

/** A change does not say which decision of the gateway is in force after it. */
const gatewayWaiver: KnownDecision = {
  kind: "waiver",
  status: null,
  reason: "by a decision that the monitor applies",
  by: null,
  expires: null,
};

/** The worse of the two is the later one: what held does not hold any more. */
export function isWorse(from: Change["from"], to: Change["to"]): boolean {
  if (to === null) return false;
  return to.status === "FAIL" ? from?.status !== "FAIL" : from !== null && isHolding(from) && !isHolding(to);
}
