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
const firstRule = (org: Json, policy: string): Json =>
  session(org, policy).rules.value.find((rule: Json) => rule.priority === 1);
const app = (org: Json, label: string): Json => named(org.apps.value, label);
const strongRules = (org: Json): Json => org.app_policy_rules.value[policyIdOf(app(org, "Travel portal"))].value;
const policyIdOf = (one: Json): string => one._links.accessPolicy.href.split("/").at(-1);
const token = (org: Json, name: string): Json => named(org.api_tokens.value, name);
const ownerOf = (org: Json, name: string): Json => org.api_token_owners.value[token(org, name).userId];
const brands = (org: Json): Json => org.brand_sign_in_pages.value;
const idp = (org: Json): Json => org.smart_card_idps.value[0];

/** A second zone with addresses of its own, active and of usage POLICY. */
function addZone(org: Json, name = "Branch office"): string {
  const zone = structuredClone(named(zones(org), "Office network"));
  zones(org).push({
    ...zone,
    id: `nzo${name}`.replaceAll(" ", ""),
    name,
    gateways: [{ type: "CIDR", value: "192.0.2.0/24" }],
  });
  return zones(org).at(-1).id;
}

test("the compliant org with its document is 29 of 29 PASS, and each rule that it decided names it", () => {
  const results = judge(fresh());
  expect(results).toHaveLength(29);
  expect(others(results)).toEqual({});
  const resting = results.filter(({ findings }) => findings.some(({ rests_on: rests }) => rests !== undefined));
  expect(resting.map(({ vuln_id: id }) => id).toSorted()).toEqual([
    "V-273192",
    "V-273207",
    "V-279689",
    "V-279690",
    "V-279691",
    "V-279692",
    "V-279693",
  ]);
  for (const { findings } of resting)
    for (const { rests_on: rests } of findings.filter((one) => one.rests_on !== undefined))
      expect(rests).toBe('"AC policy for Okta, v3" (approved by Jane Roe on 2026-11-01)');
});

test("without a document, and with one that is not in force, nothing changes", () => {
  const without = judge({ ...fresh(), policy: null });
  expect(Object.values(others(without))).toEqual(Array.from({ length: 7 }, () => "partly_automated"));
  expect(judge({ ...fresh() }, "2026-10-31T23:59:59.000Z")).toEqual(
    judge({ ...fresh(), policy: null }, "2026-10-31T23:59:59.000Z"),
  );
  expect(judge({ ...fresh() }, "2027-11-02T00:00:00.000Z")).toEqual(
    judge({ ...fresh(), policy: null }, "2027-11-02T00:00:00.000Z"),
  );
  expect(others(judge(fresh(), "2027-11-01T23:59:59.000Z"))).toEqual({});
});

const [T, O, S, X, A, C, B] = [
  "V-279689",
  "V-279690",
  "V-279691",
  "V-279692",
  "V-279693",
  "V-273207",
  "V-273192",
] as const;
const open = "partly_automated";

