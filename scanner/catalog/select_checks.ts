import { AppError } from "../../shared/app_error.ts";
import type { Severity } from "../../shared/report.ts";
import { parseSeverity, severityWords } from "../../shared/severity.ts";
import { catalog, type CatalogCheck } from "./catalog.ts";
import { nearestName } from "./nearest_name.ts";

export interface CheckSelection {
  /** Names, V-ids or STIG ids; empty or absent: all. */
  readonly check?: readonly string[];
  readonly exclude?: readonly string[];
  readonly severity?: readonly string[];
}

/** The check of a name, V-id, rule id or STIG id, in any case; throws `AppError` ("not_found") naming the nearest. */
export function findCheck(name: string, checks: readonly CatalogCheck[] = catalog): CatalogCheck {
  const wanted = name.trim().toLowerCase();
  const found = checks.find((check) => namesOf(check).includes(wanted));
  if (found !== undefined) return found;
  const nearest = nearestName(wanted, checks.flatMap(namesOf));
  const advice = nearest === null ? "list them with the command checks" : `did you mean "${nearest}"?`;
  throw new AppError("not_found", `No check is named "${name}": ${advice}`);
}

/** In their own order; throws `AppError` for a name that is none, and for a selection that leaves nothing. */
export function selectChecks(
  selection: CheckSelection = {},
  checks: readonly CatalogCheck[] = catalog,
): readonly CatalogCheck[] {
  const { check = [], exclude = [], severity = [] } = selection;
  const included = new Set(check.map((name) => findCheck(name, checks)));
  const excluded = new Set(exclude.map((name) => findCheck(name, checks)));
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

function namesOf(check: CatalogCheck): readonly string[] {
  const { vuln_id, rule_id, stig_id } = check.rule;
  return [check.name, vuln_id.toLowerCase(), stig_id.toLowerCase(), rule_id.toLowerCase()];
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
