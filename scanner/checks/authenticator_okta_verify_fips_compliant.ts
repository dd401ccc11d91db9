import { defineCheck } from "../check.ts";
import { judgeAuthenticator } from "./reading/authenticators.ts";
import { judgeField } from "./reading/drafts.ts";
import { readWord } from "./reading/fields.ts";

export const authenticatorOktaVerifyFipsCompliant = defineCheck({
  name: "authenticator_okta_verify_fips_compliant",
  artifacts: ["authenticators"],
  explanation: {
    examines: "Whether Okta Verify enrolls FIPS-compliant devices only.",
    why: "The keys that Okta Verify signs with must be made and kept by validated cryptography.",
    fix: [
      "Open Security > Authenticators in the Admin Console",
      'On the Setup tab choose Actions > Edit next to "Okta Verify"',
      'In "FIPS Compliance" choose "FIPS-compliant devices only" and save',
    ],
    deciding_fields: ["GET /api/v1/authenticators: key (okta_verify), status, settings.compliance.fips"],
  },
  evaluate: ({ authenticators }) =>
    judgeAuthenticator(authenticators, {
      key: "okta_verify",
      expected: "Okta Verify to be active for FIPS-compliant devices only",
      judgeActive: (subject, authenticator) =>
        judgeField(subject, readWord(authenticator, "settings.compliance.fips", ["REQUIRED", "OPTIONAL"]), {
          isCompliant: (fips) => fips === "REQUIRED",
          show: (fips) => `FIPS compliance ${fips}`,
        }),
    }),
});
