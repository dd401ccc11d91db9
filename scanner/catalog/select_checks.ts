import { AppError } from "../../shared/app_error.ts";
import type { Severity } from "../../shared/report.ts";
import { parseSeverity, severityWords } from "../../shared/severity.ts";
import { catalog, type CatalogCheck } from "./catalog.ts";
import { findRule, unknownRule } from "../../shared/rule_names.ts";

export interface CheckSelection {
  /** Names, V-ids or STIG ids; empty or absent: all. */
  readonly check?: readonly string[];
  readonly exclude?: readonly string[];
  readonly severity?: readonly string[];
}

/** Is told of a name that is understood, but not quite right. */
export type Warn = (message: string) => void;

interface KnownChecks {
  /** The catalog's by default. */
  readonly checks?: readonly CatalogCheck[];
  readonly warn?: Warn;
}

/** The check of its name, V-, SV- or OKTA-APP-id, in any case; throws `AppError` ("not_found") naming the nearest. */
export function findCheck(name: string, { checks = catalog, warn }: KnownChecks = {}): CatalogCheck {
  const rules = checks.map(({ rule }) => rule);
  const found = findRule(name, rules);
  const check = checks.find(({ rule }) => rule === found?.rule);
  if (found === null || check === undefined) {
    throw new AppError("not_found", capitalized(unknownRule(name, rules, "run `scanstream explain` for the list")));
  }
  if (found.warning !== null) warn?.(found.warning);
  return check;
}

function capitalized(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** In their own order; throws `AppError` for a name that is invalid, and for a selection that leaves nothing. */
export function selectChecks(selection: CheckSelection = {}, known: KnownChecks = {}): readonly CatalogCheck[] {
  const { checks = catalog } = known;
  const { check = [], exclude = [], severity = [] } = selection;
  const included = new Set(check.map((name) => findCheck(name, known)));
  const excluded = new Set(exclude.map((name) => findCheck(name, known)));
  const wanted = new Set(severity.map(requireSeverity));
  const selected = checks.filter(
    (candidate) =>
      (included.size === 0 || included.has(candidate)) &&
      !excluded.has(candidate) &&
      (wanted.size === 0 || wanted.has(candidate.rule.severity)),
  );
  if (selected.length > 0) return selected;
  throw new AppError("invalid", `The selection leaves no check: ${describe({ check, exclude, severity })}`);
}

function requireSeverity(text: string): Severity {
  const severity = parseSeverity(text);
  if (severity !== null) return severity;
  throw new AppError("invalid", `--severity ${JSON.stringify(text)}: expected ${severityWords}`);
}

function describe(selection: Required<CheckSelection>): string {
  return Object.entries(selection)
    .filter(([, names]) => names.length > 0)
    .map(([option, names]) => `--${option} ${names.join(",")}`)
    .join(" with ");
}
