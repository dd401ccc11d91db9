import { isJsonObject, type JsonObject } from "../../../shared/json.ts";
import {
  availableValue,
  type CollectedArtifacts,
  type Evidence,
  type JsonList,
  type MissingEvidence,
} from "../../evidence/artifacts.ts";
import { activityOf, isUnidentified } from "./activity.ts";
import { readText } from "./fields.ts";
import { listTexts, sortBy, nameOf } from "./names.ts";

export type DirectoryEvidence = "password_policies" | "apps";

/** Whether a directory sources the users of the org. */
export type DirectorySource =
  /** Every active password policy is a directory's. */
  | { readonly kind: "all_users"; readonly what: string }
  | { readonly kind: "in_use"; readonly what: string }
  /** `hidesApps`: the role of the scan does not see every app, so there may be a directory among the others. */
  | { readonly kind: "none"; readonly hidesApps: boolean }
  | { readonly kind: "unreadable"; readonly found: string }
  | { readonly kind: "missing"; readonly evidence: MissingEvidence<JsonList> };

/** Whether directories source the users, by directory password policies and directory apps. */
export function directoryOf({
  password_policies: passwords,
  apps,
}: Pick<CollectedArtifacts, DirectoryEvidence>): DirectorySource {
  // An entry that is no object may be a policy of any kind.
  const policies = sortBy(entriesOf(passwords), nameOf).filter((policy) => activityOf(policy) !== "inactive");
  const theirs = policies.filter((policy) => isDirectoryPolicy(policy) && activityOf(policy) === "active");
  const others = policies.filter((policy) => !theirs.includes(policy));
  const directoryApps = entriesOf(apps).filter(mayBeDirectoryApp);
  const directories = directoryApps.filter((app) => activityOf(app) === "active");
  const policiesSay = theirs.length === 0 ? [] : [namesOf("a directory has the password policy", theirs)];
  if (passwords?.state === "obtained" && theirs.length > 0 && others.length === 0) {
    return { kind: "all_users", what: `${policiesSay.join("")} and no other one is active` };
  }
  if (theirs.length > 0 || directories.length > 0) {
    const appsSay = directories.length === 0 ? [] : [namesOf("the directory in use is", directories)];
    const own = others.filter(isOwnPolicy);
    const rest =
      own.length === 0 ? "no password policy is known to be Okta's own" : namesOf("Okta's own password policy is", own);
    return { kind: "in_use", what: [...appsSay, ...policiesSay, rest].join("; ") };
  }
  for (const evidence of [passwords, apps]) {
    if (evidence === undefined) return { kind: "missing", evidence: notRequested };
    if (evidence.state === "missing") return { kind: "missing", evidence };
  }
  const unclear = policies.find((policy) => isDirectoryPolicy(policy) || !isOwnPolicy(policy));
  if (unclear !== undefined) return { kind: "unreadable", found: `the password policy "${nameOf(unclear)}"` };
  const [unclearApp] = directoryApps;
  if (unclearApp !== undefined) return { kind: "unreadable", found: `the app "${nameOf(unclearApp)}"` };
  // A Super Administrator always sees the Admin Console's own app.
  return { kind: "none", hidesApps: !entriesOf(apps).some((app) => isJsonObject(app) && app["name"] === "saasure") };
}

/** Users of such a password policy are sourced by Active Directory or LDAP. */
function isDirectoryPolicy(policy: JsonObject): boolean {
  if (!isJsonObject(policy)) return false;
  const provider = readText(policy, "conditions.authProvider.provider");
  return provider.kind === "value" && /^(ACTIVE_DIRECTORY|LDAP)$/i.test(provider.value);
}

/** An integration that sources users, unless it is inactive; `ldap_interface` only lets others read Okta over LDAP. */
function mayBeDirectoryApp(app: JsonObject): boolean {
  if (isUnidentified(app)) return true;
  const name = typeof app["name"] === "string" ? app["name"].toLowerCase() : "";
  const isDirectory = name === "active_directory" || (/(^|_)ldap(_|$)/.test(name) && name !== "ldap_interface");
  return isDirectory && activityOf(app) !== "inactive";
}

/** For a provider that is known and no directory; a policy without one is Okta's. */
function isOwnPolicy(policy: JsonObject): boolean {
  if (isUnidentified(policy)) return false;
  const provider = readText(policy, "conditions.authProvider.provider");
  return provider.kind === "absent" || (provider.kind === "value" && /^(OKTA|ANY)$/i.test(provider.value));
}

const notRequested: MissingEvidence<JsonList> = {
  state: "missing",
  reason: "provider_error",
  detail: "Whether a directory sources the users was not asked",
  partial: null,
};

function namesOf(what: string, objects: JsonList): string {
  const names = listTexts(objects.map((object) => `"${nameOf(object)}"`));
  return `${what} ${names}`;
}

function entriesOf(evidence: Evidence<JsonList> | undefined): JsonList {
  return evidence === undefined ? [] : (availableValue(evidence) ?? []);
}
