import type { JsonObject } from "../../artifacts.ts";

/** Whether a role assignment makes its holder a Super Administrator; null where it says neither type nor label. */
export function isSuperAdminRole(role: JsonObject): boolean | null {
  const { type, label } = role;
  if (type !== undefined && type !== null && typeof type !== "string") return null;
  if (type?.toUpperCase() === "SUPER_ADMIN") return true;
  if (typeof label === "string") return superAdminLabels.has(label.toUpperCase().replaceAll(/[^A-Z]/g, ""));
  return typeof type === "string" ? false : null;
}

// A custom role may carry any label; these are the built-in role's own, in its spellings of the API and the console.
const superAdminLabels = new Set(["SUPERADMIN", "SUPERADMINISTRATOR", "SUPERORGADMIN", "SUPERORGADMINISTRATOR"]);
