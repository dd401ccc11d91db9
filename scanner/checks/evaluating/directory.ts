import { decide } from "../check.ts";
import { firstRequestText } from "../../evidence/artifact_table.ts";
import { citationOf, restsOn, type OrgPolicy } from "../../org_policy/document.ts";
import { Subject, withNote, type FindingDraft } from "./finding_drafts.ts";
import type { JsonObject } from "../../../shared/json.ts";
import {
  entriesOf,
  missing,
  type CollectedArtifacts,
  type Evidence,
  type JsonList,
  type MissingEvidence,
} from "../../evidence/artifacts.ts";
import { activityOf } from "../parsing/activity.ts";
import { readBoolean, readText, readTexts, unreadable, type Field } from "../parsing/fields.ts";
import { listNames, nameOf } from "../parsing/names.ts";
import { isSystem, requireDefault } from "../parsing/whole_list.ts";

/** The evidence that shows whether a directory sources the users of the org. */
const directoryEvidence = ["password_policies", "saml_idps", "apps"] as const;
export type DirectoryEvidence = (typeof directoryEvidence)[number];

/** The fields of it that decide. */
export const directoryFields = [
  decide("apps", ["features", "status"], "is a directory in use?"),
  decide("saml_idps", ["policy.provisioning.profileMaster", "status"], "is a directory in use?"),
];

/** A directory is in use where an active password policy is a directory's, or an active app or SAML identity provider sources users. */
export function directoryOf(artifacts: Pick<CollectedArtifacts, DirectoryEvidence>) {
  const lists = directoryEvidence.map((name) => {
    const listed: Evidence<JsonList> = artifacts[name] ?? notCollected(name);
    const evidence = name === "password_policies" ? wholePasswordPolicies(listed) : listed;
    const perhaps = entriesOf(evidence).filter((object) => activityOf(object) !== "inactive");
    return { name, evidence, perhaps: perhaps.map((object) => ({ object, sources: sourcesUsers[name](object) })) };
  });
  const found = lists.flatMap(({ name, perhaps }) => {
    const sure = perhaps.filter(({ object, sources }) => sources === true && activityOf(object) === "active");
    return sure.length === 0 ? [] : [`${words[name]} ${listNames(sure.map(({ object }) => object))}`];
  });
  if (found.length > 0) return { kind: "in_use" as const, what: `a directory is in use (${found.join("; ")})` };
  for (const { evidence } of lists) if (evidence.state === "missing") return { kind: "missing" as const, evidence };
  for (const { name, perhaps } of lists) {
    const [unclear] = perhaps.filter(({ sources }) => sources !== false);
    if (unclear !== undefined)
      return { kind: "unreadable" as const, found: `${words[name]} "${nameOf(unclear.object)}"` };
  }
  // A Super Administrator always sees the Admin Console's own app; another role may not see the app of a directory.
  const apps = lists.flatMap(({ perhaps }) => perhaps).some(({ object }) => object["name"] === "saasure");
  return { kind: "none" as const, hidesApps: !apps };
}

/** Okta makes a system policy for Active Directory too, which is not the default. */
export function wholePasswordPolicies(policies: Evidence<JsonList>): Evidence<JsonList> {
  return requireDefault(policies, {
    isDefault: (policy) => isSystem(policy) && directoryOfPolicy(policy).kind !== "value",
    name: "Default Policy",
    request: firstRequestText("password_policies"),
  });
}

const words = { password_policies: "password policy", saml_idps: "SAML identity provider", apps: "app" } as const;

/** Evidence that was saved before the organization's document asked for more than the STIG does. */
function notCollected(name: DirectoryEvidence): MissingEvidence<JsonList> {
  const detail = `${firstRequestText(name)} was not asked for when this evidence was collected; scan again with the same --org-policy`;
  return missing("provider_error", detail);
}

/** Null where it cannot be read. */
const sourcesUsers: Readonly<Record<DirectoryEvidence, (object: JsonObject) => boolean | null>> = {
  password_policies: (policy) => ifReadable(directoryOfPolicy(policy), () => true),
  saml_idps: (idp) => ifReadable(readBoolean(idp, "policy.provisioning.profileMaster"), (isMaster) => isMaster),
  apps: isDirectoryApp,
};

function ifReadable<Value>(field: Field<Value>, decide: (value: Value) => boolean): boolean | null {
  if (field.kind === "unreadable") return null;
  return field.value !== null && decide(field.value);
}

