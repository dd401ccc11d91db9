import type { Evidence, JsonList, JsonObject } from "../../artifacts.ts";
import type { FindingDraft } from "../../check.ts";
import { explicitActivityOf } from "./activity.ts";
import { fail, judgeList, unreadable, type Subject } from "./drafts.ts";
import { shown } from "./fields.ts";
import { resourceOf } from "./names.ts";

export interface AuthenticatorJudge {
  readonly key: string;
  readonly expected: string;
  readonly judgeActive: (subject: Subject, authenticator: JsonObject) => FindingDraft;
}

/** A finding for the authenticator of a key; one that is absent or not active FAILs. */
export function judgeAuthenticator(
  authenticators: Evidence<JsonList>,
  { key, expected, judgeActive }: AuthenticatorJudge,
): readonly FindingDraft[] {
  return judgeList(authenticators, { expected, each, none: () => [fail({ resource: null, expected }, "none set up")] });

  function each(authenticator: JsonObject): FindingDraft | null {
    if (authenticator["key"] !== key) return null;
    const subject: Subject = { resource: resourceOf("authenticator", authenticator), expected };
    const activity = explicitActivityOf(authenticator);
    const status = authenticator["status"];
    if (activity === "active") return judgeActive(subject, authenticator);
    if (typeof status !== "string" && activity === "unknown") return unreadable(subject, `the status ${shown(status)}`);
    return fail(subject, typeof status === "string" ? `the status ${status}` : "status not set");
  }
}
