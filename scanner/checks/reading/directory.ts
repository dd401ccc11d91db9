import type { JsonObject } from "../../artifacts.ts";
import { activityOf } from "./activity.ts";
import { readText } from "./fields.ts";

/** Users of such a password policy are sourced by Active Directory or LDAP. */
export function isDirectoryPolicy(policy: JsonObject): boolean {
  const provider = readText(policy, "conditions.authProvider.provider");
  return provider.kind === "value" && /^(ACTIVE_DIRECTORY|LDAP)$/i.test(provider.value);
}

/** An active integration that sources users; `ldap_interface` only lets others read Okta over LDAP. */
export function isDirectoryApp(app: JsonObject): boolean {
  const name = typeof app["name"] === "string" ? app["name"].toLowerCase() : "";
  const isDirectory = name === "active_directory" || (/(^|_)ldap(_|$)/.test(name) && name !== "ldap_interface");
  return isDirectory && activityOf(app) === "active";
}
