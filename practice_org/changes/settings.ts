import {
  anywhere,
  bannerPage,
  fromZone,
  newApiToken,
  newLogStream,
  type CertificateAuthority,
} from "../contents/new_objects.ts";
import { findGroup, findUser } from "./administrators.ts";
import { found, type Draft } from "./edit.ts";
import { adminConsole, inList, named } from "./places.ts";
import {
  addOrDeleteApp,
  addOrDeleteBrand,
  addOrDeleteRule,
  addOrRemoveMember,
  addresses,
  automation,
  banner,
  cardProvider,
  editablePage,
  entry,
  hasWeakApp,
  hrGroup,
  hrLogin,
  hrToken,
  listText,
  moveBusinessApp,
  ownRule,
  presentIssuer,
  presentMembers,
  presentOrder,
  presentPolicy,
  presentRules,
  reorder,
  trust,
  weakLabel,
  whence,
} from "./setting_edits.ts";
import {
  days,
  field,
  mfa,
  minutes,
  password,
  session,
  setting,
  status,
  superAdmin,
  type Setting,
} from "./setting_kinds.ts";

const ownZone = inList("zones", "separate network zone", (zone) => zone["system"] !== true && zone["type"] === "IP");
const anonymizers = inList("zones", "enhanced dynamic zone", ({ name }) => name === "DefaultEnhancedDynamicZone");
const smartCard = inList("authenticators", "smart card authenticator", ({ key }) => key === "smart_card_idp");
const oktaVerify = inList("authenticators", "Okta Verify", ({ key }) => key === "okta_verify");
const secondStream = entry("logStreams", "Second archive", ({ site }, name) => {
  const target = { accountId: "123456789012", eventSourceName: "practice_second", region: "us-east-1" };
  return newLogStream(site, { name, type: "aws_eventbridge", settings: target });
});
const scriptToken = entry("apiTokens", "Migration script", ({ site, nowMs, contents }, name) =>
  newApiToken({ ...site, nowMs }, name, found(contents.users[0], "user").user.id),
);

