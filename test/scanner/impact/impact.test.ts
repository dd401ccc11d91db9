import { expect, test } from "vitest";
import { planFixes } from "../../../scanner/fix/plan_fixes.ts";
import { addressOf } from "../../../scanner/fix/terraform.ts";
import { measureImpact, withImpact, type PlanImpact } from "../../../scanner/impact/impact.ts";
import type { Impact } from "../../../scanner/impact/change_judges.ts";
import { connect } from "../../../scanner/okta/connection.ts";
import type { PageReader } from "../../../scanner/okta/idp_client.ts";
import type { JsonObject } from "../../../shared/json.ts";
import { startOrg } from "../../practice_org/start_org.ts";
import { configFor } from "../../support/idp_connection.ts";
import { scanPracticeOrg } from "../../support/scan_practice_org.ts";

const scanned = startOrg({ profile: { name: "typical" }, signInDays: 30 }).then(async (org) => {
  const { results, document } = await scanPracticeOrg(org);
  const { artifacts } = document;
  return { org, artifacts, plan: planFixes(results, artifacts) };
});

async function impactOf(pages: PageReader, days = 30): Promise<PlanImpact> {
  const { plan, artifacts } = await scanned;
  return measureImpact({ plan, artifacts }, { days, nowMs: Date.now() }, { pages, onPage: () => {} });
}

/** The impact of the change whose title begins so. */
async function of(measured: PlanImpact, title: string): Promise<Impact> {
  const { plan } = await scanned;
  const resource = plan.resources.find((one) => one.title.startsWith(title));
  const found = resource === undefined ? undefined : measured.changes.get(addressOf(resource));
  if (found === undefined || typeof found === "string") throw new TypeError(`expected an impact of ${title}`);
  return found;
}

/** The app that people of these entries open is the Okta Admin Console. */
async function entries(...specs: readonly JsonObject[]): Promise<PageReader> {
  const { artifacts } = await scanned;
  const evidence = artifacts.admin_console_app;
  const id = evidence?.state === "obtained" ? evidence.value.app?.["id"] : null;
  const list = specs.map(
    ({ type, at = 0, ip = "198.51.100.1", user = "00u1", session = "s1", factor, isProxy, result = "SUCCESS" }) => ({
      eventType: type,
      published: new Date(Date.now() - 3_600_000 * 24 + Number(at) * 60_000).toISOString(),
      actor: typeof user === "string" ? { id: user, alternateId: `${user}@example` } : null,
      client: { ipAddress: ip },
      outcome: { result },
      authenticationContext: { externalSessionId: session },
      transaction: { id: `t${String(session)}` },
      securityContext: { isProxy: isProxy === true },
      debugContext: { debugData: { factor } },
      target: [{ id, type: "AppInstance" }],
    }),
  );
  const value = { entries: list, size: list.length, problems: [], next: null };
  return { getPage: () => Promise.resolve({ state: "obtained", value }) };
}

const [start, sso, mfa] = ["user.session.start", "user.authentication.sso", "user.authentication.auth_via_mfa"];
const adminConsole = 'Rule "Catch-all Rule" of the authentication policy of "Okta Admin Console"';
const session = "New rule before the built-in one of the global session policy";
const anonymizers = 'Network zone "DefaultEnhancedDynamicZone"';

test("finds each of the people whom the practice org's log was given, and nobody else", async () => {
  const { org } = await scanned;
  const config = configFor(
    { url: org.url, clientId: org.clientId, privateKey: org.privateKeyPem },
    { scopes: ["policies.read", "logs.read"] },
  );
  const probes = [{ path: "/api/v1/policies?type=PASSWORD", scope: "policies.read" }];
  const connection = await connect(config, { signal: new AbortController().signal, probes, forgetsProbe: true });
  const measured = await impactOf(connection.client);
  await connection.close();
  expect(measured).toMatchObject({ problem: null, days: 30 });
  expect((await of(measured, anonymizers)).names).toEqual(["proxy.paul@practice.example"]);
  expect((await of(measured, adminConsole)).asked_again?.names).toEqual(["push.pia@practice.example"]);
  expect((await of(measured, session)).asked_again?.names).toEqual(["night.nils@practice.example"]);
  const { zones = [] } = await of(measured, session);
  expect(zones.map(({ name }) => name)).toEqual(["Headquarters", "Branch offices"]);
  // Outside both are the only two who work from elsewhere.
  const inBoth = zones[0]?.names.filter((name) => zones[1]?.names.includes(name));
  expect(inBoth?.toSorted()).toEqual(["proxy.paul@practice.example", "remote.rita@practice.example"]);
});

