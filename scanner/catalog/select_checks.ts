import { AppError } from "../../shared/app_error.ts";
import type { Severity } from "../../shared/report.ts";
import { catalog, type CatalogCheck } from "./catalog.ts";
import { findRule, unknownRule } from "../../shared/rule_names.ts";
import { UsageError } from "../../shared/usage_error.ts";

export interface CheckSelection {
  /** Names of checks; empty or absent: all. */
  readonly check?: readonly string[];
  readonly exclude?: readonly string[];
  readonly severity?: readonly Severity[];
}

/** Receives a message about a name that is understood, but not quite right. */
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
    const message = unknownRule(name, rules, "run `scanstream explain` for the list");
    throw new AppError("not_found", message.replace(/^u/, "U"));
  }
  if (found.warning !== null) warn?.(found.warning);
  return check;
}

/** Returns the selected checks in their own order; throws `UsageError` for a selection that leaves nothing. */
export function selectChecks(
  { check = [], exclude = [], severity = [] }: CheckSelection = {},
  checks: readonly CatalogCheck[] = catalog,
): readonly CatalogCheck[] {
  const selected = checks.filter(
    ({ name, rule }) =>
      (check.length === 0 || check.includes(name)) &&
      !exclude.includes(name) &&
      (severity.length === 0 || severity.includes(rule.severity)),
  );
  if (selected.length > 0) return selected;
  throw new UsageError([`The selection leaves no check: ${describe({ check, exclude, severity })}`]);
}

function describe(selection: Required<CheckSelection>): string {
  return Object.entries(selection)
    .filter(([, names]) => names.length > 0)
    .map(([option, names]) => `--${option} ${names.join(",")}`)
    .join(" with ");
}
