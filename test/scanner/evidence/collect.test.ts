import { describe, expect, test } from "vitest";
import type { ArtifactName, JsonList } from "../../../scanner/evidence/artifacts.ts";
import type { OrgPolicy } from "../../../scanner/org_policy/document.ts";
import type { JsonObject } from "../../../shared/json.ts";
import { artifactTable, firstRequests } from "../../../scanner/evidence/artifact_table.ts";
import { catalog } from "../../../scanner/catalog/catalog.ts";
import { selectChecks } from "../../../scanner/catalog/select_checks.ts";
import { createCollection } from "../../../scanner/evidence/collect.ts";
import {
  adminConsoleApp,
  aRole,
  aSessionPolicy,
  aPasswordPolicy,
  aSmartCardIdp,
  aToken,
  anApp,
} from "../../support/artifact_builders.ts";
import { compliantOrg, paths } from "../../support/compliant_org.ts";
import { aRefusal, mapIdpClient, type Answers } from "../../support/map_idp_client.ts";

test("the catalog declares every scope that a check asks for", async () => {
  for (const check of catalog) {
    const lax = aPasswordPolicy({ settings: {} });
    const client = mapIdpClient({ ...compliantOrg, [paths.lifecycle]: [], [paths.password]: [lax] });
    await createCollection(client).obtainFor(check);
    const asked = new Set(client.requests.map((request) => request.scope));
    expect([...asked].toSorted(), check.name).toEqual([...check.rule.scopes].toSorted());
  }
});

test.each(Object.keys(artifactTable) as ArtifactName[])(
  "the probe of %s is a request of its collector",
  async (name) => {
    const client = mapIdpClient(compliantOrg);
    const collected = await createCollection(client).obtain([name]);
    expect(collected[name]).toMatchObject({ state: "obtained" });
    // Derived ones begin with no request.
    expect(client.paths()).toEqual(expect.arrayContaining(firstRequests([name]).map(({ path }) => path)));
  },
);

describe("nothing is asked for that the selected checks do not need", () => {
  test.each<[checks: string, asked: readonly string[]]>([
    ["authenticator_password_history_5,authenticator_password_minimum_length_15", [paths.password]],
    ["signon_global_session_idle_timeout_15min", [paths.signOn, "/api/v1/policies/00p1/rules"]],
    ["application_admin_console_session_idle_timeout_15min", [paths.settings]],
    ["application_dashboard_mfa_required", [paths.dashboard, "/api/v1/policies/rst1/rules"]],
    [
      "application_admin_console_mfa_required,application_admin_console_phishing_resistant_authentication",
      [paths.adminConsole, "/api/v1/policies/rst1/rules"],
    ],
    [
      "application_admin_console_mfa_required,application_authentication_policy_network_zone_enforced",
      [paths.apps, paths.accessPolicies, "/api/v1/policies/rst1/rules", paths.zones],
    ],
    ["user_inactivity_automation_35d_enabled", [paths.lifecycle, "/api/v1/policies/rstAuto/rules", paths.groups]],
    ["apitoken_restricted_to_network_zone", [paths.tokens, paths.zones]],
    ["systemlog_streaming_enabled", [paths.logStreams]],
  ])("%s", async (names, asked) => {
    const client = mapIdpClient(compliantOrg);
    const collection = createCollection(client);
    await Promise.all(selectChecks({ check: names.split(",") }).map((check) => collection.obtainFor(check)));
    expect(client.paths().toSorted()).toEqual(asked.toSorted());
  });

  test("no rules of inactive policies, and none of inactive apps' policies", async () => {
    const client = mapIdpClient({
      ...compliantOrg,
      [paths.signOn]: [aSessionPolicy({ status: "INACTIVE" })],
      [paths.apps]: [adminConsoleApp, anApp({ status: "INACTIVE", _links: linkTo("rstOld") })],
    });
    await createCollection(client).obtain(["global_session_policies", "app_policy_rules"]);
    expect(client.paths().toSorted()).toEqual([paths.apps, paths.signOn, "/api/v1/policies/rst1/rules"].toSorted());
  });
});

