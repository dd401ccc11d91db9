import type { JsonObject } from "../../../shared/json.ts";
import { readText } from "./fields.ts";

/** The program that uses a token, where Okta names it, as the end of a finding's sentence. An agent gets its token at its installation. */
export function clientNote(token: JsonObject): string | undefined {
  const { value: client } = readText(token, "clientName");
  if (client === null || client === "") return undefined;
  return `a token of the ${/\bagent\b/i.test(client) ? "agent" : "client"} "${client}"`;
}

/** True if a role assignment makes its holder a Super Administrator; null if it has no type and no such label. */
export function isSuperAdminRole({ type, label }: JsonObject): boolean | null {
  if (typeof type === "string" && type.toUpperCase() === "SUPER_ADMIN") return true;
  if (typeof label === "string" && superAdminLabels.has(label.toUpperCase().replaceAll(/[^A-Z]/g, ""))) return true;
  return typeof type === "string" && type !== "" ? false : null;
}

// A custom role may carry any label; these are the built-in role's own, in its spellings of the API and the console.
const superAdminLabels = new Set(["SUPERADMIN", "SUPERADMINISTRATOR", "SUPERORGADMIN", "SUPERORGADMINISTRATOR"]);
