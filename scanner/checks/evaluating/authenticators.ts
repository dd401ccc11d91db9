import type { JsonObject } from "../../../shared/json.ts";
import { entriesOf, type Evidence, type JsonList } from "../../evidence/artifacts.ts";
import { explicitActivityOf, isKnownInactive, statusText, type Activity } from "../parsing/activity.ts";
import { judgeList, Subject, withCause, type FindingDraft } from "./finding_drafts.ts";
import { showValue } from "../parsing/fields.ts";
import { nameOf, resourceOf, sortBy } from "../parsing/names.ts";

export interface AuthenticatorCriteria {
  /** More than one where the provider split an authenticator. */
  readonly keys: readonly string[];
  readonly expected: string;
  /** The verdict where none is active; absent: FAIL. */
  readonly ifNone?: (subject: Subject, actual: string) => FindingDraft;
  readonly judgeActive: (subject: Subject, authenticator: JsonObject) => FindingDraft;
}

/**
 * A finding for each active authenticator of the keys. Where none exists, one for each inactive one if there are any.
 * One that cannot be read may be an active one, and makes the verdict MANUAL where no other decides.
 */
export function judgeAuthenticators(
  authenticators: Evidence<JsonList>,
  { keys, expected, ifNone = (subject, actual) => subject.fail(actual), judgeActive }: AuthenticatorCriteria,
): readonly FindingDraft[] {
  return judgeList(authenticators, {
    expected,
    judgeItem(authenticator) {
      const activity = isOneOf(authenticator, keys) ? explicitActivityOf(authenticator) : "inactive";
      if (activity === "inactive") return null;
      const subject = subjectOf(authenticator);
      return activity === "active"
        ? judgeActive(subject, authenticator)
        : subject.unreadable(statusText(authenticator));
    },
    judgeEmpty(org, all) {
      const unnamed = all.filter((one) => typeof one["key"] !== "string" && !isKnownInactive(one));
      if (unnamed.length > 0)
        return unnamed.map((one) => subjectOf(one).unreadable(`the key ${showValue(one["key"])}`));
      const inactive = sortBy(
        all.filter((one) => isOneOf(one, keys)),
        (one) => `${nameOf(one)} ${String(one["id"])}`,
      );
      const [first] = inactive;
      if (first === undefined) return [ifNone(org, "none set up")];
      // One active authenticator is enough, so one change closes them all.
      return inactive.map((one) => withCause(ifNone(subjectOf(one), statusText(one)), "authenticator", first));
    },
  });

  function subjectOf(authenticator: JsonObject): Subject {
    return new Subject(resourceOf("authenticator", authenticator), expected);
  }
}

/** Returns the authenticators with these keys and this status, as far as the list was obtained. */
export function authenticatorsThatAre(
  activity: Activity,
  authenticators: Evidence<JsonList>,
  keys: readonly string[],
): JsonList {
  return entriesOf(authenticators).filter((one) => isOneOf(one, keys) && explicitActivityOf(one) === activity);
}

function isOneOf({ key }: JsonObject, keys: readonly string[]): boolean {
  return typeof key === "string" && keys.includes(key);
}