test("built-in apps are not known to be absent where an app has no name", async () => {
  const list = [{ ...anApp(), name: undefined }];
  const answering = (apps: JsonList) => mapIdpClient({ ...compliantOrg, [paths.adminConsole]: apps });
  const collected = async (apps: JsonList) =>
    (await createCollection(answering(apps)).obtain(["admin_console_app"])).admin_console_app;
  expect(await collected(list)).toMatchObject({ state: "missing", reason: "unreadable" });
  expect(await collected([...list, adminConsoleApp])).toMatchObject({ value: { app: { id: "0oaAdmin" } } });
});

describe("the Admin Console's settings", () => {
  test.each<[httpStatus: number, code: string | null, reason: string]>([
    [403, "E0000006", "missing_role"],
    [403, null, "missing_role"],
    [500, null, "provider_error"],
  ])("refused with %d %s are missing as %s", async (httpStatus, code, reason) => {
    const client = mapIdpClient({ [paths.settings]: aRefusal(httpStatus, code) });
    const artifacts = await createCollection(client).obtain(["admin_console_settings"]);
    expect(artifacts.admin_console_settings).toMatchObject({ state: "missing", reason });
  });
});

describe("the domains of a brand", () => {
  const plain = "/api/v1/brands?limit=200";
  const domainsPath = "/api/v1/brands/bnd1/domains";
  const aBrand = (changes: JsonObject = {}) => ({ id: "bnd1", name: "acme", isDefault: false, ...changes });
  const domain = { id: "OcD1", domain: "id.acme.example", validationStatus: "VERIFIED", publicCertificate: {} };
  const kept = { id: "OcD1", domain: "id.acme.example", validationStatus: "VERIFIED" };

  test.each<[what: string, answers: Answers, domains: readonly JsonObject[] | undefined, isAsked: boolean]>([
    ["in the list", { [paths.brands]: [aBrand({ _embedded: { domains: [domain] } })] }, [kept], false],
    ["none in the list", { [paths.brands]: [aBrand({ _embedded: { domains: [] } })] }, [], false],
    ["by themselves", { [paths.brands]: [aBrand()], [domainsPath]: [domain] }, [kept], true],
    ["refused", { [paths.brands]: [aBrand()], [domainsPath]: aRefusal(403) }, undefined, true],
    [
      "of the default brand",
      { [paths.brands]: [aBrand({ isDefault: true })], [domainsPath]: aRefusal(500) },
      undefined,
      false,
    ],
    ["where the list cannot have them", { [paths.brands]: aRefusal(400), [plain]: [aBrand()] }, undefined, false],
  ])("%s", async (_, answers, domains, isAsked) => {
    const client = mapIdpClient({ ...compliantOrg, ...answers });
    const { brand_sign_in_pages: pages } = await createCollection(client).obtain(["brand_sign_in_pages"]);
    const [branded] = pages?.state === "obtained" ? pages.value : [];
    expect(branded?.brand["id"]).toBe("bnd1");
    expect(branded?.brand["_embedded"]).toBeUndefined();
    expect(branded?.brand["domains"]).toEqual(domains);
    expect(client.paths().includes(domainsPath)).toBe(isAsked);
  });
});

describe("the sign-in page", () => {
  const customized = "/api/v1/brands/bnd1/pages/sign-in/customized";
  const standard = "/api/v1/brands/bnd1/pages/sign-in/default";

  test.each<[what: string, answer: Answers[string], kind: string, asked: readonly string[]]>([
    ["a customized one", { pageContent: "x" }, "customized", [customized]],
    ["404", aRefusal(404, "E0000007"), "default", [customized, standard]],
    ["null", { pageContent: null }, "default", [customized, standard]],
    ["an empty content", { pageContent: "" }, "default", [customized, standard]],
  ])("%s", async (_, answer, kind, asked) => {
    const client = mapIdpClient({ ...compliantOrg, [customized]: answer, [standard]: { pageContent: "standard" } });
    const { brand_sign_in_pages: pages } = await createCollection(client).obtain(["brand_sign_in_pages"]);
    expect(pages).toMatchObject({ value: [{ brand: { id: "bnd1" }, page: { value: { kind } } }] });
    expect(client.paths()).toEqual([paths.brands, ...asked]);
  });
});

