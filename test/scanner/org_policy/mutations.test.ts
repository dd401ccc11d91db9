import { beforeAll, expect, test } from "vitest";
import { catalog } from "../../../scanner/catalog/catalog.ts";
import { evaluateCheck } from "../../../scanner/evaluate.ts";
import type { ArtifactsDocument } from "../../../scanner/evidence/artifacts_document.ts";
import { draftOrgPolicy } from "../../../scanner/org_policy/draft.ts";
import { parseOrgPolicy } from "../../../scanner/org_policy/read_org_policy.ts";
import { toContext } from "../../../scanner/run_scan.ts";
import type { CheckResult } from "../../../shared/report.ts";
import { startOrg } from "../../practice_org/start_org.ts";
import { scanPracticeOrg } from "../../support/scan_practice_org.ts";

/**
 * The compliant org with its document is 29 of 29 PASS, and each single change of the org or of the document changes the rules
 * that it concerns and no other.
 */

// oxlint-disable-next-line typescript/no-explicit-any -- a mutation edits JSON of any shape
type Json = any;

interface Case {
  readonly org: Json;
  readonly policy: Json;
}

let scanned: ArtifactsDocument;
let document: Json;

beforeAll(async () => {
  const org = await startOrg({ profile: { name: "compliant" }, role: "super" });
  scanned = (await scanPracticeOrg(org)).document;
  document = draftOrgPolicy(scanned, "2026-11-01");
  document.approved_by = "Jane Roe";
  document.reference = "AC policy for Okta, v3";
  for (const token of document.api_tokens) token.purpose = "practice";
  document.okta_subdomain.prevented_by = "a rule that denies";
});

function judge({ org, policy }: Case, evaluatedAt = "2026-11-28T00:00:00.000Z"): readonly CheckResult[] {
  const orgPolicy =
    policy === null ? null : parseOrgPolicy(JSON.stringify(policy), { option: "--org-policy", file: "x" });
  const { engine, org_url: orgUrl } = scanned.scan;
  const context = toContext({ engine, orgUrl, evaluatedAt, orgPolicy });
  return catalog.map((check) => evaluateCheck(check, org, context));
}

const fresh = (): Case => structuredClone({ org: scanned.artifacts, policy: document });

/** The rules that are no PASS, by V-number. */
function others(results: readonly CheckResult[]): Readonly<Record<string, string>> {
  const left = results.filter(({ status }) => status !== "PASS");
  return Object.fromEntries(left.map((one) => [one.vuln_id, one.reason ?? one.status]));
}

const named = (list: Json, name: string): Json =>
  list.find((one: Json) => [one.name, one.label, one.token, one.policy, one.policy?.name].includes(name));
const zones = (org: Json): Json => org.network_zones.value;
const session = (org: Json, policy: string): Json => named(org.global_session_policies.value, policy);
const sessionZones = (org: Json): Json =>
  session(org, "Administrators").rules.value.find((rule: Json) => rule.priority === 1).conditions.network;
const app = (org: Json, label: string): Json => named(org.apps.value, label);
const appRules = (org: Json): Json => {
  const { href } = app(org, "Travel portal")._links.accessPolicy;
  return org.app_policy_rules.value[href.split("/").at(-1)].value;
};
const appZones = (org: Json): Json => appRules(org)[0].conditions.network;
const strongPolicy = (policy: Json): Json => policy.apps.find((one: Json) => one.policy.startsWith("STIG"));
const token = (org: Json, name = "HR import"): Json => named(org.api_tokens.value, name);
const ownerOf = (org: Json, name: string): Json => org.api_token_owners.value[token(org, name).userId];
const hrEntry = (policy: Json): Json => named(policy.api_tokens, "HR import");
const blocklist = (org: Json): Json => named(zones(org), "DefaultEnhancedDynamicZone");
const idp = (org: Json): Json => org.smart_card_idps.value[0];

/** A second zone with addresses of its own, active and of usage POLICY. */
function addZone(org: Json): string {
  const gateways = [{ type: "CIDR", value: "192.0.2.0/24" }];
  zones(org).push({
    ...structuredClone(named(zones(org), "Office network")),
    id: "nzoB",
    name: "Branch office",
    gateways,
  });
  return "nzoB";
}

const everybody = { network: { connection: "ANYWHERE" } };
const fromZone = (include: string) => ({ network: { connection: "ZONE", include: [include] } });
const notFromZone = (exclude: string) => ({ network: { connection: "ZONE", exclude: [exclude] } });
const officeId = (org: Json): string => named(zones(org), "Office network").id;
const onlyOffice = (org: Json) => fromZone(officeId(org));
const oneUser = { people: { users: { include: ["00uA"] } } };

/** Makes these the rules of each session policy, in their order: Okta's own lets everybody in at the end. */
function setSessionRules(org: Json, ...rules: readonly (readonly [access: string, conditions: Json])[]): void {
  for (const policy of org.global_session_policies.value)
    policy.rules.value = [...rules, ["ALLOW", everybody]].map(([access, conditions], index) => ({
      id: `rul${index}`,
      name: index === rules.length ? "Default Rule" : `Rule ${index + 1}`,
      status: "ACTIVE",
      priority: index + 1,
      conditions,
      actions: { signon: { ...session(org, "Administrators").rules.value[0].actions.signon, access } },
    }));
}