export function isOktasOwn(app: JsonObject): boolean {
  // `flow` is Okta Workflows OAuth.
  return /^(saasure$|flow$|okta_(?!org2org))/.test(readText(app, "name").value ?? "");
}

/**
 * True for an app that sources users, as Active Directory, LDAP, CSV and HR integrations do; null where it cannot be read. Okta gives
 * IMPORT_NEW_USERS to its own Okta Workflows too, which is not a directory.
 */
export function isDirectoryApp(app: JsonObject): boolean | null {
  if (isOktasOwn(app)) return false;
  return ifReadable(readTexts(app, "features"), (features) =>
    features.some((feature) => feature === "PROFILE_MASTERING" || feature === "IMPORT_NEW_USERS"),
  );
}

/** The kind of directory that has the users of a password policy; absent for Okta's own users. */
export function directoryOfPolicy(policy: JsonObject): Field<string> {
  const provider = readText(policy, "conditions.authProvider.provider");
  if (provider.kind !== "value") return provider;
  const word = provider.value.toUpperCase();
  if (word === "ACTIVE_DIRECTORY") return { kind: "value", value: "Active Directory" };
  if (word === "LDAP") return { kind: "value", value: "an LDAP directory" };
  return word === "OKTA" || word === "ANY" ? { kind: "absent", value: null } : unreadable(word);
}

/** The evidence of a directory decides about a FAIL, and about every result where the document says that it masters all accounts. */
export function directoryEvidenceFor(
  drafts: readonly FindingDraft[],
  policy: OrgPolicy | undefined,
  mayFail: (draft: FindingDraft) => boolean = isFail,
): readonly DirectoryEvidence[] {
  return policy?.user_sourcing === "directory" || drafts.some(mayFail) ? directoryEvidence : [];
}

function isFail({ status }: FindingDraft): boolean {
  return status === "FAIL";
}

/**
 * DISA exempts an org that relies on a directory for its users. No answer shows whether accounts of Okta's own exist beside the
 * directory's: the document says it, and without one a FAIL is proven only where no directory is in use.
 */
export function unlessDirectory(
  drafts: readonly FindingDraft[],
  artifacts: Pick<CollectedArtifacts, DirectoryEvidence>,
  policy: OrgPolicy | undefined,
  mayFail = isFail,
): readonly FindingDraft[] {
  const source = directoryOf(artifacts);
  return drafts.map(unlessSource);

  function unlessSource(draft: FindingDraft): FindingDraft {
    if (policy?.user_sourcing !== "directory" && !mayFail(draft)) return draft;
    const { actual } = draft;
    const subject = new Subject(draft.resource, draft.expected);
    if (policy?.user_sourcing === "directory" && source.kind === "in_use") {
      const note = `${citationOf(policy)} says that a directory masters every account`;
      const draft = subject.noting(note).manual("not_applicable", `${actual}, and ${source.what}`);
      return { ...draft, notes: { rests_on: restsOn(policy) } };
    }
    const isInQuestion = source.kind === "in_use" && policy?.user_sourcing === undefined && mayFail(draft);
    if (draft.status !== "FAIL" && !isInQuestion) return draft;
    if (source.kind === "none" && !source.hidesApps)
      return policy?.user_sourcing === "directory"
        ? withNote(draft, `no directory is in use, although ${citationOf(policy)} says that one masters every account`)
        : draft;
    // Then it does not matter which directories there are.
    if (policy?.user_sourcing === "okta" || policy?.user_sourcing === "both") {
      const note = `${citationOf(policy)} says that Okta masters accounts`;
      return { ...draft, note, notes: { ...draft.notes, rests_on: restsOn(policy) } };
    }
    if (source.kind === "none") {
      if (policy?.user_sourcing !== "directory") return { ...draft, note: hiddenApps };
      const note = `${citationOf(policy)} says that a directory masters every account, and ${hiddenApps}; if there is one, attest the rule as Not Applicable`;
      return subject.noting(note).manual("needs_review", actual);
    }
    if (source.kind === "missing") return { ...subject.missing(source.evidence), actual };
    if (source.kind === "unreadable")
      return subject.manual("unreadable", `${actual}, and what this version cannot read, ${source.found}`);
    const work = draft.status === "FAIL" ? "this is a finding" : "look at it in the Admin Console";
    const note = `if accounts exist that Okta masters, ${work}; if none does, attest the rule as Not Applicable`;
    return subject.noting(note).manual("needs_review", `${actual}, and ${source.what}`);
  }
}

const hiddenApps = "the administrator role of this run cannot see a directory that exists only as an app";
