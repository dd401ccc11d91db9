import { decide, defineCheck } from "./check.ts";
import { roleName, rolesOf } from "../org_policy/facts.ts";
import type { JsonObject } from "../../shared/json.ts";
import { availableValue, entriesOf, type ApiTokenOwner, type Evidence, type JsonList } from "../evidence/artifacts.ts";
import { judgeList, Subject, type FindingDraft } from "./evaluating/finding_drafts.ts";
import { memoize } from "./evaluating/memoize.ts";
import { clientNote, isSuperAdminRole } from "./parsing/api_token.ts";
import { readText, showValue } from "./parsing/fields.ts";
import { listTexts, nameOf, nounFor, quoteAll, sortBy, resourceOf } from "./parsing/names.ts";
import { createTokenComparison, sameTexts, withDocument, type Comparison } from "../org_policy/comparison.ts";
import type { ApiTokenEntry } from "../org_policy/document.ts";

const expected = "an owner without the Super Administrator role, direct or through a group";
const uncovered = "Verify that the owner is an account made for the token, with a role scoped as documented";

export const apitokenNotSuperAdmin = defineCheck({
  name: "apitoken_not_super_admin",
  artifacts: ["api_tokens", "api_token_owners"],
  decidingFields: [
    decide("api_tokens", ["userId", "clientName"]),
    decide("user", ["profile.login"]),
    decide("userRoles", ["type", "label", "resource-set"]),
    decide("userGroups", ["id"]),
    decide("groupRoles", ["type", "label", "resource-set"]),
    decide("roleGroups", ["profile.name"]),
    decide("roleApps", ["displayName"]),
    decide("resourceSet", ["label"]),
  ],
  leftToPerson: uncovered,
  evaluate({ api_tokens: tokens, api_token_owners: owners }, { orgPolicy }) {
    const known = availableValue(owners) ?? {};
    const compare = createTokenComparison(orgPolicy, entriesOf(tokens));
    const byOwner = Map.groupBy(entriesOf(tokens), ({ userId }) => userId);
    // One owner may have many tokens.
    const judgeOnce = memoize((id: string) => (Object.hasOwn(known, id) ? judgeOwner(id, known[id]) : null));
    return judgeList(tokens, {
      expected,
      judgeItem: (token) =>
        withDocument(judgeToken(token, owners, judgeOnce), orgPolicy, () =>
          compare(token, (entry) =>
            compareOwner(entry, known[String(token["userId"])], byOwner.get(token["userId"])?.length ?? 1),
          ),
        ),
      judgeEmpty: (org) => [org.pass("no API token")],
    });
  },
});

function judgeToken(
  token: JsonObject,
  owners: Evidence<unknown>,
  judgeOnce: (userId: string) => FindingDraft | null,
): FindingDraft {
  const subject = new Subject(resourceOf("api_token", token), expected, clientNote(token));
  const { value: userId } = readText(token, "userId");
  if (userId === null || userId === "") return subject.unreadable(`the owner ${showValue(token["userId"])}`);
  const judged = judgeOnce(userId);
  const draft = judged === null ? null : { ...subject.about, ...judged, resource: subject.about.resource };
  if (draft !== null && (owners.state === "obtained" || draft.status === "FAIL")) return draft;
  if (owners.state === "missing") return subject.missing(owners);
  return subject.manual("provider_error", "no answer about its owner's roles");
}

function judgeOwner(id: string, owner: ApiTokenOwner | undefined): FindingDraft | null {
  if (owner === undefined) return null;
  const subject = new Subject(null, expected);
  const name = `the owner "${owner.login ?? id}"`;
  if (includesSuperAdmin(owner.roles)) return subject.fail(`${name}, who is Super Administrator`);
  const group = groupsOf(owner).find((candidate) => includesSuperAdmin(candidate.roles));
  if (group !== undefined) return subject.fail(`${name}, who is Super Administrator through the group "${group.name}"`);
  const roles = [...new Set(rolesOf(owner).map(roleName))];
  const held = roles.length === 0 ? "without a role" : `with the ${nounFor(roles, "role")} ${listTexts(roles)}`;
  return firstMissing(subject, owner) ?? subject.pass(`${name} ${held}`, uncovered);
}