describe("the owners of API tokens", () => {
  test("owners of API tokens and their groups are requested once each", async () => {
    const client = mapIdpClient({
      ...compliantOrg,
      [paths.tokens]: [aToken(), aToken({ id: "00T2" }), aToken({ id: "00T3", userId: "00u2" })],
      "/api/v1/users/00u2/roles": [],
      "/api/v1/users/00u2/groups": [{ id: "00g1" }, { id: "00g2", profile: { name: "Admins" } }],
      "/api/v1/groups/00g2/roles": [],
    });
    const { api_token_owners: owners } = await createCollection(client).obtain(["api_token_owners"]);
    expect(new Set(client.paths()).size).toBe(client.paths().length);
    expect(owners).toMatchObject({ value: { "00u2": { groups: { value: [{ name: "00g1" }, { name: "Admins" }] } } } });
  });

  test("roles come with what limits them, where the document names limits", async () => {
    const [set, apps] = [
      "/api/v1/iam/resource-sets/iam1",
      "/api/v1/groups/00g1/roles/ra-APP_ADMIN/targets/catalog/apps",
    ];
    const client = mapIdpClient({
      ...compliantOrg,
      "/api/v1/users/00u1/roles": ["iam1", "iam2"].map((id) => aRole("CUSTOM", { "resource-set": id })),
      [set]: { label: "HR" },
      "/api/v1/groups/00g1/roles": [aRole("APP_ADMIN")],
      [apps]: [{ name: "b" }, { name: "x", displayName: "A" }],
    });
    const read = async (roles: readonly string[]) => {
      const values = { orgPolicy: { api_tokens: [{ roles }] } as unknown as OrgPolicy };
      const { api_token_owners: owners } = await createCollection(client, { values }).obtain(["api_token_owners"]);
      return JSON.stringify(owners).match(/"scope":\[[^\]]*/g);
    };
    expect([await read(["Help Desk"]), client.paths().filter((path) => [set, apps].includes(path))]).toEqual([
      null,
      [],
    ]);
    expect(await read(["Help Desk: HR"])).toEqual(['"scope":["HR"', '"scope":["A","b"']);
  });

  test("who are Super Administrators themselves are not asked for their groups", async () => {
    const client = mapIdpClient({ ...compliantOrg, "/api/v1/users/00u1/roles": [aRole("SUPER_ADMIN")] });
    await createCollection(client).obtain(["api_token_owners"]);
    expect(client.paths()).toEqual([paths.tokens, "/api/v1/users/00u1", "/api/v1/users/00u1/roles"]);
  });
});

describe("what is kept", () => {
  test("leaves out links and whatever nothing reads, secrets above all", async () => {
    const client = mapIdpClient({
      ...compliantOrg,
      [paths.apps]: [
        anApp({ credentials: { oauthClient: { client_secret: "s3cret" } }, settings: { a: 1 }, visibility: {} }),
      ],
      [paths.idps]: [
        aSmartCardIdp({ type: "OIDC", protocol: { credentials: { client: { client_secret: "s3cret" } } } }),
      ],
      [paths.logStreams]: [{ id: "0oaLog", status: "ACTIVE", settings: { token: "s3cret" } }],
      [paths.authenticators]: [
        { id: "aut1", key: "onprem_mfa", provider: { configuration: { sharedSecret: "s3cret" } } },
      ],
      [paths.tokens]: [aToken({ token: "s3cret" })],
    });
    const artifacts = await createCollection(client).obtain([
      "apps",
      "smart_card_idps",
      "log_streams",
      "authenticators",
      "api_tokens",
    ]);
    expect(JSON.stringify(artifacts)).not.toContain("s3cret");
    expect(artifacts.apps).toMatchObject({ value: [anApp({ settings: {} })] });
  });
});

function linkTo(policyId: string): JsonObject {
  return { accessPolicy: { href: `https://acme.okta.com/api/v1/policies/${policyId}` } };
}
