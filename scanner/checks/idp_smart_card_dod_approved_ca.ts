import { decide, defineCheck, type CheckContext } from "./check.ts";
import type { JsonObject } from "../../shared/json.ts";
import { entriesOf, type CertificateFields, type SmartCardIdp } from "../evidence/artifacts.ts";
import { explicitActivityOf, isKnownInactive, unknownActivity } from "./parsing/activity.ts";
import { judgeList, Subject, withNames, type FindingDraft } from "./evaluating/finding_drafts.ts";
import { withDocument, type Comparison } from "../org_policy/comparison.ts";
import type { OrgPolicy } from "../org_policy/document.ts";
import { readText, showValue } from "./parsing/fields.ts";
import { listOf, type ListParameter } from "./parameter.ts";
import { listTexts, quoteAll, resourceOf } from "./parsing/names.ts";

/** Parts of the names of issuers that the DOD approves: its own authorities, and the external ones. */
const approvedIssuers: ListParameter = {
  kind: "list",
  name: "approved_issuers",
  unit: "issuers",
  stigValue: ["OU=DoD", "OU=ECA"],
  isWithin: namesApprovedIssuer,
};

const uncovered = "Compare the fingerprint of every certificate of the chain with the DOD's list";

export const idpSmartCardDodApprovedCa = defineCheck({
  name: "idp_smart_card_dod_approved_ca",
  artifacts: ["smart_card_idps"],
  parameters: [approvedIssuers],
  decidingFields: [
    decide("smart_card_idps", ["status", "protocol.credentials.trust.issuer", "protocol.credentials.trust.kid"]),
    decide("idpKey", ["x5c"], "of each certificate issuer, validity and fingerprint"),
  ],
  leftToPerson: uncovered,
  evaluate({ smart_card_idps: idps }, context) {
    const approved = listOf(approvedIssuers, context.parameters);
    const expected = `an active Smart Card identity provider that trusts an approved authority (${approved.join(" or ")})`;
    const inactive = entriesOf(idps).flatMap(({ idp }) => (isSmartCard(idp) && isKnownInactive(idp) ? [idp] : []));
    const drafts = judgeList(idps, {
      expected,
      judgeItem: (item) => judgeIdp(item, { expected, approved, context }),
      judgeEmpty: (org) => [org.fail("no active Smart Card identity provider")],
    });
    return withNames(drafts, "inactive and left out", inactive);
  },
});

interface Approval {
  readonly expected: string;
  readonly approved: readonly string[];
  readonly context: CheckContext;
}

/** Types of identity providers besides smart cards, as Okta's API names them. */
const otherTypes: ReadonlySet<string> = new Set(
  `AMAZON APPLE DISCORD FACEBOOK GITHUB GITLAB GOOGLE IDV_CLEAR IDV_INCODE IDV_PERSONA IDV_STANDARD LINKEDIN LOGINGOV
  LOGINGOV_SANDBOX MICROSOFT OIDC OKTA_INTEGRATION PAYPAL PAYPAL_SANDBOX SALESFORCE SAML2 SPOTIFY XERO YAHOO YAHOOJP`.split(
    /\s+/,
  ),
);

/** False only for what is known to be of another type; the request was for X509, so an unknown type may be a new name of it. */
function isSmartCard(idp: JsonObject): boolean {
  return !otherTypes.has((readText(idp, "type").value ?? "").toUpperCase());
}

function judgeIdp({ idp, certificate }: SmartCardIdp, approval: Approval): FindingDraft | null {
  if (!isSmartCard(idp)) return null;
  const subject = new Subject(resourceOf("identity_provider", idp), approval.expected);
  const type = readText(idp, "type");
  if (type.kind !== "absent" && (type.kind === "unreadable" || type.value.toUpperCase() !== "X509"))
    return subject.unreadable(`the type ${showValue(idp["type"])}`);
  if (isKnownInactive(idp)) return null;
  if (explicitActivityOf(idp) !== "active") return subject.unreadable(unknownActivity(idp));
  const issuer = readText(idp, "protocol.credentials.trust.issuer");
  if (issuer.kind === "unreadable") return subject.unreadable(`the issuer ${issuer.found}`);
  if (issuer.kind === "absent" || issuer.value.trim() === "")
    return subject.manual("needs_review", "an active identity provider with no issuer set");
  if (certificate.state === "obtained") {
    const { value } = certificate;
    const certificates = value === null ? [] : [value, ...value.chain];
    return judgeCertificates(subject, { issuer: issuer.value, certificates }, approval);
  }
  return namesApprovedIssuer(issuer.value, approval.approved)
    ? subject.missing(certificate)
    : subject.manual("needs_review", `the issuer "${issuer.value}"`);
}

