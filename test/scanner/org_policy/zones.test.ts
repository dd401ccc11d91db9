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
  session,
  testChanges,
  zones,
  type Change,
  type Json,
} from "./documented_org.ts";

/** Zones of session policies and of apps: each single change of the org or of its document changes one rule. */

const sessionZones = (org: Json): Json =>
  session(org, "Administrators").rules.value.find((rule: Json) => rule.priority === 1).conditions.network;
const appRules = (org: Json): Json => {
  const { href } = app(org, "Travel portal")._links.accessPolicy;
  return org.app_policy_rules.value[href.split("/").at(-1)].value;
};
const appZones = (org: Json): Json => appRules(org)[0].conditions.network;
const strongPolicy = (policy: Json): Json => policy.apps.find((one: Json) => one.policy.startsWith("STIG"));

const everybody = { network: { connection: "ANYWHERE" } };
const fromZone = (include: string) => ({ network: { connection: "ZONE", include: [include] } });
const notFromZone = (exclude: string) => ({ network: { connection: "ZONE", exclude: [exclude] } });
const officeId = (org: Json): string => named(zones(org), "Office network").id;
const onlyOffice = (org: Json) => fromZone(officeId(org));
const oneGroup = { people: { groups: { include: ["00gA"] } } };
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

const [S, A] = ["V-279691", "V-279693"] as const;
const open = "partly_automated";