function groupsOf({ groups }: ApiTokenOwner) {
  return sortBy(entriesOf(groups), ({ name, id }) => `${name} ${id}`);
}

/** Compares the login and the roles, direct and through groups. */
function compareOwner(
  { owner: login, roles: named }: ApiTokenEntry,
  owner: ApiTokenOwner | undefined,
  tokensOfOwner: number,
): Comparison {
  if (owner === undefined || owner.login === null) return { kind: "doubtful", why: "the owner's login was not read" };
  // The API and Terraform say READ_ONLY_ADMIN. Every role that an org made itself is CUSTOM there.
  const labels = new Map(rolesOf(owner).map((role) => [role["type"], nameOf(role)]));
  labels.delete("CUSTOM");
  const roles = [...new Set(named.map((role) => role.replace(/^[A-Z_]+(?=:|$)/, (type) => labels.get(type) ?? type)))];
  // A role that the document does not limit may be limited: it permits less.
  const held = [...new Set(rolesOf(owner).map((role) => entryOf(role, roles) ?? roleName(role)))];
  const sayRoles = (names: readonly string[], others: readonly string[]) =>
    names.length === 0 ? "no role" : `the ${nounFor(names, "role")} ${quoteAll(names, others)}`;
  if (roles.some((label) => isSuperAdminRole({ label })))
    return { kind: "doubtful", why: "it gives the token a Super Administrator, which the STIG refuses" };
  const [said, found] = [sayRoles(roles, held), sayRoles(held, roles)];
  const ofDocument = `the owner "${login}" with ${said}`;
  if (owner.login.toLowerCase() !== login.toLowerCase())
    return { kind: "departs", said: ofDocument, found: `the owner "${owner.login}" with ${found}` };
  // Another token of the same owner would change nothing.
  if (!sameTexts(held, roles))
    return { kind: "departs", said: `${said} of the owner "${login}"`, found: `${found} of the owner` };
  const isLimited = (role: JsonObject) => entryOf(role, roles)?.toLowerCase() !== nameOf(role).toLowerCase();
  const unread = rolesOf(owner).find((role) => role["scope"] === undefined && isLimited(role));
  if (unread !== undefined)
    return { kind: "doubtful", why: `what the role "${nameOf(unread)}" is limited to was not read` };
  if (tokensOfOwner === 1) return { kind: "agrees", said: ofDocument };
  return { kind: "doubtful", why: `the owner has ${tokensOfOwner} tokens, and no account that was made for this one` };
}

/** Returns the role of the document that a role is, or may be where its limits were not read. */
function entryOf(role: JsonObject, roles: readonly string[]): string | undefined {
  // Okta's own texts spell a role both ways: Read-only and Read-Only Administrator.
  const label = nameOf(role).toLowerCase();
  const isNamed = (entry: string) => entry.toLowerCase() === label;
  const isWhole = (entry: string) => inOrder(entry) === inOrder(roleName(role));
  const mayBe = (entry: string) => role["scope"] === undefined && entry.toLowerCase().startsWith(`${label}: `);
  return roles.find(isWhole) ?? roles.find(isNamed) ?? roles.find(mayBe);
}

/** Returns a role in lower case, with its limits sorted: people write them in any order. */
function inOrder(text: string): string {
  const [label = "", ...limits] = text.toLowerCase().split(/: |, /);
  return JSON.stringify([label, limits.toSorted()]);
}

/** The first missing evidence that could hold the role. */
function firstMissing(subject: Subject, owner: ApiTokenOwner): FindingDraft | null {
  if (owner.groups === null) return subject.manual("provider_error", "no answer about its owner's groups");
  for (const evidence of [owner.roles, owner.groups, ...groupsOf(owner).map((group) => group.roles)]) {
    if (evidence.state === "missing") return subject.missing(evidence);
  }
  const unread = sortBy(rolesOf(owner), showValue).find((role) => isSuperAdminRole(role) === null);
  return unread === undefined ? null : subject.unreadable(`the role ${showValue(unread)}`);
}

function includesSuperAdmin(roles: Evidence<JsonList>): boolean {
  return entriesOf(roles).some((role) => isSuperAdminRole(role) === true);
}
