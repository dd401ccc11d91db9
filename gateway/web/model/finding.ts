import { isHolding } from "../../../shared/rule_result.ts";
import type { Change } from "../../../shared/schemas/change.ts";
import { storedFindingSchema, type FindingWaiver, type StoredFinding } from "../../../shared/schemas/finding.ts";
import { mapNotes } from "../../../shared/schemas/finding_notes.ts";

export const findingSchema = storedFindingSchema;

/** A finding of a scan, or the present verdict that a monitor knows. */
export interface Finding extends StoredFinding {
  /** Time since which a monitor knows this verdict; null: since its first poll. */
  readonly sinceMs: number | null;
}

/** The present verdict as a finding, with what the last scan said of it; null where it is gone. */
export function toFinding(change: Change, scanned: StoredFinding | undefined): Finding | null {
  const { to, from, check, fingerprint, resource, cause, seen_at, created_at } = change;
  if (to === null) return null;
  const isSame = scanned?.status === to.status;
  const isSameResult = isSame && scanned.reason === to.reason;
  const isDecided = ["decision", "org_policy"].includes(cause) && created_at >= (scanned?.created_at ?? "");
  // Only a scan knows the answers of a checklist.
  const attested = isSameResult && change.attestation_status === null && !isDecided ? scanned : change;
  const { expected, to_pass } = change;
  const before = isLost(change) && from !== null ? `${from.status} before` : "";
  return {
    fingerprint,
    check,
    status: to.status,
    reason: to.reason,
    severity: change.rule.severity,
    resource_type: resource.type,
    resource_id: resource.id,
    resource_name: resource.name,
    expected: expected === "" ? (scanned?.expected ?? "") : expected,
    actual: change.actual,
    detail: isSame ? scanned.detail : before,
    // A monitor does not say whether anything was evaluated: only a scan with the same result does.
    automated: isSameResult ? scanned.automated : null,
    cause: isSame ? scanned.cause : null,
    ...mapNotes((name) => (isSame ? scanned[name] : null)),
    to_pass: to_pass ?? scanned?.to_pass ?? null,
    advisory: scanned?.advisory ?? false,
    ...waiverOfChange(change),
    attestation_status: attested.attestation_status,
    attestation_reason: attested.attestation_reason,
    attestation_by: attested.attestation_by,
    attestation_expires: attested.attestation_expires,
    created_at,
    // A decision changes no verdict, so how long it has held is not known from its change.
    sinceMs: ["start", "decision", "org_policy"].includes(cause) ? null : Date.parse(seen_at),
  };
}

export const unwaived: FindingWaiver = { waiver_reason: null, waiver_by: null, waiver_expires: null };

/** Returns the waiver that is in force after the change. One of the gateway's decisions is not in it. */
export function waiverOfChange({ to_waived, waiver_reason, waiver_by, waiver_expires }: Change): FindingWaiver {
  if (waiver_reason !== null) return { waiver_reason, waiver_by, waiver_expires };
  return to_waived ? { ...unwaived, waiver_reason: "by a decision that the monitor applies" } : unwaived;
}

/** True when a result that was known is not known any more. */
function isLost({ from, to }: Pick<Change, "from" | "to">): boolean {
  return to?.status === "MANUAL" && from !== null && from.status !== "MANUAL";
}

/** The worse of the two is the later one: what held does not hold any more. */
export function isWorse(
  from: Pick<Finding, "status" | "reason"> | null,
  to: Pick<Finding, "status" | "reason"> | null,
): boolean {
  if (to === null) return false;
  return to.status === "FAIL" ? from?.status !== "FAIL" : from !== null && isHolding(from) && !isHolding(to);
}
