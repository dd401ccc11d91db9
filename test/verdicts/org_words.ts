/**
 * The provider's own words, by where they stand together: what a mutated object holds instead is then mostly another
 * word of the same list. From Okta's OpenAPI description; what it lacks but is sent (`custom_otp`, `NotTorAnonymizer`) is there too.
 */
const wordLists: readonly (readonly string[])[] = [
  ["ACTIVE", "INACTIVE", "DELETED", "PENDING"],
  ["ANYWHERE", "ZONE", "ON_NETWORK", "OFF_NETWORK"],
  ["OKTA", "ACTIVE_DIRECTORY", "LDAP", "ANY"],
  ["ALLOW", "DENY"],
  ["OPTIONAL", "REQUIRED"],
  ["1FA", "2FA"],
  ["ASSURANCE", "AUTH_METHOD_CHAIN", "ID_PROOFING"],
  ["POLICY", "BLOCKLIST"],
  ["IP", "DYNAMIC", "DYNAMIC_V2"],
  ["", "Any", "Tor", "NotTorAnonymizer"],
  [
    "ALL_ANONYMIZERS",
    "ALL_ANONYMIZERS_EXCEPT_TOR",
    "ALL_IP_SERVICES",
    "ALL_PROXIES_VPNS",
    "ANONYMIZER_TOR",
    "NORD_VPN",
  ],
  ["SUPER_ADMIN", "ORG_ADMIN", "APP_ADMIN", "READ_ONLY_ADMIN", "HELP_DESK_ADMIN", "CUSTOM", "WORKFLOWS_ADMIN"],
  ["SUSPENDED", "DEACTIVATED", "DEPROVISIONED", "STAGED", "ACTIVE"],
  ["DAYS", "HOURS", "WEEKS", "MONTHS"],
  ["192.0.2.0/24", "0.0.0.0/0", "::/0", "0.0.0.0-127.255.255.255", "0.0.0.0/1"],
  ["nzo1", "nzx1", "nzoBlock", "Offices", "ALL_ZONES", "no such zone"],
  ["aws_eventbridge", "splunk_cloud_logstreaming"],
  ["X509", "SAML2", "OIDC", "GOOGLE"],
  ["MTLS", "SAML2", "OIDC"],
  ["saasure", "okta_enduser", "active_directory", "ldap_sun_one", "ldap_interface", "oidc_client"],
  [
    "okta_verify",
    "okta_verify_totp",
    "okta_verify_push",
    "okta_verify_fastpass",
    "smart_card_idp",
    "okta_password",
    "okta_email",
    "phone_number",
    "security_question",
    "webauthn",
    "custom_otp",
    "tac",
  ],
];

/** The lists that a word stands in, one after another; empty for a word that is the organization's own. */
export function neighboursOf(word: string): readonly string[] {
  return wordLists.filter((words) => words.includes(word)).flatMap((words) => words.filter((other) => other !== word));
}