/** Judges a provider by its issuer and the certificates that it trusts; the first is the issuer's own. */
function judgeCertificates(
  subject: Subject,
  { issuer, certificates }: { readonly issuer: string; readonly certificates: readonly CertificateFields[] },
  { approved, context: { evaluatedAt, orgPolicy } }: Approval,
): FindingDraft {
  const [certificate] = certificates;
  const shown = certificate === undefined ? subject : subject.noting(certificates.map(describeCertificate).join("; "));
  const review = (actual: string) => shown.manual("needs_review", `the issuer "${issuer}"${actual}`);
  // Only an organization's own list leaves out an authority of the DOD.
  const refused = (name: string, actual = "") =>
    namesApprovedIssuer(name, approvedIssuers.stigValue)
      ? shown.fail(`the issuer "${issuer}"${actual}`)
      : review(actual);
  const trusted = shown.pass(
    `the issuer "${issuer}" with a certificate valid until ${certificate?.valid_to}`,
    uncovered,
  );
  // ISO 8601 in UTC sorts as text.
  const invalid = certificates.find(({ valid_from: from, valid_to: to }) => evaluatedAt < from || evaluatedAt > to);
  const outdated = invalid && ` with a certificate valid only from ${invalid.valid_from} to ${invalid.valid_to}`;
  if (certificate !== undefined && orgPolicy?.certificate_authorities !== undefined) {
    const compared = withDocument(trusted, orgPolicy, (policy) => compareAuthorities(certificates, policy));
    return outdated === undefined || compared.status === "FAIL" ? compared : review(outdated);
  }
  if (!namesApprovedIssuer(issuer, approved)) return refused(issuer);
  if (certificate === undefined) return subject.unreadable(`the certificate of the issuer "${issuer}"`);
  if (!namesApprovedIssuer(certificate.issuer, approved)) {
    const from = certificate.issuer.trim() === "" ? "nobody" : `"${certificate.issuer}"`;
    return refused(certificate.issuer, ` with a certificate from ${from}`);
  }
  const testing = [issuer, ...certificates.flatMap((one) => [one.issuer, one.subject])].find((name) =>
    /\bJITC\b/i.test(name),
  );
  if (testing !== undefined) return review(`, and "${testing}" is a test authority (JITC)`);
  return outdated === undefined ? trusted : review(outdated);
}

/** Compares the fingerprint of every certificate: a name proves nothing. */
function compareAuthorities(certificates: readonly CertificateFields[], policy: OrgPolicy): Comparison {
  const approved = new Map((policy.certificate_authorities ?? []).map(({ sha256, name }) => [plainHex(sha256), name]));
  const unlisted = certificates.filter(({ sha256 }) => !approved.has(plainHex(sha256)));
  const names = certificates.flatMap(({ sha256 }) => approved.get(plainHex(sha256)) ?? []);
  if (unlisted.length === 0) return { kind: "agrees", said: `the certificates of ${quoteAll(names)}` };
  const found = unlisted.map(({ subject, sha256 }) => `${quoted(subject)} with SHA-256 ${sha256}`).join("; ");
  // Only the fingerprints tell two certificates of one name apart.
  const said = [...approved].map(([sha256, name]) =>
    unlisted.some(({ subject }) => subject === name) ? `SHA-256 ${sha256} of ${quoted(name)}` : quoted(name),
  );
  return { kind: "departs", said: `the certificates of ${said.length === 0 ? "nobody" : listTexts(said)}`, found };
}

function plainHex(text: string): string {
  return text.replaceAll(":", "").toLowerCase();
}

function describeCertificate({ subject, issuer, serial, sha256 }: CertificateFields): string {
  return `certificate: subject ${quoted(subject)}, issuer ${quoted(issuer)}, serial number ${serial}, SHA-256 ${sha256}`;
}

function quoted(name: string): string {
  return name.trim() === "" ? "empty" : `"${name}"`;
}

/**
 * Returns true if a distinguished name holds every part of an approved one: `OU=DoD` is met by `CN=DOD ID CA-59, OU=PKI, OU=DoD, …`.
 * Parts are compared one by one and by whole words, so neither `OU=DoDEA` nor `CN=Not OU=DoD` meets it.
 */
export function namesApprovedIssuer(name: string, approved: readonly string[]): boolean {
  const parts = partsOf(name);
  return approved.some((pattern) => {
    const wanted = partsOf(pattern);
    return wanted.length > 0 && wanted.every((part) => parts.some((candidate) => startsWithWord(candidate, part)));
  });
}

function startsWithWord(part: string, wanted: string): boolean {
  if (!part.startsWith(wanted)) return false;
  const following = part.slice(wanted.length, wanted.length + 1);
  return following === "" || /\s/.test(following);
}

/** `CN=a\, b, OU=c` and the lines that a certificate is printed in; both without regard to case and spaces. */
function partsOf(name: string): readonly string[] {
  // `/C=US/OU=DoD` is how OpenSSL used to print a name; elsewhere a slash is a letter like any other.
  const parts = name.match(name.startsWith("/") ? partBySlash : partByComma) ?? [];
  return parts.map(normalize).filter((text) => text !== "");
}

// Up to a separator that is neither escaped nor quoted.
const partByComma = /(?:\\[^]?|"(?:\\[^]?|[^"\\])*"?|[^,;+\n"\\])+/g;
const partBySlash = /(?:\\[^]?|"(?:\\[^]?|[^"\\])*"?|[^/\n"\\])+/g;

function normalize(part: string): string {
  return part.trim().replaceAll(/\s+/g, " ").replace(/ ?= ?/, "=").toLowerCase();
}
