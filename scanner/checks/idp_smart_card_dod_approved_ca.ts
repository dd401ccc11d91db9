import type { SmartCardIdp, TrustedCertificate } from "../evidence/artifacts.ts";
import { defineCheck, type CheckContext, type FindingDraft } from "./check.ts";
import { explicitActivityOf } from "./parsing/activity.ts";
import { dodIssuers, namesApprovedIssuer } from "./parsing/distinguished_name.ts";
import {
  fail,
  judgeList,
  manual,
  manualForMissing,
  pass,
  unreadable,
  type Subject,
} from "./evaluating/finding_drafts.ts";
import { readText, showValue } from "./parsing/fields.ts";
import { listOf, type ListParameter } from "./parameter.ts";
import { resourceOf } from "./parsing/names.ts";

const approvedIssuers: ListParameter = {
  kind: "list",
  name: "approved_issuers",
  unit: "issuers",
  stigValue: dodIssuers,
};

const uncovered = "Verify that every certificate of the chain is on the DOD's list";

export const idpSmartCardDodApprovedCa = defineCheck({
  name: "idp_smart_card_dod_approved_ca",
  artifacts: ["smart_card_idps"],
  parameters: [approvedIssuers],
  explanation: {
    examines:
      "Whether each Smart Card identity provider is active and trusts a certificate authority of the DOD (or an ECA), " +
      "by a certificate that can be read and is valid.",
    why:
      "A smart card proves as much as the authority that issued its certificate. The check compares the name of the issuer. " +
      "It cannot verify that every certificate of the chain is on the DOD's list, so it is partly automated.",
    fix: [
      "Open Security > Identity Providers in the Admin Console",
      'Activate the identity provider of type "Smart Card", or add one',
      "Choose Actions > Configure and build the certificate chain from the files of a DOD-approved authority",
    ],
    deciding_fields: [
      "GET /api/v1/idps?type=X509: status, protocol.credentials.trust.issuer, protocol.credentials.trust.kid",
      "GET /api/v1/idps/credentials/keys/{kid}: x5c (its issuer and validity)",
    ],
    left_to_person: uncovered,
  },
  evaluate({ smart_card_idps: idps }, context) {
    const approved = listOf(approvedIssuers, context.parameters) ?? context.approvedIssuers ?? dodIssuers;
    const expected = `an active Smart Card identity provider that trusts an approved authority (${approved.join(" or ")})`;
    return judgeList(idps, {
      expected,
      judgeItem: (item) => judgeIdp(item, { expected, approved, context }),
      judgeEmpty: () => [fail({ resource: null, expected }, "no Smart Card identity provider")],
    });
  },
});

/** What an identity provider may be besides a smart card, as Okta's API names it. */
const otherTypes: ReadonlySet<string> = new Set(
  `AMAZON APPLE DISCORD FACEBOOK GITHUB GITLAB GOOGLE IDV_CLEAR IDV_INCODE IDV_PERSONA IDV_STANDARD LINKEDIN LOGINGOV
  LOGINGOV_SANDBOX MICROSOFT OIDC OKTA_INTEGRATION PAYPAL PAYPAL_SANDBOX SALESFORCE SAML2 SPOTIFY XERO YAHOO YAHOOJP`.split(
    /\s+/,
  ),
);

interface Approval {
  readonly expected: string;
  readonly approved: readonly string[];
  readonly context: CheckContext;
}

function judgeIdp({ idp, certificate }: SmartCardIdp, approval: Approval): FindingDraft | null {
  const { expected, approved } = approval;
  const type = readText(idp, "type");
  const word = type.kind === "value" ? type.value.toUpperCase() : null;
  if (word !== null && otherTypes.has(word)) return null;
  const subject: Subject = { resource: resourceOf("identity_provider", idp), expected };
  // The request was for X509 only, so an unknown type may be a new name of the same thing.
  if (type.kind === "unreadable" || (word !== null && word !== "X509")) {
    return unreadable(subject, `the type ${showValue(idp["type"])}`);
  }
  const status = readText(idp, "status");
  const activity = explicitActivityOf(idp);
  if (status.kind !== "value" || activity === "unknown")
    return unreadable(subject, `the status ${showValue(idp["status"])}`);
  if (activity === "inactive") return fail(subject, `the status ${status.value}`);
  const issuer = readText(idp, "protocol.credentials.trust.issuer");
  if (issuer.kind === "unreadable") return unreadable(subject, `the issuer ${issuer.found}`);
  if (issuer.kind === "absent" || issuer.value.trim() === "")
    return manual(subject, "needs_review", "an active identity provider with no issuer set");
  if (!namesApprovedIssuer(issuer.value, approved)) {
    return manual(subject, "needs_review", `the issuer "${issuer.value}"`);
  }
  if (certificate.state === "missing") return manualForMissing(subject, certificate);
  return judgeCertificate(subject, { issuer: issuer.value, certificate: certificate.value }, approval);
}

function judgeCertificate(
  subject: Subject,
  trust: { readonly issuer: string; readonly certificate: TrustedCertificate | null },
  { approved, context }: Approval,
): FindingDraft {
  const { issuer, certificate } = trust;
  if (certificate === null) return unreadable(subject, `the certificate of the issuer "${issuer}"`);
  if (!namesApprovedIssuer(certificate.issuer, approved)) {
    const from = certificate.issuer.trim() === "" ? "from nobody" : `from "${certificate.issuer}"`;
    return manual(subject, "needs_review", `the issuer "${issuer}" with a certificate ${from}`);
  }
  const { valid_from: from, valid_to: to } = certificate;
  // Both are ISO 8601 in UTC, which sorts as text.
  if (context.evaluatedAt < from || context.evaluatedAt > to) {
    return manual(
      subject,
      "needs_review",
      `the issuer "${issuer}" with a certificate valid only from ${from} to ${to}`,
    );
  }
  return pass(subject, `the issuer "${issuer}" with a certificate valid until ${to}`, uncovered);
}
