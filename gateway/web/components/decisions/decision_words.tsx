import type { Decision } from "../../../../shared/schemas/decision.ts";
import { formatOrg } from "../../model/format.ts";

/** `Waived` or `Attested pass`. */
export function toVerb({ kind, status }: Pick<Decision, "kind" | "status">): string {
  return kind === "waiver" ? "Waived" : `Attested ${(status ?? "").toLowerCase().replaceAll("_", " ")}`;
}

/** `by ada until 2027-01-31: why`, or `by ada, never expires: why`. */
export function toTerms({ by, expires, reason }: Decision): string {
  return `by ${by}${toUntil(expires)}: ${reason}`;
}

export function toUntil(expires: string | null): string {
  return expires === null ? ", never expires" : ` until ${expires}`;
}

/** What it is about, next to its check. */
export function toScope({ kind, resource, org_url: orgUrl }: Decision): string {
  const what = resource ?? (kind === "waiver" ? "every finding" : "the whole check");
  return `${what} · ${orgUrl === null ? "every organization" : formatOrg({ orgUrl })}`;
}

/** On what is decided. */
export function DecisionBadge({ decision }: { readonly decision: Decision }) {
  return (
    <span class="badge tinted tone-accent" title={toTerms(decision)}>
      {`${toVerb(decision)}${toUntil(decision.expires)}`}
    </span>
  );
}
