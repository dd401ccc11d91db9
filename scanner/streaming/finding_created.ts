import type { Attestation, CheckResult, Finding, Waiver } from "../../shared/report.ts";
import type { OwnDecisions } from "../../shared/schemas/finding.ts";
import type { FindingCreated } from "../../shared/schemas/scan.ts";
import { mapNotes } from "../../shared/schemas/finding_notes.ts";
import { toLine } from "../../shared/text.ts";

/** Limit of one text: a finding has 14, so that an event has room for all of them. The report has the whole text. */
const maxTextBytes = 2048;
/** A detail ends with what a person verifies. */
const endBytes = 512;
const cutMark = "… (cut; the report has all of it) …";

/** The payload of `finding.created`: every field of the finding, within the bounds of an event. */
export function toFindingCreated(scanId: string, result: CheckResult, finding: Finding): Required<FindingCreated> {
  const { status, reason, resource, fingerprint, automated, cause, advisory } = finding;
  return {
    scan_id: scanId,
    fingerprint,
    check: result.check,
    status,
    reason,
    severity: result.severity,
    resource_type: line(resource.type),
    resource_id: line(resource.id),
    resource_name: line(resource.name),
    expected: line(finding.expected),
    actual: line(finding.actual),
    detail: line(finding.detail),
    automated,
    cause,
    ...mapNotes((name, { hasLines = false }) => {
      const note = finding[name];
      return note === undefined ? null : hasLines ? cut(note) : line(note);
    }),
    advisory,
    ...ownDecisionsOf(finding.waiver, result.attestation),
  };
}

/** The run's own decisions: the gateway knows the ones that it keeps. */
export function ownDecisionsOf(given: Waiver | null, answer: Attestation | null): OwnDecisions {
  const [waiver, attestation] = [own(given), own(answer)];
  return {
    waiver_reason: waiver && line(waiver.reason),
    waiver_by: waiver?.by === undefined ? null : line(waiver.by),
    waiver_expires: waiver?.expires ?? null,
    attestation_status: attestation?.status ?? null,
    attestation_reason: attestation && line(attestation.reason),
    attestation_by: attestation && line(attestation.by),
    attestation_expires: attestation?.expires ?? null,
  };
}

/** Null where it is not the run's own. */
function own<Decision extends Waiver | Attestation>(decision: Decision | null): Decision | null {
  return decision?.source === "gateway" ? null : decision;
}

function line(text: string): string {
  return cut(toLine(text, 8 * maxTextBytes));
}

/** Cuts in the middle, and never through a character. */
function cut(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxTextBytes) return text;
  const kept = bytes.subarray(0, maxTextBytes - Buffer.byteLength(cutMark) - endBytes);
  const end = bytes.toString("utf8", bytes.length - endBytes).replace(/^\ufffd+/, "");
  return new TextDecoder().decode(kept, { stream: true }) + cutMark + end;
}
