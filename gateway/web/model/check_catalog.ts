import type { Severity } from "../../../shared/report.ts";
import { vulnIdOf } from "../../../shared/rule_names.ts";
import { categoryNames } from "../../../shared/severity.ts";

/** A rule of the scanner's catalog, as far as the page shows it next to its findings. */
export interface CheckText {
  readonly title: string;
  readonly stig_id: string;
  readonly severity: Severity;
  readonly nist_800_53_r5: readonly string[];
  /** Scopes with which the scanner reads the values. */
  readonly scopes: readonly string[];
  /** The first steps of DISA's fix. */
  readonly fix: string;
}

/** Written into the bundle by `build.ts`, from the catalog of the scanner: the page needs no request for it. */
declare const CHECK_CATALOG: Readonly<Record<string, CheckText>>;

export function findCheck(check: string): CheckText | null {
  return Object.hasOwn(CHECK_CATALOG, check) ? (CHECK_CATALOG[check] ?? null) : null;
}

/** All checks of the catalog. */
export function checkNames(): readonly string[] {
  return Object.keys(CHECK_CATALOG);
}

/** `V1R2` for `okta-idaas-stig-v1r2`; null where the producer did not say. */
export function revisionText(benchmark: string | null): string | null {
  return /-(v\d+r\d+)$/.exec(benchmark ?? "")?.[1]?.toUpperCase() ?? null;
}

/** `CAT I V-273186`; the check's name where the catalog does not have it. */
export function ruleIds(check: string): string {
  const rule = findCheck(check);
  return `${rule === null ? "" : `${categoryNames[rule.severity]} `}${vulnIdOf(check)}`;
}

/** DISA's title, as a part of a sentence; the check's name as words where the catalog does not have it. */
export function checkTitle(check: string): string {
  const words = check.replaceAll("_", " ");
  return findCheck(check)?.title.replace(/\.$/, "") ?? `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

/** The first steps of DISA's fix. */
export function shortFix(check: string): string {
  return findCheck(check)?.fix ?? "";
}