/** Everything that changes while an org runs: the admin page shows this table, and `practice-org change` names its changes. */
export const settings: readonly Setting[] = [
  mfa("Okta Admin Console", "mfa", "the Admin Console"),
  field(
    ["Admin Console", "Admin Console: idle time", adminConsole, "sessionIdleTimeoutMinutes", minutes],
    ["admin-idle-long", "Set the Admin Console's idle time to 60 minutes", 60],
    ["admin-idle-short", "Set the Admin Console's idle time to 15 minutes", 15],
  ),
  mfa("Okta Dashboard", "dashboard-mfa", "the Okta Dashboard"),
  session(
    ["idle time", "maxSessionIdleMinutes"],
    ["session-idle-long", "Let sessions idle for 120 minutes", 120],
    ["session-idle-short", "Let sessions idle for 15 minutes", 15],
  ),
  session(
    ["lifetime", "maxSessionLifetimeMinutes"],
    ["session-lifetime-long", "Let sessions live for 48 hours", 2880],
    ["session-lifetime-short", "Let sessions live for 18 hours", 1080],
  ),
  session(
    ["persistent cookies", "usePersistentCookie"],
    ["persistent-cookies-on", "Keep session cookies when the browser closes", true],
    ["persistent-cookies-off", "Drop session cookies when the browser closes", false],
  ),
  setting<boolean>(
    ["Global session", "Global session: rules", presentRules, addOrDeleteRule],
    ["session-rule-added", "Add a lax rule for sessions before all others", true],
    ["session-rule-deleted", "Delete that rule", false],
  ),
  status(
    ["Global session", "Global session: a separate rule", ownRule],
    ["session-rule-off", "Switch off a session rule"],
    ["session-rule-on", "Switch on a session rule"],
  ),
  setting<boolean>(
    ["Global session", "Global session: order of policies", presentOrder, reorder],
    ["session-policies-reordered", "Move the first session policy down", true],
    ["session-policies-restored", "Move it up again", false],
  ),
  password(
    ["length", "complexity.minLength"],
    ["password-length-short", "Accept passwords of 8 characters", 8],
    ["password-length-long", "Ask for passwords of 15 characters", 15],
  ),
  password(
    ["history", "age.historyCount"],
    ["password-history-short", "Remember 2 old passwords", 2],
    ["password-history-long", "Remember 5 old passwords", 5],
  ),
  password(
    ["age", "age.maxAgeDays"],
    ["password-age-unlimited", "Let passwords live without an end", 0],
    ["password-age-limited", "Let passwords live for 60 days", 60],
  ),
  password(
    ["attempts before lockout", "lockout.maxAttempts"],
    ["lockout-lax", "Lock accounts after 10 wrong passwords", 10],
    ["lockout-strict", "Lock accounts after 3 wrong passwords", 3],
  ),
  password(
    ["common passwords refused", "complexity.dictionary.common.exclude"],
    ["common-passwords-allowed", "Accept common passwords", false],
    ["common-passwords-refused", "Refuse common passwords", true],
  ),
  status(
    ["Automations", "Automation for inactive users", automation],
    ["automation-off", "Switch off the automation for inactive users"],
    ["automation-on", "Switch on the automation for inactive users"],
  ),
  field(
    ["Automations", "Inactivity before suspension", automation, "conditions.people.users.inactivity.number", days],
    ["automation-late", "Suspend users after 90 days", 90],
    ["automation-early", "Suspend users after 35 days", 35],
  ),
  status(
    ["Log streams", "Log stream", inList("logStreams", "log stream")],
    ["log-stream-off", "Stop the log stream"],
    ["log-stream-on", "Start the log stream"],
  ),
  setting<boolean>(
    ["Log streams", "Number of log streams", ({ logStreams }) => String(logStreams.length), secondStream],
    ["log-stream-added", "Add a second log stream", true],
    ["log-stream-deleted", "Delete the second log stream", false],
  ),
  status(
    ["Network zones", "First network zone", ownZone],
    ["zone-off", "Switch off the first network zone"],
    ["zone-on", "Switch on the first network zone"],
  ),
  field(
    ["Network zones", "Addresses of the first network zone", ownZone, "gateways", addresses],
    ["zone-widened", "Add all addresses to the first network zone", [{ type: "CIDR", value: "0.0.0.0/0" }]],
    ["zone-narrowed", "Take them out again", ({ initial }: Draft) => ownZone(initial).item["gateways"]],
  ),
  status(
    ["Network zones", "Anonymizers blocked", anonymizers],
    ["anonymizers-allowed", "Stop blocking anonymizers"],
    ["anonymizers-blocked", "Block anonymizers"],
  ),
  status(
    ["Authenticators", "Smart card authenticator", smartCard],
    ["smart-card-off", "Switch off the smart card authenticator"],
    ["smart-card-on", "Switch on the smart card authenticator"],
  ),
  field(
    ["Authenticators", "Okta Verify: FIPS", oktaVerify, "settings.compliance.fips", String],
    ["fips-off", "Let Okta Verify run without FIPS", "OPTIONAL"],
    ["fips-on", "Require FIPS of Okta Verify", "REQUIRED"],
  ),
  status(
    ["Smart card identity provider", "Smart card identity provider", cardProvider],
    ["idp-off", "Switch off the smart card identity provider"],
    ["idp-on", "Switch on the smart card identity provider"],
  ),
  setting<CertificateAuthority>(
    ["Smart card identity provider", "Trusted certificate authority", presentIssuer, trust],
    ["idp-untrusted", "Trust a company's certificate authority", "company"],
    ["idp-trusted", "Trust the DOD's certificate authority", "dod"],
  ),
  setting<boolean>(
    ["API tokens", "API tokens", ({ apiTokens }) => listText(apiTokens, "name"), scriptToken],
    ["api-token-created", "Create an API token for use from anywhere", true],
    ["api-token-revoked", "Revoke that API token", false],
  ),
  field(
    ["API tokens", `Where the token ${hrToken} may be used`, named("apiTokens", hrToken), "network", whence],
    ["api-token-opened", `Allow the token ${hrToken} from anywhere`, anywhere],
    [
      "api-token-restricted",
      `Restrict the token ${hrToken} to a network zone`,
      ({ contents }: Draft) => fromZone(ownZone(contents).item.id),
    ],
  ),
  superAdmin(
    [hrLogin, (contents) => findUser(contents, hrLogin)],
    ["super-admin-granted", `Make ${hrLogin}, who owns a token, Super Administrator`],
    ["super-admin-revoked", "Revoke that role"],
  ),
  superAdmin(
    [`the group ${hrGroup}`, (contents) => findGroup(contents, hrGroup)],
    ["group-role-granted", `Make the group ${hrGroup} Super Administrator`],
    ["group-role-revoked", "Revoke that role of the group"],
  ),
  setting<boolean>(
    ["Administrators", `Members of the group ${hrGroup}`, presentMembers, addOrRemoveMember],
    ["group-member-added", `Add a service account to the group ${hrGroup}`, true],
    ["group-member-removed", "Remove it from the group", false],
  ),
  setting<boolean>(
    [
      "Applications",
      `Application ${weakLabel}`,
      (contents) => (hasWeakApp(contents) ? "there, with a password alone" : "not there"),
      addOrDeleteApp,
    ],
    ["app-added", "Add an application that asks for a password alone", true],
    ["app-deleted", "Delete that application", false],
  ),
  setting<boolean>(
    ["Applications", "Policy of the first business application", presentPolicy, moveBusinessApp],
    ["app-policy-moved", "Move the first business application to a policy with a password alone", true],
    ["app-policy-restored", "Move it to its own policy again", false],
  ),
  field(
    ["Sign-in pages", "Banner on the first page that can be edited", editablePage, "pageContent", banner],
    ["banner-removed", "Remove the banner from the sign-in page", null],
    ["banner-restored", "Put the banner on the sign-in page", bannerPage],
  ),
  setting<boolean>(
    ["Sign-in pages", "Brands", ({ brands }) => brands.map(({ brand: { name } }) => name).join(", "), addOrDeleteBrand],
    ["brand-added", "Add a brand, without a banner", true],
    ["brand-deleted", "Delete that brand", false],
  ),
];
