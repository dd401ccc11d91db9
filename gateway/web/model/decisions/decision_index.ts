import { isExpired } from "../../../../shared/decisions/expiry.ts";
import { createDecisionFinder } from "../../../../shared/decisions/decision_finder.ts";
import { parseJsonObject } from "../../../../shared/json.ts";
import type { Decision, DecisionKind } from "../../../../shared/schemas/decision.ts";
import { originOf } from "../../../../shared/schemas/web_address.ts";
import type { Finding, KnownDecision } from "../finding.ts";
import { isolated } from "../format.ts";

/** Fields by which a decision is found. */
export type DecidedFinding = Pick<Finding, "check" | "status" | "resource_id" | "resource_name">;

export type DecisionIndex = ReturnType<typeof indexDecisions>;

/**
 * The decisions about the findings of one organization: of their runs, else as the next scan with `--decisions-from-gateway`
 * applies them. Leaves out decisions that have lapsed.
 */
export function indexDecisions(
  decisions: readonly Decision[],
  { orgUrl, nowMs }: { readonly orgUrl: string | null; readonly nowMs: number },
) {
  const origin = orgUrl && originOf(orgUrl);
  const isHolding = ({ expires }: Pick<Decision, "expires">) => !isExpired(expires, nowMs);
  const holding = decisions
    .filter((decision) => (decision.org_url === null || decision.org_url === origin) && isHolding(decision))
    // One about this organization counts before one about every organization.
    .toSorted((a, b) => Number(a.org_url === null) - Number(b.org_url === null));
  const waivers = createDecisionFinder(holding.filter(({ kind }) => kind === "waiver"));
  const attestations = holding.filter(({ kind }) => kind === "attestation");

  function waiverOf(finding: DecidedFinding & Pick<Finding, "ownWaiver">): KnownDecision | null {
    const { check, status, resource_id: id, resource_name: name, ownWaiver } = finding;
    if (status === "PASS") return null;
    const own = ownWaiver !== null && isHolding(ownWaiver) ? ownWaiver : null;
    // An own limit names nobody, nor does a monitor without own waivers: a decision of the gateway says more.
    return own !== null && own.by !== null ? own : (waivers.find(check, { id, name }) ?? own);
  }

  function attestationOf(check: string, findings: readonly Pick<Finding, "ownAttestation">[]): KnownDecision | null {
    const own = findings.flatMap(({ ownAttestation }) => ownAttestation ?? []).find(isHolding);
    return own ?? attestations.find((decision) => decision.check === check) ?? null;
  }

  /** Its waiver, else the attestation of its check; a failure is not attested away. */
  function ofFinding(finding: Finding): KnownDecision | null {
    return waiverOf(finding) ?? (finding.status === "FAIL" ? null : attestationOf(finding.check, [finding]));
  }

  return { waiverOf, attestationOf, ofFinding };
}

/** Returns a pattern for this resource alone, even if its name has characters of a pattern; null: it has no name. */
export function toResource({ resource_id, resource_name }: DecidedFinding): string | null {
  const text = resource_id === "" ? resource_name : resource_id;
  return text === "" ? null : text.replaceAll(/[*?\\]/g, "\\$&");
}

/** `Waived` or `Attested pass`. */
export function toVerb({ kind, status }: Pick<Decision, "kind" | "status">): string {
  return kind === "waiver" ? "Waived" : `Attested ${(status ?? "").toLowerCase().replaceAll("_", " ")}`;
}

/** `by ada until 2027-01-31: why`, or `by ada (file), never expires: why`; the reason alone where nobody is named. */
export function toTerms({ id, by, expires, reason }: KnownDecision): string {
  if (by === null) return reason;
  return `by ${isolated(by)}${id === undefined ? " (file)" : ""}${expires === null ? ", never expires" : ` until ${expires}`}: ${reason}`;
}

/** The decision to make. */
export interface DecisionDraft {
  readonly kind: DecisionKind;
  readonly finding: DecidedFinding;
  /** The decision that the new one replaces; null: none. */
  readonly renewed: KnownDecision | null;
  /** The fields of the form, for one that is open again. */
  readonly typed?: Readonly<Record<string, string>>;
}

/** The open form as JSON, or empty. It survives the end of the session, also when the person leaves the page to sign in at the issuer. */
export const keptDraft = { json: "" };

/** Only the owner finds it again. */
export function keepDraft(owner: string, draft: DecisionDraft): void {
  keptDraft.json = JSON.stringify({ owner, draft });
}

export function findDraft(owner: string): DecisionDraft | null {
  const form = parseJsonObject(keptDraft.json);
  // Only this page writes it.
  return form?.["owner"] === owner ? (form["draft"] as DecisionDraft) : null;
}
