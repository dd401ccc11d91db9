import { describe, expect, it } from "vitest";
import { createRememberedAnswers } from "../../../scanner/evidence/remembered_answers.ts";
import { logFilters, touchOf } from "../../../scanner/follow/event_map.ts";
import { toLogEvent, type LogEvent } from "../../../scanner/follow/log_event.ts";
import { mapIdpClient } from "../../support/map_idp_client.ts";

const paths = {
  sessions: "/api/v1/policies?type=OKTA_SIGN_ON",
  passwords: "/api/v1/policies?type=PASSWORD",
  automations: "/api/v1/policies?type=USER_LIFECYCLE",
  sessionRules: "/api/v1/policies/00p1/rules",
  automationRules: "/api/v1/policies/00p3/rules",
  appRules: "/api/v1/policies/rst1/rules",
  otherAppRules: "/api/v1/policies/rst2/rules",
  apps: "/api/v1/apps?limit=200",
  settings: "/api/v1/first-party-app-settings/admin-console",
  brands: "/api/v1/brands?expand=domains&limit=200",
  page: "/api/v1/brands/bnd1/pages/sign-in/customized",
  otherPage: "/api/v1/brands/bnd2/pages/sign-in/customized",
  zones: "/api/v1/zones?limit=200",
  authenticators: "/api/v1/authenticators",
  tokens: "/api/v1/api-tokens",
  userRoles: "/api/v1/users/00u1/roles",
  userGroups: "/api/v1/users/00u1/groups",
  groupRoles: "/api/v1/groups/00g1/roles",
  streams: "/api/v1/logStreams?limit=200",
  idps: "/api/v1/idps?type=X509&limit=200",
  key: "/api/v1/idps/credentials/keys/key1",
  otherKey: "/api/v1/idps/credentials/keys/key2",
} as const;
type PathName = keyof typeof paths;

const entries: Partial<Record<PathName, readonly { readonly id: string; readonly name?: string }[]>> = {
  sessions: [{ id: "00p1" }],
  passwords: [{ id: "00p2" }],
  automations: [{ id: "00p3" }],
  apps: [
    { id: "0oa1", name: "saasure" },
    { id: "0oa2", name: "bookmark" },
  ],
  brands: [{ id: "bnd1" }, { id: "bnd2" }],
};

const known = createRememberedAnswers({
  source: () => mapIdpClient({}),
  saved: (Object.keys(paths) as PathName[]).map((name) => ({
    path: paths[name],
    reading: { state: "obtained", value: entries[name] ?? [] },
    wasObtained: false,
  })),
});

type Target = readonly [type: string, id: string, policyType?: string];

function anEvent(type: string, targets: readonly Target[], result: string | null = "SUCCESS"): LogEvent {
  const event = toLogEvent({
    uuid: "u",
    eventType: type,
    outcome: { result },
    target: targets.map(([kind, id, policyType]) => ({ type: kind, id, detailEntry: { policyType } })),
  });
  if (event === null) throw new TypeError("The event has no type");
  return event;
}

function touched(type: string, targets: readonly Target[] = []): { paths: readonly string[]; apps: readonly string[] } {
  const touch = touchOf(anEvent(type, targets), known);
  const names = Object.entries(paths)
    .filter(([, path]) => touch?.paths.includes(path) === true)
    .map(([name]) => name);
  return { paths: names, apps: touch?.apps ?? [] };
}

const policies: readonly PathName[] = [
  "sessions",
  "passwords",
  "automations",
  "sessionRules",
  "automationRules",
  "appRules",
  "otherAppRules",
];
const allRules: readonly PathName[] = ["sessionRules", "automationRules", "appRules", "otherAppRules"];
const roles: readonly PathName[] = ["userRoles", "userGroups", "groupRoles"];

