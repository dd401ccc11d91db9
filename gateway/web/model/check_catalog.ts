import type { Severity } from "../../../shared/report.ts";
import { categoryNames } from "../../../shared/severity.ts";

/** Texts of a check that the page shows next to its findings. */
export interface CheckText {
  readonly title: string;
  readonly stigId: string;
  readonly vulnId: string;
  readonly severity: Severity;
  /** NIST SP 800-53 revision 5. */
  readonly controls: readonly string[];
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

/** The name of the check of a rule by any of the rule's names; null: none has it. */
export function findRule(name: string): string | null {
  if (findCheck(name) !== null) return name;
  const wanted = name.toUpperCase();
  const entries = Object.entries(CHECK_CATALOG);
  return entries.find(([, { vulnId, stigId }]) => vulnId === wanted || stigId === wanted)?.[0] ?? null;
}

/** `AC-11 a` and `IA-2 (1)` count for `AC-11` and `IA-2`. */
export function controlsOf(check: string): readonly string[] {
  const controls = findCheck(check)?.controls ?? [];
  return [...new Set(controls.map((control) => control.split(" ")[0] ?? control))];
}

/** `V1R2` for `okta-idaas-stig-v1r2`; null where the producer did not say. */
export function revisionText(benchmark: string | null): string | null {
  return /-(v\d+r\d+)$/.exec(benchmark ?? "")?.[1]?.toUpperCase() ?? null;
}

/** `V-273186`; the check's name where the catalog does not have it. */
export function vulnIdOf(check: string): string {
  return findCheck(check)?.vulnId ?? check;
}

/** `CAT I V-273186`; the check's name where the catalog does not have it. */
export function ruleIds(check: string): string {
  const rule = findCheck(check);
  return rule === null ? check : `${categoryNames[rule.severity]} ${rule.vulnId}`;
}

/** DISA's title, as a part of a sentence. */
export function checkTitle(check: string): string {
  return findCheck(check)?.title.replace(/\.$/, "") ?? formatCheckName(check);
}

/** The first steps of DISA's fix. */
export function shortFix(check: string): string {
  return findCheck(check)?.fix ?? "";
}

/** `signon_global_session_lifetime_18h` as words, for a check whose title is not known. */
function formatCheckName(check: string): string {
  const words = check.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
