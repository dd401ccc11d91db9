import { describe, expect, test } from "vitest";
import { listLines } from "../../practice_org/change_command.ts";
import { changes, settings } from "../../practice_org/changes/org_changes.ts";
import { NotPossibleError } from "../../practice_org/not_possible_error.ts";
import type { PracticeOrg } from "../../practice_org/create_practice_org.ts";
import { signedIn } from "./raw_client.ts";
import { startOrg } from "./start_org.ts";
import type { LogEvent } from "../../practice_org/log/log_events.ts";

/** Everything that a scan reads of an org, without times and the ids of errors, which differ. */
async function readAll(get: (path: string) => Promise<Response>): Promise<Readonly<Record<string, unknown>>> {
  const state: Record<string, unknown> = {};
  const read = async (path: string): Promise<readonly { readonly id: string }[]> => {
    const response = await get(path);
    const body: unknown = await response.json();
    state[path] = [response.status, body];
    return Array.isArray(body) ? (body as { id: string }[]) : [];
  };
  await read("/api/v1/apps?limit=200");
  await read("/api/v1/first-party-app-settings/admin-console");
  for (const path of ["authenticators", "zones", "api-tokens", "logStreams", "idps", "idps/credentials/keys"]) {
    await read(`/api/v1/${path}`);
  }
  for (const type of ["OKTA_SIGN_ON", "PASSWORD", "ACCESS_POLICY", "USER_LIFECYCLE"]) {
    for (const { id } of await read(`/api/v1/policies?type=${type}`)) await read(`/api/v1/policies/${id}/rules`);
  }
  for (const { id } of await read("/api/v1/brands")) await read(`/api/v1/brands/${id}/pages/sign-in/customized`);
  for (const { id } of await read("/api/v1/users")) {
    await read(`/api/v1/users/${id}/roles`);
    await read(`/api/v1/users/${id}/groups`);
  }
  for (const { id } of await read("/api/v1/groups")) await read(`/api/v1/groups/${id}/roles`);
  return timeless(state) as Record<string, unknown>;
}

function timeless(value: unknown): unknown {
  const times = /"(?:lastUpdated|lastMembershipUpdated|created|expiresAt|errorId)":"[^"]*"/g;
  return JSON.parse(JSON.stringify(value).replaceAll(times, '"t":""'));
}

/** All that the API answers from. */
function withoutTimes(org: PracticeOrg): unknown {
  const { apps, ...rest } = org.contents();
  return timeless({ ...rest, apps: Array.from({ length: apps.length }, (_, index) => apps.get(index)) });
}

async function openOrg(name: "typical" | "compliant") {
  const org = await startOrg({ profile: { name }, rateLimit: { perWindow: 100_000, buckets: {} } });
  const { get } = await signedIn(org);
  return { org, get };
}

type EventTypes = readonly string[];

const ruleUpdate = ["policy.rule.update"];
const policyUpdate = ["policy.lifecycle.update"];
const statusOf = (family: string): readonly [EventTypes, EventTypes] => [
  [`${family}.deactivate`],
  [`${family}.activate`],
];
const newWeakPolicy = ["policy.lifecycle.create", "policy.rule.add"];
const oldWeakPolicy = ["policy.lifecycle.deactivate", "policy.lifecycle.delete"];
const idpKey = ["system.idp.key.create", "system.idp.lifecycle.update", "system.idp.key.delete"];

