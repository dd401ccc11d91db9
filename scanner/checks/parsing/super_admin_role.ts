import type { JsonObject } from "../../../shared/json.ts";

/** True if a role assignment makes its holder a Super Administrator; null if it has no type and no such label. */
export function isSuperAdminRole({ type, label }: JsonObject): boolean | null {
  if (typeof type === "string" && type.toUpperCase() === "SUPER_ADMIN") return true;
  if (typeof label === "string" && superAdminLabels.has(label.toUpperCase().replaceAll(/[^A-Z]/g, ""))) return true;
  return typeof type === "string" && type !== "" ? false : null;
}

// A custom role may carry any label; these are the built-in role's own, in its spellings of the API and the console.
const superAdminLabels = new Set(["SUPERADMIN", "SUPERADMINISTRATOR", "SUPERORGADMIN", "SUPERORGADMINISTRATOR"]);
