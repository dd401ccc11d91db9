import type { Decision } from "../../../../shared/schemas/decision.ts";

/** `Waived` or `Attested pass`. */
export function toVerb({ kind, status }: Pick<Decision, "kind" | "status">): string {
  return kind === "waiver" ? "Waived" : `Attested ${(status ?? "").toLowerCase().replaceAll("_", " ")}`;
}

/** `by ada until 2027-01-31: why`, or `by ada, never expires: why`. */
export function toTerms({ by, expires, reason }: Decision): string {
  return `by ${by}${expires === null ? ", never expires" : ` until ${expires}`}: ${reason}`;
}