test.each([
  ["inside the zone", "198.51.100.0", 0],
  ["the last address of the zone", "198.51.100.255", 0],
  ["one address further", "198.51.101.0", 1],
  ["an IPv4 address in IPv6", "::ffff:198.51.100.7", 0],
])("$0: outside $2 times", async (_, ip, expected) => {
  const { zones = [] } = await of(await impactOf(await entries({ type: start, ip })), session);
  expect(zones.find(({ name }) => name === "Headquarters")).toMatchObject({ users: expected, sign_ins: expected });
});

test.each([
  ["a gap of 15 minutes", [14, 29], 0],
  ["a gap of more", [14, 30], 1],
  ["more than 18 hours, asked once", Array.from({ length: 110 }, (_, index) => (index + 1) * 10), 1],
])("a session with %s", async (_, minutes, expected) => {
  const opened = minutes.map((at) => ({ type: sso, at }));
  const impact = await of(await impactOf(await entries({ type: start }, ...opened)), session);
  expect(impact.asked_again?.sign_ins ?? 0).toBe(expected);
});

test.each([
  ["WebAuthn", ["FIDO_WEBAUTHN"], 0],
  ["a push", ["OKTA_VERIFY_PUSH"], 1],
  ["no second factor", [], 1],
])("an app that was opened with %s", async (_, factors, expected) => {
  const used = factors.map((factor) => ({ type: mfa, factor }));
  const impact = await of(await impactOf(await entries({ type: start }, ...used, { type: sso, at: 1 })), adminConsole);
  expect(impact.asked_again?.sign_ins ?? 0).toBe(expected);
});

test("what cannot be evaluated is counted, and what failed is not", async () => {
  const broken = await entries(
    { type: start, user: null },
    { type: start, ip: "unknown" },
    { type: start, ip: "192.0.2.1", result: "FAILURE" },
    { type: start, ip: "192.0.2.1", isProxy: true },
  );
  const measured = await impactOf(broken);
  expect(measured.entries).toBe(3);
  expect(await of(measured, session)).toMatchObject({ not_evaluated: 2 });
  expect(await of(measured, anonymizers)).toMatchObject({ users: 1, sign_ins: 1, complete: true });
});

test("a log that breaks off gives the least, and one that is refused gives the reason", async () => {
  const whole = await entries({ type: start, ip: "192.0.2.1", isProxy: true });
  const next = "/api/v1/logs?after=1";
  const missing = {
    state: "missing",
    reason: "provider_error",
    detail: "GET /api/v1/logs: 500.",
    partial: null,
  } as const;
  const first = await whole.getPage({ path: "", scope: "" });
  if (first.state === "missing") throw new TypeError("expected a page");
  const breaking: PageReader = {
    getPage: async ({ path }) => (path === next ? missing : { state: "obtained", value: { ...first.value, next } }),
  };
  const broken = await impactOf(breaking);
  expect(await of(broken, anonymizers)).toMatchObject({ users: 1, complete: false });
  const { plan } = await scanned;
  const textOf = (measured: PlanImpact) =>
    withImpact(plan, measured)
      .resources.find(({ title }) => title.startsWith(anonymizers))
      ?.warnings.at(-1);
  expect(textOf(broken)).toContain("at least 1 sign-in of 1 user (00u1@example)");
  const refused = await impactOf({ getPage: () => Promise.resolve(missing) });
  expect(textOf(refused)).toBe("Impact on the last 30 days: not known: GET /api/v1/logs: 500.");
});
