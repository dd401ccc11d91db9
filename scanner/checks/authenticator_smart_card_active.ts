import { defineCheck } from "./check.ts";
import { judgeAuthenticators } from "./judging/authenticators.ts";
import { pass } from "./judging/finding_drafts.ts";

export const authenticatorSmartCardActive = defineCheck({
  name: "authenticator_smart_card_active",
  artifacts: ["authenticators"],
  explanation: {
    examines: "Whether the Smart Card authenticator is set up and active.",
    why: "DOD users sign in with the certificate on their PIV or CAC card; without this authenticator Okta cannot accept it.",
    fix: [
      "Set up a Smart Card identity provider under Security > Identity Providers first",
      'Open Security > Authenticators and choose "Add authenticator"',
      'Add "Smart Card Authenticator", select the identity provider, and see that its status is Active',
    ],
    deciding_fields: ["GET /api/v1/authenticators: key (smart_card_idp), status"],
  },
  evaluate: ({ authenticators }) =>
    judgeAuthenticators(authenticators, {
      keys: ["smart_card_idp"],
      expected: "the Smart Card authenticator to be active",
      judgeActive: (subject) => pass(subject, "ACTIVE"),
    }),
});
