import type { Decision } from "../../../../shared/schemas/decision.ts";
import type { KnownDecision } from "../../model/finding.ts";

/** `Waived` or `Attested pass`. */
export function toVerb({ kind, status }: Pick<Decision, "kind" | "status">): string {
  return kind === "waiver" ? "Waived" : `Attested ${(status ?? "").toLowerCase().replaceAll("_", " ")}`;
}

/** `by ada until 2027-01-31: why`, or `by ada (file), never expires: why`; the reason alone where nobody is named. */
export function toTerms({ id, by, expires, reason }: KnownDecision): string {
  if (by === null) return reason;
  return `by ${by}${id === undefined ? " (file)" : ""}${expires === null ? ", never expires" : ` until ${expires}`}: ${reason}`;
}
