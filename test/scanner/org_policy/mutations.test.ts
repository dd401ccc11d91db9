import { expect, test } from "vitest";
import { causesOf } from "../../../scanner/causes/causes.ts";
import { manualSteps } from "../../../scanner/fix/manual_steps.ts";
import { planFixes } from "../../../scanner/fix/plan_fixes.ts";
import {
  addZone,
  app,
  draft,
  fresh,
  judge,
  named,
  others,
  testChanges,
  zones,
  type Case,
  type Change,
  type Json,
} from "./documented_org.ts";

/**
 * The compliant org with its document is 29 of 29 PASS, and each single change of the org or of the document changes the rules
 * that it concerns and no other.
 */

const token = (org: Json, name = "HR import"): Json => named(org.api_tokens.value, name);
const ownerOf = (org: Json, name: string): Json => org.api_token_owners.value[token(org, name).userId];
const hrRole = (org: Json): Json => ownerOf(org, "HR import").groups.value.flatMap(({ roles }: Json) => roles.value)[0];
const hrEntry = (policy: Json): Json => named(policy.api_tokens, "HR import");
const blocklist = (org: Json): Json => named(zones(org), "DefaultEnhancedDynamicZone");
const idp = (org: Json): Json => org.smart_card_idps.value[0];

/** Blocks these addresses, by a list of the org's own. */
function block(org: Json, ...ranges: readonly string[]): Json {
  const gateways = ranges.map((value) => ({ type: value.includes("/") ? "CIDR" : "RANGE", value }));
  const zone = { type: "IP", usage: "BLOCKLIST", status: "ACTIVE", name: "IP Block list", id: "nzoBlock", gateways };
  zones(org).push(zone);
  return zone;
}

function exempt(org: Json): void {
  named(zones(org), "DefaultExemptIpZone").gateways = [{ type: "CIDR", value: "192.0.2.0/24" }];
}

function useDirectory({ org, policy }: Case, sourcing: string, attempts: number): void {
  app(org, "Timekeeping").features = ["PROFILE_MASTERING"];
  for (const one of org.password_policies.value) one.settings.password.lockout.maxAttempts = attempts;
  policy.user_sourcing = sourcing;
}

function pullLog({ org, policy }: Case, status: string, type = "service"): void {
  org.log_streams.value = [];
  Object.assign(app(org, "Timekeeping"), { status, settings: { oauthClient: { application_type: type } } });
  policy.siem = { method: "System Log API", client_id: app(org, "Timekeeping").id };
}

function spellFirst([authority]: Json): void {
  authority.sha256 = authority.sha256.toUpperCase().replaceAll(/..(?=.)/g, "$&:");
}

const cssp = { ranges: ["203.0.113.0/24"], source: "CSSP list 12", date: "2026-10-01" };

test("the compliant org with its document is 29 of 29 PASS, and each rule that it decided names it", () => {
  const results = judge(fresh());
  expect([results.length, others(results)]).toEqual([29, {}]);
  const resting = results.filter(({ findings }) => findings.some(({ rests_on: rests }) => rests !== undefined));
  expect(resting.map(({ vuln_id: id }) => id).toSorted()).toEqual([B, C, T, O, S, X, A]);
  for (const { rests_on: rests, expected } of resting.flatMap(({ findings }) => findings)) {
    if (rests === undefined) continue;
    expect(rests).toBe('"AC policy for Okta, v3" (approved by Jane Roe on 2026-11-01), in force until 2027-11-01');
    expect(expected).toContain(', as "AC policy for Okta, v3" (approved by Jane Roe on 2026-11-01) says');
  }
});

test("without a document, and with one that is not in force, nothing changes", () => {
  const without = (at?: string) => judge({ ...fresh(), policy: null }, at);
  expect(Object.values(others(without()))).toEqual(Array.from({ length: 7 }, () => open));
  for (const at of ["2026-10-31T23:59:59.000Z", "2027-11-02T00:00:00.000Z"])
    expect(judge(fresh(), at)).toEqual(without(at));
  expect(others(judge(fresh(), "2027-11-01T23:59:59.000Z"))).toEqual({});
});