/** Each pair of changes with the events of both. */
const pairs: Readonly<Record<string, readonly [EventTypes, EventTypes]>> = {
  "mfa-off, mfa-on": [ruleUpdate, ruleUpdate],
  "admin-idle-long, admin-idle-short": [["application.lifecycle.update"], ["application.lifecycle.update"]],
  "dashboard-mfa-off, dashboard-mfa-on": [ruleUpdate, ruleUpdate],
  "session-idle-long, session-idle-short": [ruleUpdate, ruleUpdate],
  "session-lifetime-long, session-lifetime-short": [ruleUpdate, ruleUpdate],
  "persistent-cookies-on, persistent-cookies-off": [ruleUpdate, ruleUpdate],
  "session-rule-added, session-rule-deleted": [["policy.rule.add"], ["policy.rule.delete"]],
  "session-rule-off, session-rule-on": statusOf("policy.rule"),
  "session-policies-reordered, session-policies-restored": [
    [...policyUpdate, ...policyUpdate],
    [...policyUpdate, ...policyUpdate],
  ],
  "password-length-short, password-length-long": [policyUpdate, policyUpdate],
  "password-history-short, password-history-long": [policyUpdate, policyUpdate],
  "password-age-unlimited, password-age-limited": [policyUpdate, policyUpdate],
  "lockout-lax, lockout-strict": [policyUpdate, policyUpdate],
  "common-passwords-allowed, common-passwords-refused": [policyUpdate, policyUpdate],
  "automation-off, automation-on": statusOf("policy.lifecycle"),
  "automation-late, automation-early": [policyUpdate, policyUpdate],
  "log-stream-off, log-stream-on": statusOf("system.log_stream.lifecycle"),
  "log-stream-added, log-stream-deleted": [
    ["system.log_stream.lifecycle.create"],
    ["system.log_stream.lifecycle.delete"],
  ],
  "zone-off, zone-on": statusOf("zone"),
  "zone-widened, zone-narrowed": [["zone.update"], ["zone.update"]],
  "anonymizers-allowed, anonymizers-blocked": statusOf("zone"),
  "smart-card-off, smart-card-on": statusOf("security.authenticator.lifecycle"),
  "fips-off, fips-on": [["security.authenticator.lifecycle.update"], ["security.authenticator.lifecycle.update"]],
  "idp-off, idp-on": statusOf("system.idp.lifecycle"),
  "idp-untrusted, idp-trusted": [idpKey, idpKey],
  "api-token-created, api-token-revoked": [["system.api_token.create"], ["system.api_token.revoke"]],
  "api-token-opened, api-token-restricted": [["system.api_token.update"], ["system.api_token.update"]],
  "super-admin-granted, super-admin-revoked": [["user.account.privilege.grant"], ["user.account.privilege.revoke"]],
  "group-role-granted, group-role-revoked": [["group.privilege.grant"], ["group.privilege.revoke"]],
  "group-member-added, group-member-removed": [["group.user_membership.add"], ["group.user_membership.remove"]],
  "app-added, app-deleted": [
    [...newWeakPolicy, "application.lifecycle.create", "policy.mapping.create", "application.lifecycle.activate"],
    ["application.lifecycle.deactivate", "application.lifecycle.delete", ...oldWeakPolicy],
  ],
  "app-policy-moved, app-policy-restored": [
    [...newWeakPolicy, "policy.mapping.create", "application.lifecycle.update"],
    ["policy.mapping.create", "application.lifecycle.update", ...oldWeakPolicy],
  ],
  "banner-removed, banner-restored": [["system.custom_signin.delete"], ["system.custom_signin.update"]],
  "brand-added, brand-deleted": [["system.brand.create"], ["system.brand.delete"]],
};

test("Every change has its line in the table above, and in `change list`", () => {
  expect(settings.map(({ changes: pair }) => pair.map(({ name }) => name).join(", "))).toEqual(Object.keys(pairs));
  const lines = listLines();
  for (const { name, label } of changes) {
    expect(lines.filter((line) => line.trim().split(/\s+/)[0] === name)).toEqual([expect.stringContaining(label)]);
  }
  expect(changes.length).toBeGreaterThanOrEqual(25);
});

describe("A change alters what the API answers, writes its events, and is undone by its counterpart", () => {
  // Each pair leaves its org as it was, so the next one can use it.
  const stages = new Map<
    string,
    Promise<Awaited<ReturnType<typeof openOrg>> & { readonly before: object; readonly contents: unknown }>
  >();

  async function openStage(name: "typical" | "compliant") {
    const stage = await openOrg(name);
    return { ...stage, before: await readAll(stage.get), contents: withoutTimes(stage.org) };
  }

  test.each(Object.entries(pairs))("%s", async (names, [first, second]) => {
    const [weaken = "", restore = ""] = names.split(", ");
    // The compliant org has one session policy beside the built-in one, so none to change places with.
    const name = weaken.startsWith("session-policies") ? "typical" : "compliant";
    const opened = stages.get(name) ?? openStage(name);
    stages.set(name, opened);
    const { org, get, before, contents } = await opened;
    const earlier = await readLog(get);
    expect(() => org.change(restore)).toThrow(NotPossibleError);
    expect(typesOf(org.change(weaken, "dana@practice.example"))).toEqual(first);
    expect(await readAll(get)).not.toEqual(before);
    const between = org.contents();
    expect(() => org.change(weaken)).toThrow(NotPossibleError);
    expect(org.contents()).toBe(between);
    expect(typesOf(org.change(restore, "sam@practice.example"))).toEqual(second);
    expect(withoutTimes(org)).toEqual(contents);

    const logged = (await readLog(get)).slice(earlier.length);
    expect(typesOf(logged)).toEqual([...first, ...second]);
    expect(logged.map(({ actor }) => actor.displayName)).toEqual([
      ...first.map(() => "Dana Duty"),
      ...second.map(() => "Sam Security"),
    ]);
    expect(new Set(logged.map(transactionOf)).size).toBe(2);
    for (const { target } of logged) {
      expect(target?.length).toBeGreaterThan(0);
      for (const { id, type, displayName } of target ?? []) {
        expect([id, type, displayName].every((text) => typeof text === "string" && text !== "")).toBe(true);
      }
    }
  });
});