/** Puts a rule before the others of each policy of apps. */
function addAppRule(org: Json, access: string, conditions: Json): void {
  for (const { value: rules } of Object.values<Json>(org.app_policy_rules.value)) {
    const rule = { ...structuredClone(rules[0]), id: "rulFirst", name: "First", conditions, priority: -1 };
    rules.unshift({ ...rule, actions: { appSignOn: { ...rule.actions.appSignOn, access } } });
  }
}

const deniesBranch = [{ policy: "*", zones_denied: ["Branch office"] }];

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
const superAdmin = { type: "SUPER_ADMIN", label: "Super Administrator" };

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

test.each<[change: string, edit: (one: Case) => void, changed: Readonly<Record<string, string>>]>([
  ["a session rule is for another zone", ({ org }) => (sessionZones(org).include = [addZone(org)]), { [S]: "FAIL" }],
  ["a session rule is for one zone more", ({ org }) => sessionZones(org).include.push(addZone(org)), { [S]: "FAIL" }],
  ["a session rule leaves a zone out", ({ org }) => (sessionZones(org).exclude = [addZone(org)]), { [S]: "FAIL" }],
  ["a session policy is not in the document", ({ policy }) => policy.session_policies.shift(), { [S]: open }],
  ["a session policy was renamed", ({ org }) => (session(org, "Administrators").policy.name = "Admins"), { [S]: open }],
  ["the document has another name", ({ policy }) => (policy.session_policies[0].policy = "Admin"), { [S]: open }],
  [
    "two session policies have one name",
    ({ org }) => (session(org, "Administrators").policy.name = "Default Policy"),
    { [S]: open },
  ],
  [
    "the document says * for session policies",
    ({ policy }) => (policy.session_policies = [{ policy: "*", zones_allowed: ["Office network"] }]),
    {},
  ],
  [
    "the document denies sessions a zone",
    ({ org, policy }) => (addZone(org), (policy.session_policies[0].zones_denied = ["Branch office"])),
    { [S]: "FAIL" },
  ],
  [
    "the document names a zone that is not there",
    ({ policy }) => (policy.session_policies[0].zones_allowed = ["Ofice network"]),
    { [S]: open },
  ],
  [
    "a later session rule lets in from anywhere",
    ({ org }) => setSessionRules(org, ["ALLOW", onlyOffice(org)]),
    { [S]: "FAIL" },
  ],
  [
    "a later session rule lets in from another zone",
    ({ org }) =>
      setSessionRules(org, ["ALLOW", onlyOffice(org)], ["ALLOW", fromZone(addZone(org))], ["DENY", everybody]),
    { [S]: "FAIL" },
  ],
  [
    "a later session rule cannot be compared",
    ({ org }) => setSessionRules(org, ["ALLOW", onlyOffice(org)], ["ALLOW", { network: { connection: "ON_NETWORK" } }]),
    { [S]: open },
  ],
  [
    "session rules deny a zone as the document does",
    ({ org, policy }) => (
      setSessionRules(org, ["DENY", fromZone(addZone(org))]),
      (policy.session_policies = deniesBranch)
    ),
    {},
  ],
  [
    "session rules deny one user a zone that the document denies",
    ({ org, policy }) => (
      setSessionRules(org, ["DENY", { ...fromZone(addZone(org)), ...oneUser }]),
      (policy.session_policies = deniesBranch)
    ),
    { [S]: "FAIL" },
  ],
  ["session rules deny all zones but one", ({ org }) => setSessionRules(org, ["DENY", notFromZone(officeId(org))]), {}],
  [
    "session rules name any zone, and the document each",
    ({ org, policy }) => {
      sessionZones(org).include = ["ALL_ZONES"];
      const all = zones(org).filter((zone: Json) => zone.usage === "POLICY" && zone.gateways !== null);
      named(policy.session_policies, "Administrators").zones_allowed = all.map((zone: Json) => zone.name);
    },
    {},
  ],
  ["the document has no session policies", ({ policy }) => delete policy.session_policies, { [S]: open }],

  ["an app's rule is for another zone", ({ org }) => (appZones(org).include = [addZone(org)]), { [A]: "FAIL" }],
  ["an app's rule leaves a zone out", ({ org }) => (appZones(org).exclude = [addZone(org)]), { [A]: "FAIL" }],
  [
    "a second rule of an app is for another zone",
    ({ org }) =>
      appRules(org).push({
        ...structuredClone(appRules(org)[0]),
        id: "rul2",
        name: "Second",
        conditions: { network: { connection: "ZONE", include: [addZone(org)] } },
      }),
    { [A]: "FAIL" },
  ],
  [
    "another rule of an app lets in from all zones but one",
    ({ org }) => addAppRule(org, "ALLOW", notFromZone(addZone(org))),
    { [A]: "FAIL" },
  ],
  [
    "a rule of an app denies a zone as the document does",
    ({ org, policy }) => (
      addAppRule(org, "DENY", fromZone(addZone(org))),
      (policy.apps = [{ app: "*", zones_allowed: ["Office network"], zones_denied: ["Branch office"] }])
    ),
    {},
  ],
  [
    "a rule of an app denies one user a zone that the document denies",
    ({ org, policy }) => (
      addAppRule(org, "DENY", { ...fromZone(addZone(org)), ...oneUser }),
      (policy.apps = [{ app: "*", zones_allowed: ["Office network"], zones_denied: ["Branch office"] }])
    ),
    { [A]: "FAIL" },
  ],
  ["a policy of apps is not in the document", ({ policy }) => (strongPolicy(policy).policy = "Weak"), { [A]: open }],
  [
    "the document says * for apps",
    ({ policy }) => (policy.apps = [{ app: "*", zones_allowed: ["Office network"] }]),
    {},
  ],
  [
    "the document names an app with another zone",
    ({ org, policy }) => (addZone(org), policy.apps.push({ app: "Travel portal", zones_allowed: ["Branch office"] })),
    { [A]: "FAIL" },
  ],
  [
    "the document names an app's label that two have",
    ({ org, policy }) => (
      (app(org, "Timekeeping").label = "Travel portal"),
      policy.apps.push({ app: "Travel portal", zones_allowed: ["Office network"] })
    ),
    { [A]: open },
  ],
  [
    "two policies of apps have the name that the document says",
    ({ org, policy }) => org.access_policies.value.push({ id: "rstTwin", name: strongPolicy(policy).policy }),
    { [A]: open },
  ],
  ["the document has no apps", ({ policy }) => delete policy.apps, { [A]: open }],

  ["a token is for another zone", ({ org }) => (token(org).network.include = [addZone(org)]), { [T]: "FAIL" }],
  ["a token is for everywhere", ({ org }) => (token(org).network = { connection: "ANYWHERE" }), { [T]: "FAIL" }],
  ["a token's zone is not there", ({ policy }) => (hrEntry(policy).zones = ["Old office"]), { [T]: open }],
  ["a token is not in the document", ({ policy }) => policy.api_tokens.pop(), { [T]: open, [O]: open }],
  ["two tokens have one name", ({ org }) => (token(org).name = "SIEM export"), { [T]: open, [O]: open }],
  [
    "the document names a token that is gone",
    ({ policy }) => policy.api_tokens.push({ ...policy.api_tokens[0], token: "Gone" }),
    {},
  ],

  ["a token has another owner", ({ org }) => (token(org).userId = token(org, "SIEM export").userId), { [O]: "FAIL" }],
  ["an owner has another login", ({ org }) => (ownerOf(org, "HR import").login = "bea@x.example"), { [O]: "FAIL" }],
  ["an owner's login has capitals", ({ org }) => (ownerOf(org, "HR import").login = "HR@practice.example"), {}],
  ["an owner's login was not read", ({ org }) => (ownerOf(org, "HR import").login = null), { [O]: open }],
  ["an owner holds no role", ({ org }) => (ownerOf(org, "SIEM export").roles.value = []), { [O]: "FAIL" }],
  [
    "an owner is Super Administrator, as the document says",
    ({ org, policy }) => (
      ownerOf(org, "SIEM export").roles.value.push(superAdmin),
      named(policy.api_tokens, "SIEM export").roles.push("Super Administrator")
    ),
    { [O]: "FAIL" },
  ],
  ["the document names another owner", ({ policy }) => (hrEntry(policy).owner = "x@practice.example"), { [O]: "FAIL" }],
  ["the document names another role", ({ policy }) => (hrEntry(policy).roles = ["Help Desk"]), { [O]: "FAIL" }],

  ["Okta's blocklist is off", ({ org }) => (blocklist(org).status = "INACTIVE"), { [X]: "FAIL" }],
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
    "addresses bypass the blocklists that hold the ranges",
    ({ org, policy }) => (block(org, "203.0.113.0/24"), exempt(org), (policy.anonymizers = cssp)),
    { [X]: open },
  ],
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
  ["a fingerprint has colons and capitals", ({ policy }) => spellFirst(policy.certificate_authorities), {}],
  ["an approved certificate names no DOD", ({ org }) => (idp(org).certificate.value.issuer = "CN=Agency CA"), {}],
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
    "the app that pulls the log is not there",
    (one) => (pullLog(one, "ACTIVE"), (one.policy.siem.client_id = "0oaGone")),
    { "V-273202": "FAIL" },
  ],
  ...[3, 10].map((attempts): [string, (one: Case) => void, Readonly<Record<string, string>>] => [
    `a directory masters every account, and Okta would lock one after ${attempts} attempts`,
    (one) => useDirectory(one, "directory", attempts),
    { "V-273188": "not_applicable", "V-273189": "not_applicable" },
  ]),
  ["Okta masters accounts beside a directory", (one) => useDirectory(one, "both", 10), { "V-273189": "FAIL" }],
])("%s", (_, edit, changed) => {
  const one = fresh();
  edit(one);
  expect(others(judge(one))).toEqual(changed);
});