testChanges([
  ["a session rule is for another zone", ({ org }) => (sessionZones(org).include = [addZone(org)]), { [S]: "FAIL" }],
  ["a session rule leaves a zone out", ({ org }) => (sessionZones(org).exclude = [addZone(org)]), { [S]: "FAIL" }],
  [
    "a zone that session rules leave out, as the document says, is inactive",
    ({ org, policy }) => {
      for (const one of org.global_session_policies.value) one.rules.value[0].conditions.network.exclude = ["nzoB"];
      addZone(org);
      for (const entry of policy.session_policies) entry.zones_denied = ["Branch office"];
      named(zones(org), "Branch office").status = "INACTIVE";
    },
    { [S]: open },
  ],
  ["a session policy is not in the document", ({ policy }) => policy.session_policies.shift(), { [S]: open }],
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
    "the document denies sessions a zone that nobody can come in from",
    ({ org, policy }) => (addZone(org), (policy.session_policies[0].zones_denied = ["Branch office"])),
    {},
  ],
  ...[["198.51.100.7"], []].map((addresses): Change => [
    `the document denies sessions a zone with the addresses ${addresses.join()}, and no rule names it`,
    ({ org, policy }) => {
      addZone(org);
      named(zones(org), "Branch office").gateways = addresses.map((value) => ({ type: "CIDR", value }));
      policy.session_policies[0].zones_denied = ["Branch office"];
    },
    { [S]: "FAIL" },
  ]),
  [
    "the document denies sessions a blocklist, which no rule can name",
    ({ policy }) => (policy.session_policies[0].zones_denied = ["BlockedIpZone"]),
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
  ...[{}, { type: "DYNAMIC_V2", gateways: null, locations: { include: [{ country: "US" }] } }].map((kind): Change => [
    `session rules let in from a zone, now ${JSON.stringify(kind)}, before they deny a part of it`,
    ({ org, policy }) => {
      const branch = fromZone(addZone(org, "198.51.100.7"));
      Object.assign(named(zones(org), "Office network"), kind);
      setSessionRules(org, ["ALLOW", onlyOffice(org)], ["DENY", branch], ["DENY", everybody]);
      policy.session_policies[0].zones_denied = ["Branch office"];
    },
    { [S]: "type" in kind ? open : "FAIL" },
  ]),
  [
    "session rules deny one user a zone that the document denies",
    ({ org, policy }) => (
      setSessionRules(org, ["DENY", { ...fromZone(addZone(org)), ...oneUser }]),
      (policy.session_policies = deniesBranch)
    ),
    { [S]: "FAIL" },
  ],
  [
    "session rules deny a zone as the document does, and name one that everybody else may come from, too",
    ({ org, policy }) => (
      setSessionRules(org, ["DENY", fromZone(addZone(org))], ["ALLOW", onlyOffice(org)]),
      (policy.session_policies = deniesBranch)
    ),
    {},
  ],
  ["session rules let nobody in", ({ org }) => setSessionRules(org, ["DENY", everybody]), { [S]: open }],
  [
    "session rules deny all zones but one, and then let in from another, as the document says",
    ({ org, policy }) => {
      setSessionRules(
        org,
        ["DENY", notFromZone(officeId(org))],
        ["ALLOW", fromZone(addZone(org))],
        ["DENY", everybody],
      );
      policy.session_policies = [{ policy: "*", zones_allowed: ["Branch office"] }];
    },
    { [S]: open },
  ],
  [
    "session rules deny all zones but one, and then leave that one out",
    ({ org, policy }) => {
      const branch = notFromZone(addZone(org));
      setSessionRules(org, ["ALLOW", onlyOffice(org)], ["DENY", branch], ["ALLOW", branch], ["DENY", everybody]);
      policy.session_policies = [{ policy: "*", zones_allowed: ["Office network", "Branch office"] }];
    },
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
  [
    "a rule of an app denies a zone as the document does",
    ({ org, policy }) => (
      addAppRule(org, "DENY", fromZone(addZone(org))),
      (policy.apps = [{ app: "*", zones_allowed: ["Office network"], zones_denied: ["Branch office"] }])
    ),
    {},
  ],
  ["the first rule of an app denies everybody", ({ org }) => addAppRule(org, "DENY", everybody), { [A]: open }],
  ["the first rule of an app denies a group", ({ org }) => addAppRule(org, "DENY", oneGroup), {}],
  [
    "rules of apps deny one of all zones before they let in from these, as the draft says",
    ({ org, policy }) => (
      (appZones(org).include = ["ALL_ZONES"]),
      addAppRule(org, "DENY", fromZone(addZone(org))),
      (policy.apps = draft(org).apps)
    ),
    {},
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
    "the document names an app's label that an inactive app has, too",
    ({ org, policy }) => (
      Object.assign(app(org, "Timekeeping"), { label: "Travel portal", status: "INACTIVE" }),
      policy.apps.push({ app: "Travel portal", zones_allowed: ["Office network"] })
    ),
    {},
  ],
  [
    "the names of the apps' policies were not read, by which the document names some",
    ({ org, policy }) => (
      (org.access_policies = { state: "missing", reason: "provider_error", detail: "HTTP 500", partial: null }),
      policy.apps.push({ app: "*", zones_allowed: ["Office network"] })
    ),
    { [A]: open },
  ],
  ["the document has no apps", ({ policy }) => delete policy.apps, { [A]: open }],
]);

test.each<[rules: string, access: string, isNegated: boolean, drafted: Json]>([
  ["allow a zone and then everybody", "ALLOW", false, undefined],
  ["deny a zone and allow the others", "DENY", false, { zones_denied: ["Office network"] }],
  ["deny all zones but one", "DENY", true, { zones_allowed: ["Office network"] }],
])("the draft of session rules that %s", (_, access, isNegated, drafted) => {
  const { org } = fresh();
  setSessionRules(org, [access, isNegated ? notFromZone(officeId(org)) : onlyOffice(org)]);
  const policy = draft(org).session_policies?.find((one: Json) => one.policy === "Administrators");
  expect(policy).toEqual(drafted && { policy: "Administrators", ...drafted });
});

test("a departure is closed by what the document says", () => {
  const one = fresh();
  setSessionRules(one.org, ["ALLOW", onlyOffice(one.org)]);
  addAppRule(one.org, "ALLOW", notFromZone(addZone(one.org)));
  const results = judge(one);
  const said = /access allowed from "Office network", as "AC policy for Okta, v3" \(.*\) says$/;
  const causes = causesOf(results, one.org);
  expect(causes.length).toBeGreaterThan(2);
  for (const { change } of causes) expect(change).toMatch(said);
  const { byHand } = planFixes(results, one.org);
  for (const [check, items] of Map.groupBy(byHand, (item) => item.check)) {
    const steps = manualSteps(check, items, one.org);
    expect(steps.filter((step) => step.startsWith("Change its rules to "))).not.toEqual([]);
    expect(steps.filter((step) => step.startsWith("Edit "))).toEqual([]);
  }
});

test("an app that departs alone leaves its policy to the other apps", () => {
  const one = fresh();
  one.policy.apps.push({ app: "Travel portal", zones_allowed: [named(zones(one.org), "LegacyIpZone").name] });
  const items = planFixes(judge(one), one.org).byHand;
  const [{ check } = {}] = items;
  expect(check && manualSteps(check, items, one.org).at(-1)).toMatch(
    /^Give "Travel portal" another .* has other apps: /,
  );
});

test("a departure in a long list of zones names the zones that differ", () => {
  const { org, policy } = fresh();
  const names = Array.from({ length: 8 }, (_, index) => `Branch ${index}`);
  const office = named(zones(org), "Office network");
  zones(org).push(...names.map((name) => ({ ...office, id: name, name })));
  sessionZones(org).include = [...names.slice(0, 7), office.id];
  named(policy.session_policies, "Administrators").zones_allowed = names;
  const findings = judge({ org, policy }).find(({ vuln_id: id }) => id === S)?.findings ?? [];
  const departure = findings.find(({ status }) => status === "FAIL");
  expect(departure?.expected).toMatch(/^access allowed from "Branch 7", "Branch 0", .* and 3 more, as/);
  expect(departure?.actual).toMatch(/^access allowed from "Office network", "Branch 0", .* and 3 more$/);
});
