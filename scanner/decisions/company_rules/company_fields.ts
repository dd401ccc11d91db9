import type { ArtifactName } from "../../evidence/artifacts.ts";
import { appFields } from "../../evidence/collectors/apps.ts";
import { listFields } from "../../evidence/collectors/lists.ts";
import { idpFields } from "../../evidence/collectors/smart_card_idps.ts";
import type { Expression } from "../../checks/company_checks/expression.ts";

/**
 * The fields that a scan keeps of an artifact's entries; an artifact that is not named here is kept whole. A field that is
 * dropped looks like one that is not set, so a rule that reads one is refused.
 */
const keptFields: { readonly [Name in ArtifactName]?: readonly string[] } = {
  ...listFields,
  apps: appFields,
  admin_console_app: [...appFields, "rules"],
  dashboard_app: [...appFields, "rules"],
  brand_sign_in_pages: ["id", "name", "page.kind", "page.content"],
  api_token_owners: ["id", "roles", "groups"],
  smart_card_idps: [...idpFields, "certificate"],
};

/** What an expression is about: the entries of an artifact, or what is at a path within them. */
export interface FieldPlace {
  readonly artifact: ArtifactName;
  readonly path: string;
}

/** The first path that an expression reads and that is not kept; null where all are. */
export function droppedField({ artifact, path: start }: FieldPlace, expression: Expression): string | null {
  const kept = keptFields[artifact];
  if (kept === undefined) return null;
  const isKept = (path: string) => kept.some((field) => startsWithPath(field, path) || startsWithPath(path, field));
  return pathsIn(expression, start).find((path) => path !== "" && !isKept(path)) ?? null;
}

export function describeKeptFields(artifact: ArtifactName): string {
  return (keptFields[artifact] ?? []).join(", ");
}

function startsWithPath(path: string, beginning: string): boolean {
  return path === beginning || path.startsWith(`${beginning}.`);
}

/** Every path that the expression reads, from the entry on: lists count as their entries. */
function pathsIn(expression: Expression, at: string): readonly string[] {
  const { kind } = expression;
  if (kind === "literal") return [];
  if (kind === "not") return pathsIn(expression.of, at);
  if (kind === "call") return expression.args.flatMap((arg) => pathsIn(arg, at));
  if (kind === "current" || kind === "field" || kind === "entries")
    return [pathOf(expression, at), ...filtersIn(expression, at)];
  return [...pathsIn(expression.left, at), ...pathsIn(expression.right, at)];
}

/** The names of the fields on the way, from `at` on. */
export function pathOf(expression: Expression, at: string): string {
  if (expression.kind === "field") {
    const parent = pathOf(expression.of, at);
    return parent === "" ? expression.name : `${parent}.${expression.name}`;
  }
  return expression.kind === "entries" ? pathOf(expression.of, at) : at;
}

/** What the filters along a path read. */
function filtersIn(path: Expression, at: string): readonly string[] {
  if (path.kind === "field") return filtersIn(path.of, at);
  if (path.kind !== "entries") return [];
  const own = path.where === null ? [] : pathsIn(path.where, pathOf(path.of, at));
  return [...own, ...filtersIn(path.of, at)];
}
