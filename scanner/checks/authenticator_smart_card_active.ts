import { decide, defineCheck } from "./check.ts";
import { listTexts, nameOf } from "./parsing/names.ts";
import { authenticatorsThatAre, judgeAuthenticators } from "./evaluating/authenticators.ts";
import { withOneEnough } from "./evaluating/finding_drafts.ts";

const keys = ["smart_card_idp"];

export const authenticatorSmartCardActive = defineCheck({
  name: "authenticator_smart_card_active",
  artifacts: ["authenticators"],
  explanation: {
    examines: "Whether a Smart Card authenticator is set up and active. One is enough.",
    disa: 'If "Smart Card Authenticator" is not listed or is not listed as "Active", this is a finding.',
    rests_on: [
      "PASS: an authenticator with `key` smart_card_idp and `status` ACTIVE.",
      "Not covered: whether policies require it.",
    ],
    why: "DOD users sign in with the certificate on their PIV or CAC card. Without this authenticator, Okta cannot accept it.",
    fix: [
      "Set up a Smart Card identity provider under Security > Identity Providers first",
      'Open Security > Authenticators; if "Smart Card Authenticator" is not listed, add it and select the identity provider',
      "Activate it, so that its status is Active",
    ],
    deciding_fields: [decide("authenticators", ["key", "status"], "of smart_card_idp")],
  },
  evaluate: ({ authenticators }) => {
    const others = authenticatorsThatAre("inactive", authenticators, keys);
    const note = `not active are ${listTexts(others.map((other) => `"${nameOf(other)}"`))}`;
    const drafts = judgeAuthenticators(authenticators, {
      keys,
      expected: "the Smart Card authenticator to be active",
      judgeActive: (subject) => (others.length === 0 ? subject : subject.noting(note)).pass("ACTIVE"),
    });
    return authenticators.state === "missing" ? drafts : withOneEnough(drafts);
  },
});
