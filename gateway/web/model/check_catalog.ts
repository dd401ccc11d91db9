import type { Severity } from "../../../shared/report.ts";
import { categoryNames } from "../../../shared/severity.ts";
import { formatCheckName } from "./format.ts";

/** What the page says of a check next to its findings. */
export interface CheckText {
  readonly title: string;
  readonly stigId: string;
  readonly vulnId: string;
  readonly severity: Severity;
  /** NIST SP 800-53 revision 5. */
  readonly controls: readonly string[];
  /** What the scanner's key needs to read the values with. */
  readonly scopes: readonly string[];
  readonly fix: string;
}

/** Written into the bundle by `build.ts`, from the catalog of the scanner: the page needs no request for it. */
declare const CHECK_CATALOG: Readonly<Record<string, CheckText>>;

export function findCheck(check: string): CheckText | null {
  return Object.hasOwn(CHECK_CATALOG, check) ? (CHECK_CATALOG[check] ?? null) : null;
}

/** The name of the check of a rule by any of the rule's names; null: there is none. */
export function findRule(name: string): string | null {
  if (findCheck(name) !== null) return name;
  const wanted = name.toUpperCase();
  const [check = null] =
    Object.entries(CHECK_CATALOG).find(([, { vulnId, stigId }]) => vulnId === wanted || stigId === wanted) ?? [];
  return check;
}

/** `STIG V1R2` for `okta-idaas-stig-v1r2`; null where the producer did not say. */
export function revisionText(benchmark: string | null): string | null {
  const name = /-(v\d+r\d+)$/.exec(benchmark ?? "")?.[1];
  return name === undefined ? null : `STIG ${name.toUpperCase()}`;
}

/** `V-273186 · CAT II`; empty for a check that the catalog does not have. */
export function ruleIds(check: string): string {
  const rule = findCheck(check);
  return rule === null ? "" : `${rule.vulnId} · ${categoryNames[rule.severity]}`;
}

/** `V-273186 · CAT II · title`. */
export function ruleName(check: string): string {
  return [ruleIds(check), checkTitle(check)].filter((part) => part !== "").join(" · ");
}

export function checkTitle(check: string): string {
  return findCheck(check)?.title ?? formatCheckName(check);
}