test.each<[change: string, edit: (one: Case) => void, changed: Readonly<Record<string, string>>]>([
  // V-279691: zones of session policies
  [
    "a session rule is for another zone",
    ({ org }) => (firstRule(org, "Administrators").conditions.network.include = [addZone(org)]),
    { [S]: "FAIL" },
  ],
  [
    "a session rule is for one zone more",
    ({ org }) => firstRule(org, "Administrators").conditions.network.include.push(addZone(org)),
    { [S]: "FAIL" },
  ],
  [
    "a session rule leaves a zone out besides",
    ({ org }) => (firstRule(org, "Administrators").conditions.network.exclude = [addZone(org)]),
    { [S]: "FAIL" },
  ],
  [
    "a session rule is for everywhere",
    ({ org }) => (firstRule(org, "Default Policy").conditions.network = { connection: "ANYWHERE" }),
    { [S]: "FAIL" },
  ],
  ["a session policy is not in the document", ({ policy }) => policy.session_policies.shift(), { [S]: open }],
  [
    "the document says * for the others",
    ({ policy }) => (policy.session_policies = [{ policy: "*", zones_allowed: ["Office network"] }]),
    {},
  ],
  [
    "the document names one session policy of another name",
    ({ policy }) => (policy.session_policies[0].policy = "Administrator"),
    { [S]: open },
  ],
  ["a session policy was renamed", ({ org }) => (session(org, "Administrators").policy.name = "Admins"), { [S]: open }],
  [
    "two session policies have one name",
    ({ org }) => (session(org, "Administrators").policy.name = "Default Policy"),
    { [S]: open },
  ],
  [
    "the document allows one zone more",
    ({ org, policy }) => (addZone(org), policy.session_policies[0].zones_allowed.push("Branch office")),
    { [S]: "FAIL" },
  ],
  [
    "the document denies a zone",
    ({ org, policy }) => (addZone(org), (policy.session_policies[0].zones_denied = ["Branch office"])),
    { [S]: "FAIL" },
  ],
  [
    "the document names a zone that is not there",
    ({ policy }) => (policy.session_policies[0].zones_allowed = ["Ofice network"]),
    { [S]: open },
  ],
  ["the document has no session policies", ({ policy }) => delete policy.session_policies, { [S]: open }],
  // V-279693: zones of apps
  [
    "an app's rule is for another zone",
    ({ org }) => (strongRules(org)[0].conditions.network.include = [addZone(org)]),
    { [A]: "FAIL" },
  ],
  [
    "an app's rule is for one zone more",
    ({ org }) => strongRules(org)[0].conditions.network.include.push(addZone(org)),
    { [A]: "FAIL" },
  ],
  [
    "an app's rule leaves a zone out",
    ({ org }) => (strongRules(org)[0].conditions.network.exclude = [addZone(org)]),
    { [A]: "FAIL" },
  ],
  [
    "an app's catch-all allows",
    ({ org }) => (strongRules(org).find((rule: Json) => rule.system).actions.appSignOn.access = "ALLOW"),
    { [A]: "FAIL" },
  ],
  [
    "a second rule of an app is for another zone",
    ({ org }) =>
      strongRules(org).push({
        ...structuredClone(strongRules(org)[0]),
        id: "rul2",
        name: "Second",
        conditions: { network: { connection: "ZONE", include: [addZone(org)] } },
      }),
    { [A]: "FAIL" },
  ],
  [
    "an app is bound to another policy of the document",
    ({ org }) => (app(org, "Travel portal")._links = app(org, "Okta Dashboard")._links),
    {},
  ],
  [
    "a policy of apps is not in the document",
    ({ policy }) =>
      policy.apps.splice(
        policy.apps.findIndex((one: Json) => one.policy.startsWith("STIG")),
        1,
      ),
    { [A]: open },
  ],
  [
    "the document says * for the other apps",
    ({ policy }) => (policy.apps = [{ app: "*", zones_allowed: ["Office network"] }]),
    {},
  ],
  [
    "the document names an app with another zone",
    ({ org, policy }) => (addZone(org), policy.apps.push({ app: "Travel portal", zones_allowed: ["Branch office"] })),
    { [A]: "FAIL" },
  ],
  [
    "the document names an app that is not there",
    ({ policy }) => policy.apps.push({ app: "Travel Portal", zones_allowed: ["Office network"] }),
    {},
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
    "the document denies a zone for an app's policy",
    ({ org, policy }) => (addZone(org), (policy.apps[0].zones_denied = ["Branch office"])),
    { [A]: "FAIL" },
  ],
  [
    "the document names a zone for apps that is not there",
    ({ policy }) => (policy.apps[0].zones_allowed = ["Old office"]),
    { [A]: open },
  ],
  ["the document has no apps", ({ policy }) => delete policy.apps, { [A]: open }],
  [
    "a policy of apps was renamed",
    ({ org }) => (org.access_policies.value.find((one: Json) => one.name.startsWith("STIG")).name = "Strong"),
    { [A]: open },
  ],
  // V-279689: zones of tokens
  [
    "a token is for another zone",
    ({ org }) => (token(org, "HR import").network.include = [addZone(org)]),
    { [T]: "FAIL" },
  ],
  [
    "a token is for one zone more",
    ({ org }) => token(org, "HR import").network.include.push(addZone(org)),
    { [T]: "FAIL" },
  ],
  [
    "a token is for everywhere",
    ({ org }) => (token(org, "HR import").network = { connection: "ANYWHERE" }),
    { [T]: "FAIL" },
  ],
  [
    "the document has another zone for a token",
    ({ org, policy }) => (addZone(org), (named(policy.api_tokens, "HR import").zones = ["Branch office"])),
    { [T]: "FAIL" },
  ],
  [
    "the document has a zone for a token that is not there",
    ({ policy }) => (named(policy.api_tokens, "HR import").zones = ["Old office"]),
    { [T]: open },
  ],
  ["a token is not in the document", ({ policy }) => policy.api_tokens.pop(), { [T]: open, [O]: open }],
  ["a token was renamed", ({ org }) => (token(org, "HR import").name = "HR import 2"), { [T]: open, [O]: open }],
  ["two tokens have one name", ({ org }) => (token(org, "HR import").name = "SIEM export"), { [T]: open, [O]: open }],
  [
    "a new token, in no document",
    ({ org }) => org.api_tokens.value.push({ ...structuredClone(token(org, "HR import")), id: "00Tnew", name: "New" }),
    { [T]: open, [O]: open },
  ],
  [
    "the document names a token that is gone",
    ({ policy }) => policy.api_tokens.push({ ...policy.api_tokens[0], token: "Gone" }),
    {},
  ],
  ["the document has no tokens", ({ policy }) => delete policy.api_tokens, { [T]: open, [O]: open }],
  // V-279690: owners of tokens
  [
    "a token has another owner",
    ({ org }) => (token(org, "HR import").userId = token(org, "SIEM export").userId),
    { [O]: "FAIL" },
  ],
  [
    "an owner has another login",
    ({ org }) => (ownerOf(org, "HR import").login = "bea@practice.example"),
    { [O]: "FAIL" },
  ],
  ["an owner's login has capitals", ({ org }) => (ownerOf(org, "HR import").login = "HR@practice.example"), {}],
  [
    "an owner holds one role more",
    ({ org }) =>
      ownerOf(org, "SIEM export").roles.value.push({ type: "APP_ADMIN", label: "Application Administrator" }),
    { [O]: "FAIL" },
  ],
  ["an owner holds no role", ({ org }) => (ownerOf(org, "SIEM export").roles.value = []), { [O]: "FAIL" }],
  [
    "an owner is Super Administrator",
    ({ org }) => ownerOf(org, "SIEM export").roles.value.push({ type: "SUPER_ADMIN", label: "Super Administrator" }),
    { [O]: "FAIL" },
  ],
  [
    "the document lists the Super Administrator role",
    ({ org, policy }) => (
      ownerOf(org, "SIEM export").roles.value.push({ type: "SUPER_ADMIN", label: "Super Administrator" }),
      named(policy.api_tokens, "SIEM export").roles.push("Super Administrator")
    ),
    { [O]: "FAIL" },
  ],
  [
    "the document names another owner",
    ({ policy }) => (named(policy.api_tokens, "HR import").owner = "other@practice.example"),
    { [O]: "FAIL" },
  ],
  [
    "the document names another role",
    ({ policy }) => (named(policy.api_tokens, "HR import").roles = ["Help Desk Administrator"]),
    { [O]: "FAIL" },
  ],
  ["an owner's login was not read", ({ org }) => (ownerOf(org, "HR import").login = null), { [O]: open }],
  // V-279692: anonymizers
  [
    "Okta's blocklist is off",
    ({ org }) => (named(zones(org), "DefaultEnhancedDynamicZone").status = "INACTIVE"),
    { [X]: "FAIL" },
  ],
  ["the document says nothing of anonymizers", ({ policy }) => delete policy.anonymizers, { [X]: open }],
  [
    "the document has ranges that no zone blocks",
    ({ policy }) => (policy.anonymizers = cssp("203.0.113.0/24")),
    { [X]: "FAIL" },
  ],
  [
    "the document has ranges that a zone blocks in two parts",
    ({ org, policy }) => (
      block(org, "203.0.113.0/25", "203.0.113.128/25"),
      (policy.anonymizers = cssp("203.0.113.0/24"))
    ),
    {},
  ],
  [
    "a blocklist has one address too few",
    ({ org, policy }) => (block(org, "203.0.113.0-203.0.113.254"), (policy.anonymizers = cssp("203.0.113.0/24"))),
    { [X]: "FAIL" },
  ],
  [
    "a blocklist with the ranges is off",
    ({ org, policy }) => (
      (block(org, "203.0.113.0/24").status = "INACTIVE"),
      (policy.anonymizers = cssp("203.0.113.0/24"))
    ),
    { [X]: "FAIL" },
  ],
  [
    "ranges alone, without Okta's blocklist",
    ({ org, policy }) => (
      block(org, "203.0.113.0/24"),
      (named(zones(org), "DefaultEnhancedDynamicZone").status = "INACTIVE"),
      (policy.anonymizers = cssp("203.0.113.0/24"))
    ),
    {},
  ],
  // V-273207: certificate authorities
  [
    "the document has another certificate",
    ({ policy }) => (policy.certificate_authorities[0].sha256 = "a".repeat(64)),
    { [C]: "FAIL" },
  ],
  [
    "the org trusts another certificate",
    ({ org }) => (idp(org).certificate.value.sha256 = "b".repeat(64)),
    { [C]: "FAIL" },
  ],
  [
    "a certificate of the chain is in no document",
    ({ org }) => idp(org).certificate.value.chain.push({ ...idp(org).certificate.value, sha256: "c".repeat(64) }),
    { [C]: "FAIL" },
  ],
  [
    "the document's digest has colons and capitals",
    ({ policy }) =>
      (policy.certificate_authorities[0].sha256 = policy.certificate_authorities[0].sha256
        .toUpperCase()
        .match(/../g)
        .join(":")),
    {},
  ],
  [
    "an approved certificate has expired",
    ({ org }) => (idp(org).certificate.value.valid_to = "2026-01-01T00:00:00.000Z"),
    { [C]: "needs_review" },
  ],
  [
    "an approved certificate has a name that is not the DOD's",
    ({ org }) => (idp(org).certificate.value.issuer = "CN=Agency CA"),
    {},
  ],
  ["the document says nothing of certificates", ({ policy }) => delete policy.certificate_authorities, { [C]: open }],
  ["no smart card provider is active", ({ org }) => (idp(org).idp.status = "INACTIVE"), { [C]: "FAIL" }],
  // V-273192: the Okta subdomain
  ["the document says nothing of the subdomain", ({ policy }) => delete policy.okta_subdomain, { [B]: open }],
  [
    "the page of the other brand has no banner",
    ({ org }) => (brands(org).find((one: Json) => one.brand.isDefault === false).page.value.content = "bare"),
    { [B]: "FAIL" },
  ],
])("%s", (_, edit, changed) => {
  const one = fresh();
  edit(one);
  expect(others(judge(one))).toEqual(changed);
});

function cssp(...ranges: readonly string[]): Json {
  return { ranges, source: "CSSP list 12", date: "2026-10-01" };
}

function block(org: Json, ...ranges: readonly string[]): Json {
  const zone = named(zones(org), "BlockedIpZone") ?? named(zones(org), "IP Block list");
  const value = {
    type: "IP",
    usage: "BLOCKLIST",
    status: "ACTIVE",
    name: "IP Block list",
    id: "nzoBlock",
    system: true,
  };
  const added = {
    ...zone,
    ...value,
    gateways: ranges.map((text) => ({ type: text.includes("/") ? "CIDR" : "RANGE", value: text })),
  };
  zones(org).push(added);
  return added;
}
