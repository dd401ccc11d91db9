import { decide, defineCheck } from "./check.ts";
import type { JsonList } from "../evidence/artifacts.ts";
import type { JsonObject } from "../../shared/json.ts";
import { authenticatorsThatAre, judgeAuthenticators } from "./evaluating/authenticators.ts";
import { notSet, withCause, worstOf, type Subject, type FindingDraft } from "./evaluating/finding_drafts.ts";
import { readObject, readWord } from "./parsing/fields.ts";
import { sortBy, nameOf } from "./parsing/names.ts";

const keys = ["okta_verify", "okta_verify_totp", "okta_verify_push", "okta_verify_fastpass"];

const notUsed = "verify that nobody uses Okta Verify, and attest the rule as Not Applicable";

export const authenticatorOktaVerifyFipsCompliant = defineCheck({
  name: "authenticator_okta_verify_fips_compliant",
  artifacts: ["authenticators"],
  decidingFields: [decide("authenticators", ["key", "status", "settings.compliance.fips"], `of ${keys.join(", ")}`)],
  evaluate({ authenticators }) {
    const active = sortBy(authenticatorsThatAre("active", authenticators, keys), nameOf);
    return judgeAuthenticators(authenticators, {
      keys,
      expected: "Okta Verify for FIPS-compliant devices only",
      ifNone: (subject, actual) => subject.noting(notUsed).manual("needs_review", actual),
      judgeActive: (subject, authenticator) =>
        authenticator["key"] !== "okta_verify" && !hasSetting(authenticator)
          ? judgeBySiblings(subject, active.filter(hasSetting))
          : judgeFips(subject, authenticator),
    });
  },
});

/** The provider may keep the setting with one of the ones that it split Okta Verify into. */
function judgeBySiblings(subject: Subject, siblings: JsonList): FindingDraft {
  const drafts = siblings.map((sibling) => {
    const which = `no separate setting, and "${nameOf(sibling)}" with`;
    const draft = judgeFips(subject, sibling, `${which} `);
    const isUnset = draft.status === "FAIL" && draft.actual === notSet;
    return withCause(isUnset ? subject.fail(`${which} FIPS compliance not set`) : draft, "authenticator", sibling);
  });
  return worstOf(drafts) ?? subject.unreadable("no FIPS setting here or in another part of Okta Verify");
}

function hasSetting(authenticator: JsonObject): boolean {
  return readObject(authenticator, "settings.compliance").kind !== "absent";
}

function judgeFips(subject: Subject, authenticator: JsonObject, before = ""): FindingDraft {
  return subject.judgeField(readWord(authenticator, "settings.compliance.fips", ["REQUIRED", "OPTIONAL"]), {
    isCompliant: (fips) => fips === "REQUIRED",
    show: (fips) => `${before}FIPS compliance ${fips}`,
  });
}