/** Zones of session policies, of apps and of tokens, owners of tokens, anonymizers, certificate authorities, the subdomain. */
const [S, A, T, O, X] = ["V-279691", "V-279693", "V-279689", "V-279690", "V-279692"] as const;
const [C, B] = ["V-273207", "V-273192"] as const;
const open = "partly_automated";

testChanges([
  ["a token is for another zone", ({ org }) => (token(org).network.include = [addZone(org)]), { [T]: "FAIL" }],
  ["a token leaves out a zone", ({ org }) => (token(org).network.exclude = [addZone(org)]), {}],
  ["a token's zone is not there", ({ policy }) => (hrEntry(policy).zones = ["Old office"]), { [T]: open }],
  ["a token is not in the document", ({ policy }) => policy.api_tokens.pop(), { [T]: open, [O]: open }],
  [
    "the document spells a login and a role in another case",
    ({ policy }) => Object.assign(hrEntry(policy), { owner: "HR@practice.example", roles: ["group administrator"] }),
    {},
  ],
  ["two tokens have one name", ({ org }) => (token(org).name = "SIEM export"), { [T]: open, [O]: open }],

  ["a token has another owner", ({ org }) => (token(org).userId = token(org, "SIEM export").userId), { [O]: "FAIL" }],
  ["an owner's login was not read", ({ org }) => (ownerOf(org, "HR import").login = null), { [O]: open }],
  ["an owner holds no role", ({ org }) => (ownerOf(org, "SIEM export").roles.value = []), { [O]: "FAIL" }],
  [
    "one account owns two tokens, as the document says",
    ({ org, policy }) => {
      const first = token(org, "SIEM export");
      org.api_tokens.value.push({ ...first, id: "00TSecond", name: "SIEM export 2" });
      policy.api_tokens.push({ ...named(policy.api_tokens, "SIEM export"), token: "SIEM export 2" });
    },
    { [O]: open },
  ],
  [
    "the document gives a token a Super Administrator, and no zone",
    ({ policy }) => Object.assign(hrEntry(policy), { roles: ["Super Administrator"], zones: [] }),
    { [T]: open, [O]: open },
  ],
  ["a role is limited, of which the document says no limit", ({ org }) => (hrRole(org).scope = ["HR staff"]), {}],
  ...[undefined, [], ["HR staff"], ["Contractors", "HR staff"]].map((scope): Change => [
    `the document limits a role to groups, with the API's word for it, and Okta to ${JSON.stringify(scope)}`,
    ({ org, policy }) => ((hrRole(org).scope = scope), (hrEntry(policy).roles = ["USER_ADMIN: HR staff, Contractors"])),
    scope === undefined ? { [O]: open } : scope.length === 2 ? {} : { [O]: "FAIL" },
  ]),
  ...["GROUP", "USER"].map((assignmentType): Change => [
    `a user's own list has a role without the limit that a group's has, assigned to a ${assignmentType}`,
    ({ org, policy }) => {
      const own = { ...hrRole(org), assignmentType, ...(assignmentType === "USER" && { scope: [] }) };
      ownerOf(org, "HR import").roles.value.push(own);
      [hrRole(org).scope, hrEntry(policy).roles] = [["HR staff"], ["Group Administrator: HR staff"]];
    },
    assignmentType === "GROUP" ? {} : { [O]: "FAIL" },
  ]),
  [
    "the document has the API's word for every role that an org made",
    ({ org, policy }) => {
      Object.assign(ownerOf(org, "SIEM export").roles.value[0], { type: "CUSTOM", label: "Help" });
      named(policy.api_tokens, "SIEM export").roles = ["CUSTOM"];
    },
    { [O]: "FAIL" },
  ],

  [
    "Okta's blocklist leaves something out",
    ({ org }) => (block(org, "203.0.113.0/24"), (blocklist(org).ipServiceCategories.exclude = ["GOOGLE_VPN"])),
    { [X]: "needs_review" },
  ],
  ["the document says nothing of anonymizers", ({ policy }) => delete policy.anonymizers, { [X]: open }],
  ["the document has ranges that no zone blocks", ({ policy }) => (policy.anonymizers = cssp), { [X]: "FAIL" }],
  [
    "a zone blocks the ranges in two parts, without Okta's blocklist",
    ({ org, policy }) => (
      block(org, "203.0.113.0/25", "203.0.113.128/25"),
      (blocklist(org).status = "INACTIVE"),
      (policy.anonymizers = cssp)
    ),
    {},
  ],
  [
    "a zone blocks one address too few",
    ({ org, policy }) => (block(org, "203.0.113.0-203.0.113.254"), (policy.anonymizers = cssp)),
    { [X]: "FAIL" },
  ],
  [
    "the ranges are in a blocklist's proxies",
    ({ org, policy }) => {
      const zone = block(org, "203.0.113.0/24");
      [zone.proxies, zone.gateways, policy.anonymizers] = [zone.gateways, [], cssp];
    },
    { [X]: "FAIL" },
  ],
  ["addresses bypass the blocklists", ({ org }) => exempt(org), { [X]: open }],
  [
    "the zone that blocks the ranges is off",
    ({ org, policy }) => ((block(org, "203.0.113.0/24").status = "INACTIVE"), (policy.anonymizers = cssp)),
    { [X]: "FAIL" },
  ],

  ["the org trusts another certificate", ({ org }) => (idp(org).certificate.value.sha256 = "b"), { [C]: "FAIL" }],
  [
    "a certificate of the chain is in no document",
    ({ org }) => idp(org).certificate.value.chain.push({ ...idp(org).certificate.value, sha256: "c".repeat(64) }),
    { [C]: "FAIL" },
  ],
  [
    "an approved certificate has expired",
    ({ org }) => (idp(org).certificate.value.valid_to = "2026-01-01T00:00:00.000Z"),
    { [C]: "needs_review" },
  ],
  [
    "another certificate has expired",
    ({ org }) => Object.assign(idp(org).certificate.value, { sha256: "b", valid_to: "2026-01-01T00:00:00.000Z" }),
    { [C]: "FAIL" },
  ],
  ["a fingerprint has colons and capitals", ({ policy }) => spellFirst(policy.certificate_authorities), {}],
  ["an approved certificate names no DOD", ({ org }) => (idp(org).certificate.value.issuer = "CN=Agency CA"), {}],
  [
    "the document's own list of issuers leaves out the one of the org",
    ({ policy }) => (delete policy.certificate_authorities, (policy.limits = { approved_issuers: ["OU=ECA"] })),
    { [C]: "FAIL" },
  ],
  ["the document says nothing of certificates", ({ policy }) => delete policy.certificate_authorities, { [C]: open }],

  ["the document says nothing of the subdomain", ({ policy }) => delete policy.okta_subdomain, { [B]: open }],
  [
    "the page of the other brand has no banner",
    ({ org }) =>
      (org.brand_sign_in_pages.value.find(({ brand }: Json) => brand.isDefault === false).page.value.content = "bare"),
    { [B]: "FAIL" },
  ],

  ["an active service app pulls the log", (one) => pullLog(one, "ACTIVE"), { "V-273202": open }],
  ["an active app for people pulls the log", (one) => pullLog(one, "ACTIVE", "web"), { "V-273202": "needs_review" }],
  ["an inactive app pulls the log", (one) => pullLog(one, "INACTIVE"), { "V-273202": "FAIL" }],
  [
    "an active service app whose client id is not the id of the app pulls the log",
    (one) => {
      pullLog(one, "ACTIVE");
      app(one.org, "Timekeeping").credentials = { oauthClient: { client_id: "siem" } };
      one.policy.siem.client_id = "siem";
    },
    { "V-273202": open },
  ],
  [
    "the app that pulls the log is not there",
    (one) => (pullLog(one, "ACTIVE"), (one.policy.siem.client_id = "0oaGone")),
    { "V-273202": "FAIL" },
  ],
  ...[3, 10].map((attempts): Change => [
    `a directory masters every account, and Okta would lock one after ${attempts} attempts`,
    (one) => useDirectory(one, "directory", attempts),
    { "V-273188": "not_applicable", "V-273189": "not_applicable" },
  ]),
  [
    "a directory masters every account, which the role of the scan cannot see",
    (one) => {
      useDirectory(one, "directory", 10);
      one.org.saml_idps = one.org.apps = { state: "obtained", value: [] };
    },
    { [A]: open, "V-273189": "needs_review" },
  ],
  ["Okta masters accounts beside a directory", (one) => useDirectory(one, "both", 10), { "V-273189": "FAIL" }],
  [
    "Okta masters accounts, and nobody knows of a directory",
    (one) => {
      useDirectory(one, "okta", 10);
      one.org.saml_idps = { state: "missing", reason: "missing_scope", detail: "refused", partial: null };
      app(one.org, "Timekeeping").features = [];
    },
    { "V-273189": "FAIL" },
  ],
]);