test("A changed object carries the time of its change, and the link to the step that is possible then", async () => {
  let nowMs = Date.now();
  const org = await startOrg({ profile: { name: "compliant" }, clock: () => nowMs });
  nowMs += 60_000;
  const stream = () =>
    org.contents().logStreams[0] as unknown as { status: string; lastUpdated: string; _links: object };
  expect(Object.keys(stream()._links)).toEqual(["self", "deactivate"]);
  org.change("log-stream-off");
  expect(stream().lastUpdated).toBe(new Date(nowMs).toISOString());
  expect(stream()._links).toMatchObject({ activate: { href: expect.stringMatching(/\/lifecycle\/activate$/) } });
  expect(Object.keys(stream()._links)).toEqual(["self", "activate"]);
});

test("Events of updates say what was before and after", async () => {
  const { org } = await openOrg("compliant");
  const [idle] = org.change("admin-idle-long");
  expect(idle?.target?.[0]).toMatchObject({
    type: "AppInstance",
    displayName: "Okta Admin Console",
    changeDetails: { from: { sessionIdleTimeoutMinutes: 15 }, to: { sessionIdleTimeoutMinutes: 60 } },
  });
});

test("change refuses an unknown name, an unknown login, and what the org lacks; the log has no event of them", async () => {
  const org = await startOrg({ profile: { name: "empty" } });
  const { get } = await signedIn(org);
  expect(() => org.change("explode")).toThrow(RangeError);
  expect(() => org.change("mfa-off", "eve@practice.example")).toThrow("expected one of alex@practice.example, dana@");
  expect(() => org.change("api-token-created")).toThrow("This org has no user");
  expect(await (await get("/api/v1/logs")).json()).toEqual([]);
  org.change("sign-in");
  expect(typesOf((await (await get("/api/v1/logs")).json()) as LogEvent[])).toEqual([
    "policy.evaluate_sign_on",
    "user.session.start",
  ]);
});

test("An app of a large org moves to another policy, and only that app is kept as edited", async () => {
  const org = await startOrg({ profile: { name: "large", appCount: 10_000 } });
  const before = org.contents().apps;
  for (const name of ["app-policy-moved", "app-added", "app-policy-restored", "app-deleted"]) org.change(name);
  const after = org.contents().apps;
  expect(after.length).toBe(before.length);
  for (const index of [0, 4, before.length - 1]) expect(after.get(index)).toEqual(before.get(index));
  expect(after.get(3)).toEqual({ ...before.get(3), lastUpdated: after.get(3)["lastUpdated"] });
});

test("changeAtRandom makes every change, given time, and repeats itself for the same numbers", async () => {
  const run = async (count: number) => {
    const org = await startOrg({ profile: { name: "typical" } });
    let seed = 1;
    const random = () => {
      seed = (seed * 16_807) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    return Array.from({ length: count }, () => org.changeAtRandom(random));
  };
  const made = await run(250);
  expect(await run(50)).toEqual(made.slice(0, 50));
  expect(new Set(made).size).toBe(changes.length);
});

async function readLog(get: (path: string) => Promise<Response>): Promise<readonly LogEvent[]> {
  return (await (await get("/api/v1/logs?limit=1000")).json()) as LogEvent[];
}

function typesOf(events: readonly LogEvent[]): EventTypes {
  return events.map(({ eventType }) => eventType);
}

function transactionOf({ transaction }: LogEvent): unknown {
  return (transaction as { readonly id: string }).id;
}
