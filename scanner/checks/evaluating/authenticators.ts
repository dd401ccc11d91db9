import type { JsonObject } from "../../../shared/json.ts";
import { entriesOf, type Evidence, type JsonList } from "../../evidence/artifacts.ts";
import type { FindingDraft } from "../check.ts";
import { explicitActivityOf } from "../parsing/activity.ts";
import { fail, judgeList, unreadable, withCause, type Subject } from "./finding_drafts.ts";
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
  { keys, expected, ifNone = fail, judgeActive }: AuthenticatorCriteria,
): readonly FindingDraft[] {
  return judgeList(authenticators, {
    expected,
    judgeItem: (authenticator) => (isOneOf(authenticator, keys) ? judge(authenticator) : null),
    judgeEmpty: (all) => {
      const unnamed = all.filter(
        (authenticator) => typeof authenticator["key"] !== "string" && !isInactive(authenticator),
      );
      if (unnamed.length > 0)
        return unnamed.map((one) => unreadable(subjectOf(one), `the key ${showValue(one["key"])}`));
      const inactive = sortBy(
        all.filter((authenticator) => isOneOf(authenticator, keys)),
        (one) => `${nameOf(one)} ${String(one["id"])}`,
      );
      const [first] = inactive;
      if (first === undefined) return [ifNone({ resource: null, expected }, "none set up")];
      // One active authenticator is enough, so one change closes them all.
      return inactive.map((one) => withCause(ifNone(subjectOf(one), statusOf(one)), "authenticator", first));
    },
  });

  function judge(authenticator: JsonObject): FindingDraft | null {
    const subject = subjectOf(authenticator);
    const activity = explicitActivityOf(authenticator);
    if (activity === "inactive") return null;
    return activity === "active" ? judgeActive(subject, authenticator) : unreadable(subject, statusOf(authenticator));
  }

  function subjectOf(authenticator: JsonObject) {
    return { resource: resourceOf("authenticator", authenticator), expected };
  }
}

/** The active ones of these keys, as far as the list was obtained. */
export function activeOf(authenticators: Evidence<JsonList>, keys: readonly string[]): JsonList {
  return entriesOf(authenticators).filter(
    (authenticator) => isOneOf(authenticator, keys) && explicitActivityOf(authenticator) === "active",
  );
}

export function inactiveOf(authenticators: Evidence<JsonList>, keys: readonly string[]): JsonList {
  return entriesOf(authenticators).filter(
    (authenticator) => isOneOf(authenticator, keys) && explicitActivityOf(authenticator) === "inactive",
  );
}

function isOneOf({ key }: JsonObject, keys: readonly string[]): boolean {
  return typeof key === "string" && keys.includes(key);
}

/** Only by an explicit status: an authenticator without key and status may be active. */
function isInactive(authenticator: JsonObject): boolean {
  return typeof authenticator["status"] === "string" && explicitActivityOf(authenticator) === "inactive";
}

function statusOf({ status }: JsonObject): string {
  return status === undefined || status === null
    ? "status not set"
    : `the status ${typeof status === "string" ? status : showValue(status)}`;
}
