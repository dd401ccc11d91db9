import type { Evidence, JsonList } from "../../evidence/artifacts.ts";
import { isJsonObject, type JsonObject } from "../../../shared/json.ts";
import type { FindingDraft } from "../check.ts";
import { explicitActivityOf } from "../parsing/activity.ts";
import { fail, judgeList, unreadable, type Subject } from "./finding_drafts.ts";
import { shown } from "../parsing/fields.ts";
import { resourceOf } from "../parsing/names.ts";

export interface AuthenticatorJudge {
  /** More than one where the provider made several authenticators of one: then any active one of them is enough. */
  readonly keys: readonly string[];
  readonly expected: string;
  readonly judgeActive: (subject: Subject, authenticator: JsonObject) => FindingDraft;
}

/**
 * A finding for each authenticator of the keys. None of them FAILs, and so does one that is not active, except beside an
 * active one of several keys. One without a key that can be read may be any of them, and decides where no other one does.
 */
export function judgeAuthenticators(
  authenticators: Evidence<JsonList>,
  { keys, expected, judgeActive }: AuthenticatorJudge,
): readonly FindingDraft[] {
  // Of a list that broke off, an active one may be in the rest.
  const mayBeActive = authenticators.state === "missing" || activeOf(authenticators, keys).length > 0;
  return judgeList(authenticators, {
    expected,
    each: (authenticator) => (isOneOf(authenticator, keys) ? judge(authenticator) : null),
    none: (all) => {
      const unnamed = all.filter(
        (authenticator) => typeof authenticator["key"] !== "string" && !isInactive(authenticator),
      );
      if (unnamed.length > 0) return unnamed.map((one) => unreadable(subjectOf(one), `the key ${shown(one["key"])}`));
      const inactive = all.filter((authenticator) => isOneOf(authenticator, keys));
      if (inactive.length > 0) return inactive.map((one) => fail(subjectOf(one), statusOf(one)));
      return [fail({ resource: null, expected }, "none set up")];
    },
  });

  function judge(authenticator: JsonObject): FindingDraft | null {
    const subject = subjectOf(authenticator);
    const activity = explicitActivityOf(authenticator);
    if (activity === "inactive") return keys.length > 1 ? null : fail(subject, statusOf(authenticator));
    const ifActive = judgeActive(subject, authenticator);
    // Not active it would FAIL too, as long as there is no other.
    if (activity === "active" || (ifActive.status === "FAIL" && !mayBeActive)) return ifActive;
    return unreadable(subject, statusOf(authenticator));
  }

  function subjectOf(authenticator: JsonObject): Subject {
    return { resource: resourceOf("authenticator", authenticator), expected };
  }
}

/** The active ones of these keys, as far as the list was obtained. */
export function activeOf(authenticators: Evidence<JsonList>, keys: readonly string[]): JsonList {
  const listed = authenticators.state === "obtained" ? authenticators.value : (authenticators.partial ?? []);
  return listed.filter(
    (authenticator) => isOneOf(authenticator, keys) && explicitActivityOf(authenticator) === "active",
  );
}

function isOneOf(authenticator: unknown, keys: readonly string[]): boolean {
  if (!isJsonObject(authenticator)) return false;
  const { key } = authenticator;
  return typeof key === "string" && keys.includes(key);
}

/** By its own word: without one, nothing is known of an authenticator that has no key either. */
function isInactive(authenticator: JsonObject): boolean {
  return typeof authenticator["status"] === "string" && explicitActivityOf(authenticator) === "inactive";
}

function statusOf({ status }: JsonObject): string {
  return status === undefined || status === null
    ? "status not set"
    : `the status ${typeof status === "string" ? status : shown(status)}`;
}
