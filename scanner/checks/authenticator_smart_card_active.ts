import { decide, defineCheck } from "./check.ts";
import { listNames } from "./parsing/names.ts";
import { authenticatorsThatAre, judgeAuthenticators } from "./evaluating/authenticators.ts";
import { withOneEnough } from "./evaluating/finding_drafts.ts";

const keys = ["smart_card_idp"];

export const authenticatorSmartCardActive = defineCheck({
  name: "authenticator_smart_card_active",
  artifacts: ["authenticators"],
  decidingFields: [decide("authenticators", ["key", "status"], "of smart_card_idp")],
  evaluate: ({ authenticators }) => {
    const others = authenticatorsThatAre("inactive", authenticators, keys);
    const drafts = judgeAuthenticators(authenticators, {
      keys,
      expected: "the Smart Card authenticator to be active",
      judgeActive: (subject) =>
        (others.length === 0 ? subject : subject.noting(`not active: ${listNames(others)}`)).pass("ACTIVE"),
    });
    return withOneEnough(drafts);
  },
});