test("a departure tells two certificates of one name apart", () => {
  const one = fresh();
  const [{ sha256, name }] = one.policy.certificate_authorities;
  idp(one.org).certificate.value.sha256 = "b".repeat(64);
  const finding = judge(one).find((result) => result.vuln_id === C)?.findings[0];
  expect(finding?.expected).toContain(`SHA-256 ${sha256} of "C=US, `);
  expect(finding?.actual).toBe(`"${name}" with SHA-256 ${"b".repeat(64)}`);
  one.policy.certificate_authorities = [];
  const unlisted = judge(one).find((result) => result.vuln_id === C)?.findings[0];
  expect(unlisted?.expected).toMatch(/^the certificates of nobody, as /);
});

test("an approved certificate that has expired is shown as expired, also where its issuer names no DOD", () => {
  const one = fresh();
  Object.assign(idp(one.org).certificate.value, { issuer: "CN=Agency CA", valid_to: "2026-01-01T00:00:00.000Z" });
  const finding = judge(one).find((result) => result.vuln_id === C)?.findings[0];
  expect(finding?.actual).toMatch(/with a certificate valid only from .* to 2026-01-01T00:00:00.000Z$/);
});

test("a departure names the policy of an app, and what can be changed of a token", () => {
  const one = fresh();
  one.policy.apps = [{ app: "*", zones_allowed: ["LegacyIpZone"] }];
  hrEntry(one.policy).owner = "x@practice.example";
  named(one.policy.api_tokens, "SIEM export").roles = ["Help Desk"];
  const results = judge(one);
  const ofApp = results
    .find(({ vuln_id: id }) => id === A)
    ?.findings.find(({ resource }) => resource.name === "Timekeeping");
  expect(ofApp?.actual).toBe('access allowed from "Office network", in the policy "STIG strong authentication"');
  const changes = causesOf(results, one.org).map(({ change }) => change);
  expect(changes).toContainEqual(
    expect.stringMatching(/^In the API token "HR import": move its application to a token of the owner "x@practice/),
  );
  expect(changes).toContainEqual(
    expect.stringMatching(/^In the API token "SIEM export": change it to the role "Help Desk" of the owner "siem@/),
  );
});

test("a FAIL says that the directory of the document is not there", () => {
  const one = fresh();
  useDirectory(one, "directory", 10);
  app(one.org, "Timekeeping").features = [];
  one.org.saml_idps = { state: "obtained", value: [] };
  const result = judge(one).find(({ vuln_id: id }) => id === "V-273189");
  expect(result?.status).toBe("FAIL");
  expect(result?.detail).toMatch(/found 10 attempts: no directory is in use, although "AC policy .* every account\.$/);
});

test("the draft leaves out what was read in part", () => {
  const { org } = fresh();
  const [rules, apps] = [org.global_session_policies.value[0].rules, Object.values<Json>(org.app_policy_rules.value)];
  const { roles } = ownerOf(org, "HR import").groups.value.at(-1);
  for (const list of [rules, ...apps, roles])
    Object.assign(list, { state: "missing", reason: "missing_scope", detail: "refused", partial: list.value });
  const drafted = draft(org);
  expect(drafted.api_tokens.map((entry: Json) => entry.token)).toEqual(["SIEM export"]);
  expect([drafted.session_policies.length, drafted.apps]).toEqual([1, undefined]);
});

test("the draft leaves out a name that two tokens or policies have, because a document would be refused", () => {
  const { org, policy } = fresh();
  org.api_tokens.value.push({ ...token(org), id: "00TSecond" });
  org.global_session_policies.value.push(structuredClone(org.global_session_policies.value[0]));
  const drafted = draft(org);
  expect(drafted.api_tokens.map((entry: Json) => entry.token)).toEqual(["SIEM export"]);
  expect(drafted.session_policies).toEqual(policy.session_policies.slice(1));
});

test("the change that closes a failure names a looser limit of the organization, too, which fix plans", () => {
  const one = fresh();
  for (const { settings } of one.org.password_policies.value) settings.password.age.maxAgeDays = 0;
  one.policy.limits = { password_maximum_age_days: 90 };
  const changes = causesOf(judge(one), one.org).map(({ change }) => change);
  expect(changes).toHaveLength(2);
  for (const change of changes)
    expect(change).toMatch(/of 1 to 60 days, or meet the organization's own limit of 90 days, which waives it$/);
});

test.each([
  [14, false],
  [16, true],
])("a failure that a limit of %d characters waives or adds names the document", (characters, isAdded) => {
  const one = fresh();
  for (const { settings } of one.org.password_policies.value)
    settings.password.complexity.minLength = isAdded ? 15 : 14;
  one.policy.limits = { password_length: characters };
  const findings = judge(one).find(({ vuln_id: id }) => id === "V-273195")?.findings;
  for (const finding of findings ?? [])
    expect(finding).toMatchObject({ status: "FAIL", waived: !isAdded, rests_on: expect.stringContaining("v3") });
});

test("the draft asks a person for the source of users, and leaves out zones that the org does not have once", () => {
  const one = fresh();
  useDirectory(one, "both", 10);
  token(one.org).network.include.push("nzoGone");
  zones(one.org).push({ ...named(zones(one.org), "Office network"), id: "nzoTwin" });
  const { user_sourcing: sourcing, session_policies: sessions, api_tokens: tokens } = draft(one.org);
  expect([sourcing, sessions, tokens.map((entry: Json) => entry.zones)]).toEqual(["", undefined, [[], []]]);
});

test("a list of the org's own in place of Okta's is closed by Okta's, which fix switches on", () => {
  const one = fresh();
  block(one.org, "203.0.113.0/24");
  blocklist(one.org).status = "INACTIVE";
  const results = judge(one);
  expect(others(results)).toEqual({ [X]: "FAIL" });
  const finding = results.find(({ vuln_id: id }) => id === X)?.findings[0];
  expect(finding?.detail).toMatch(
    /found 1 static entry in .*: "AC policy .* says that Okta's own list is to be blocked\.$/,
  );
  const [cause] = causesOf(results, one.org);
  expect(cause?.change).toMatch(
    /^In the zone "DefaultEnhancedDynamicZone": set "Enhanced dynamic zone blocklist" .* Active/,
  );
  expect(planFixes(results, one.org)).toMatchObject({ byHand: [], resources: [{ type: "okta_network_zone" }] });
});

test.each(["ACTIVE", "INACTIVE"])("ranges of the document are added by hand, with Okta's list %s", (status) => {
  const one = fresh();
  blocklist(one.org).status = status;
  one.policy.anonymizers = cssp;
  const { byHand, resources } = planFixes(judge(one), one.org);
  expect([resources, byHand.map(({ check }) => check.rule.vuln_id)]).toEqual([[], [X]]);
  const steps = byHand.flatMap((item) => manualSteps(item.check, [item], one.org));
  expect(steps.at(-1)).toMatch(
    /edit "IP Block list", add its ranges .*: addresses of 203\.0\.113\.0\/24 that are not there$/,
  );
});