describe("touchOf", () => {
  it.each<readonly [string, readonly Target[], readonly PathName[]]>([
    ["policy.rule.update", [["PolicyEntity", "00p1"]], ["sessionRules"]],
    [
      "policy.rule.update",
      [
        ["PolicyRule", "0pr1"],
        ["PolicyEntity", "rst1"],
      ],
      ["appRules"],
    ],
    ["policy.lifecycle.update", [["PolicyEntity", "00p1"]], ["sessions"]],
    ["policy.lifecycle.deactivate", [["PolicyEntity", "00p3"]], ["automations"]],
    ["policy.rule.update", [["PolicyEntity", "00p2"]], ["passwords"]],
    ["policy.lifecycle.create", [["PolicyEntity", "00p9", "Okta:SignOn"]], ["sessions"]],
    ["policy.lifecycle.create", [["PolicyEntity", "00p9", "Password"]], ["passwords"]],
    ["policy.lifecycle.create", [["PolicyEntity", "00p9"]], policies],
    ["policy.lifecycle.create", [["PolicyEntity", "00p9", "SomethingNew"]], policies],
    ["policy.rule.update", [], policies],
    ["policy.reshuffle", [["PolicyEntity", "00p1"]], policies],
    ["application.policy.sign_on.rule.create", [["PolicyEntity", "rst2"]], ["otherAppRules"]],
    ["application.policy.sign_on.update", [["AppInstance", "0oa2"]], allRules],
    ["app.policy.sign_on.update", [["PolicyEntity", "rst2"]], ["otherAppRules", "apps", "settings"]],
    ["policy.mapping.create", [["PolicyEntity", "rst2"]], ["apps", "settings"]],
    ["application.configuration.update", [["AppInstance", "0oa1"]], ["settings"]],
    ["network_zone.rule.disabled", [], [...policies, "zones"]],
    ["application.lifecycle.update", [], ["apps", "settings"]],
    ["application.lifecycle.update", [["AppInstance", "0oa1"]], ["settings"]],
    ["security.authenticator.lifecycle.update", [["AuthenticatorConfig", "aut1"]], ["authenticators"]],
    ["security.authenticator.reshuffle", [], ["authenticators"]],
    ["system.mfa.factor.deactivate", [], ["authenticators"]],
    ["system.custom_signin.update", [["Brand", "bnd1"]], ["page"]],
    ["system.custom_signin.update", [["SignInPage", "any"]], ["page", "otherPage"]],
    ["system.brand.create", [["Brand", "bnd3"]], ["brands"]],
    ["zone.update", [["NetworkZone", "nzo1"]], ["zones"]],
    ["security.zone.make_blacklist", [], ["zones"]],
    ["system.api_token.create", [["Token", "00T1"]], ["tokens"]],
    ["user.account.privilege.grant", [["User", "00u1"]], ["userRoles"]],
    ["user.account.privilege.grant", [["User", "00u9"]], []],
    ["user.account.privilege.grant", [], roles],
    ["group.privilege.revoke", [["UserGroup", "00g1"]], ["groupRoles"]],
    ["group.user_membership.add", [["User", "00u1"]], ["userGroups"]],
    [
      "group.user_membership.add",
      [
        ["User", "00u9"],
        ["UserGroup", "00g1"],
      ],
      [],
    ],
    ["iam.role.permissions.add", [["CustomRole", "cr1"]], roles],
    ["system.log_stream.lifecycle.deactivate", [["LogStream", "0os1"]], ["streams"]],
    ["system.idp.lifecycle.update", [["IdentityProvider", "0oa9"]], ["idps"]],
    ["system.idp.key.update", [["IdpKey", "key2"]], ["otherKey"]],
    ["system.idp.key.update", [], ["key", "otherKey"]],
  ])("%s of %j forgets %j", (type, targets, expected) => {
    expect(touched(type, targets).paths).toEqual([...expected].sort(byOrder));
  });

  it("reads a single app again where the event names it", () => {
    expect(touched("application.lifecycle.update", [["AppInstance", "0oa2"]])).toEqual({ paths: [], apps: ["0oa2"] });
    expect(
      touched("policy.mapping.create", [
        ["AppInstance", "0oa2"],
        ["PolicyEntity", "rst1"],
      ]),
    ).toEqual({ paths: [], apps: ["0oa2"] });
  });

  it("reads the app and the rules again where an event may mean either, and the rules alone where it names them", () => {
    const targets = [
      ["AppInstance", "0oa2"],
      ["PolicyEntity", "rst1"],
    ] as const;
    expect(touched("app.policy.sign_on.update", targets)).toEqual({ paths: ["appRules"], apps: ["0oa2"] });
    expect(touched("application.policy.sign_on.update", targets)).toEqual({ paths: ["appRules"], apps: [] });
  });

  it.each([
    "policy.evaluate_sign_on",
    "policy.scheduled.execute",
    "policy.rule.action.execute",
    "user.session.start",
    "application.policy.sign_on.deny_access",
    "system.api_token.request_outside_allowed_range",
    "application.user_membership.add",
  ])("%s is traffic", (type) => {
    expect(touchOf(anEvent(type, []), known)).toBeNull();
  });

  it.each([
    ["SUCCESS", true],
    ["ALLOW", true],
    [null, true],
    ["FAILURE", false],
    ["DENY", false],
    ["SKIPPED", false],
    ["CHALLENGE", false],
  ])("an event whose outcome is %s counts: %s", (result, counts) => {
    expect(touchOf(anEvent("zone.update", [], result), known) !== null).toBe(counts);
  });
});

describe("logFilters", () => {
  it("get shorter, and end with none", () => {
    const lengths = logFilters.map((filter) => filter?.length ?? 0);
    expect(lengths).toEqual([...lengths].sort((one, other) => other - one));
    expect(lengths.at(-1)).toBe(0);
    expect(lengths[0]).toBeLessThan(2000);
  });
});

describe("toLogEvent", () => {
  it.each([
    { eventType: "zone.update" },
    { eventType: "zone.update", actor: 1, target: "x", outcome: [], transaction: null, client: false },
    { eventType: "zone.update", target: [null, 1, {}, { id: 7 }, { id: "" }] },
  ])("takes %j for an event without the rest", (entry) => {
    expect(toLogEvent(entry)).toMatchObject({ type: "zone.update", targets: [], uuid: null });
  });

  it.each([{}, { eventType: null }, { eventType: "" }, { eventType: ["zone.update"] }])("%j is none", (entry) => {
    expect(toLogEvent(entry)).toBeNull();
  });
});

function byOrder(one: PathName, other: PathName): number {
  const order = Object.keys(paths);
  return order.indexOf(one) - order.indexOf(other);
}
