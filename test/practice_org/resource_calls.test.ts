import { beforeAll, describe, expect, test } from "vitest";
import { findRoute, routes } from "../../practice_org/api/routes.ts";
import { createProofKey, createRawClient, signedIn } from "./raw_client.ts";
import { startOrg } from "./start_org.ts";
import type { PracticeOrg } from "../../practice_org/create_practice_org.ts";
import type { ProofParts } from "./raw_client.ts";

let org: PracticeOrg;
let session: Awaited<ReturnType<typeof signedIn>>;

beforeAll(async () => {
  org = await startOrg();
  session = await signedIn(org);
});

async function errorOf(response: Response) {
  const body = await response.text();
  return {
    status: response.status,
    code: body === "" ? null : (JSON.parse(body) as { errorCode: string }).errorCode,
    challenge: response.headers.get("www-authenticate"),
  };
}

describe("Authorization", () => {
  test("is demanded on every management endpoint, and on nothing else", async () => {
    for (const route of routes) {
      const response = await fetch(`${org.url}${route.path.replaceAll("*", "some-id")}`);
      const { status, code } = await errorOf(response);
      expect([route.path, status, code]).toEqual(
        route.scope === null ? [route.path, 200, undefined] : [route.path, 403, "E0000005"],
      );
    }
  });

  test.each(["SSWS 00abcdefg", "Basic dTpw", "Bearer nonsense", "DPoP nonsense", "DPoP"])(
    "%s is no token",
    async (authorization) => {
      const response = await fetch(`${org.url}/api/v1/zones`, { headers: { authorization } });
      expect(await errorOf(response)).toMatchObject({ status: 401, code: "E0000011" });
    },
  );

  test("A bound token is not taken as bearer", async () => {
    const headers = { authorization: `Bearer ${session.token}` };
    const refusal = await errorOf(await fetch(`${org.url}/api/v1/zones`, { headers }));
    expect(refusal).toMatchObject({ status: 401, code: "E0000011" });
    expect(refusal.challenge).toContain(`error="invalid_token"`);
  });

  test("A token of another org is not taken", async () => {
    const other = await signedIn(await startOrg());
    expect(await errorOf(await session.call(other.token, "/api/v1/zones"))).toMatchObject({ status: 401 });
  });

  test("A token ends at its expiry", async () => {
    let nowMs = Date.now();
    const short = await startOrg({ tokenLifetimeSeconds: 10, clock: () => nowMs });
    const client = await createRawClient(short, () => nowMs);
    const token = await client.logIn();
    nowMs += 9_000;
    expect((await client.call(token, "/api/v1/zones")).status).toBe(200);
    nowMs += 1_000;
    expect(await errorOf(await client.call(token, "/api/v1/zones"))).toMatchObject({ status: 401, code: "E0000011" });
  });

  test("A bearer token is taken where the org issues them", async () => {
    const relaxed = await startOrg({ dpop: "off" });
    const client = await createRawClient(relaxed);
    const { body } = await client.requestToken({ proof: null });
    const headers = { authorization: `Bearer ${body.access_token ?? ""}` };
    expect((await fetch(`${relaxed.url}/api/v1/zones`, { headers })).status).toBe(200);
    expect((await client.call(body.access_token ?? "", "/api/v1/zones")).status).toBe(401);
  });
});

describe("DPoP proof of a call", () => {
  const refusals: readonly (readonly [string, ProofParts, string])[] = [
    ["another method", { claims: { htm: "POST" } }, "'htm' claim in the DPoP proof JWT is invalid."],
    [
      "another path",
      { claims: { htu: "http://127.0.0.1/api/v1/apps" } },
      "'htu' claim in the DPoP proof JWT is invalid.",
    ],
    ["another token", { claims: { ath: "x" } }, "'ath' claim in the DPoP proof JWT is invalid."],
    ["no token", { claims: { ath: undefined } }, "'ath' claim in the DPoP proof JWT is invalid."],
  ];
  test.each(refusals)("is refused: %s", async (_, parts, description) => {
    const refusal = await errorOf(await session.call(session.token, "/api/v1/zones", parts));
    expect(refusal).toMatchObject({ status: 400, code: null });
    expect(refusal.challenge).toContain(`error="invalid_dpop_proof", error_description="${description}"`);
  });

  test("is demanded", async () => {
    const headers = { authorization: `DPoP ${session.token}` };
    const refusal = await errorOf(await fetch(`${org.url}/api/v1/zones`, { headers }));
    expect(refusal.status).toBe(400);
    expect(refusal.challenge).toContain("The DPoP proof JWT header is missing.");
  });

  test("is refused when it is of another key than the token", async () => {
    const refusal = await errorOf(await session.call(session.token, "/api/v1/zones", { key: await createProofKey() }));
    expect(refusal).toMatchObject({ status: 400, code: null });
  });

  test("is for one use", async () => {
    const parts = { claims: { jti: "only-once" } };
    expect((await session.call(session.token, "/api/v1/zones", parts)).status).toBe(200);
    expect((await session.call(session.token, "/api/v1/zones", parts)).status).toBe(400);
  });

  test("leaves the query out of the address, and rejects it in", async () => {
    const path = "/api/v1/policies?type=PASSWORD";
    expect((await session.get(path)).status).toBe(200);
    const withQuery = await session.call(session.token, path, { claims: { htu: `${org.url}${path}` } });
    expect(withQuery.status).toBe(400);
  });
});

describe("Scope", () => {
  test("that the token lacks: 403 without a body, all of it in the challenge", async () => {
    const narrow = await signedIn(org, ["okta.apps.read"]);
    const response = await narrow.get("/api/v1/policies?type=PASSWORD");
    expect(response.status).toBe(403);
    expect(await response.text()).toBe("");
    const realm = org.url;
    expect(response.headers.get("www-authenticate")).toBe(
      `DPoP algs="RS256 RS384 RS512 ES256 ES384 ES512", authorization_uri="${realm}/oauth2/v1/authorize", realm="${realm}", ` +
        `scope="okta.policies.read", error="insufficient_scope", ` +
        `error_description="The access token provided does not contain the required scopes.", resource="/api/v1/policies"`,
    );
  });

  test.each([
    ["/api/v1/users/some-id/groups", "okta.users.read"],
    ["/api/v1/users/some-id/roles", "okta.roles.read"],
  ])("of %s is %s, and no other one does; a bearer token is told in the recorded form", async (path, scope) => {
    const others = ["okta.groups.read", "okta.users.read", "okta.roles.read"].filter((name) => name !== scope);
    const bearer = await startOrg({ dpop: "off" });
    const { body } = await (await createRawClient(bearer)).requestToken({ proof: null, scope: others.join(" ") });
    const headers = { authorization: `Bearer ${body.access_token ?? ""}` };
    const response = await fetch(`${bearer.url}${path}`, { headers });
    expect([response.status, await response.text()]).toEqual([403, ""]);
    expect(response.headers.get("www-authenticate")).toBe(
      `Bearer authorization_uri="${bearer.url}/oauth2/v1/authorize", realm="${bearer.url}", ` +
        `scope="${scope}", error="insufficient_scope", ` +
        `error_description="The access token provided does not contain the required scopes.", resource="${path}"`,
    );
  });

  test("opens its own endpoints and no others", async () => {
    const withIds = routes.filter(({ scope }) => scope !== null);
    for (const name of new Set(withIds.flatMap(({ scope }) => scope ?? []))) {
      if (name === "orgs.read") continue;
      const narrow = await signedIn(org, [`okta.${name}`]);
      for (const route of withIds) {
        const path = `${route.path.replaceAll("*", "some-id")}${route.path.endsWith("/policies") ? "?type=PASSWORD" : ""}`;
        const { status, challenge } = await errorOfAny(await narrow.get(path));
        const isOpen = route.scope === name;
        expect([name, path, challenge === null]).toEqual([name, path, isOpen]);
        expect([name, path, [200, 404].includes(status)]).toEqual([name, path, isOpen]);
      }
    }
  });
});

async function errorOfAny(response: Response) {
  await response.text();
  return { status: response.status, challenge: response.headers.get("www-authenticate") };
}

describe("Role", () => {
  const appNames = async (role: "read-only" | "super", query: string) => {
    const { get } = await signedIn(await startOrg({ role }));
    const apps = (await (await get(`/api/v1/apps?limit=200${query}`)).json()) as { id: string; name: string }[];
    return apps.map(({ name }) => name);
  };

  test("Super Administrator sees every app, the provider's own among them", async () => {
    const names = await appNames("super", "");
    expect(names.length).toBeGreaterThan(15);
    expect(names).toEqual(
      expect.arrayContaining(["saasure", "okta_enduser", "okta_browser_plugin", "active_directory"]),
    );
  });

  test("Read-Only Administrator sees the service application only", async () => {
    const { get } = await signedIn(await startOrg({ role: "read-only" }));
    const apps = (await (await get("/api/v1/apps")).json()) as { id: string; settings: { oauthClient: object } }[];
    expect(apps.map(({ id }) => id)).toEqual([org.clientId]);
    expect(apps[0]?.settings.oauthClient).toMatchObject({ application_type: "service" });
  });

  test.each(["saasure", "okta_enduser"])("decides whether the filter finds %s", async (name) => {
    const filter = `&filter=${encodeURIComponent(`name eq "${name}"`)}`;
    expect(await appNames("super", filter)).toEqual([name]);
    expect(await appNames("read-only", filter)).toEqual([]);
  });

  test("decides whether the settings of the Admin Console are shown", async () => {
    const path = "/api/v1/first-party-app-settings/admin-console";
    const superAdmin = await session.get(path);
    expect(await superAdmin.json()).toEqual({ sessionIdleTimeoutMinutes: 30, sessionMaxLifetimeMinutes: 720 });
    const readOnly = await signedIn(await startOrg({ role: "read-only" }));
    expect(await errorOf(await readOnly.get(path))).toMatchObject({ status: 403, code: "E0000006" });
    expect((await readOnly.get("/api/v1/policies?type=ACCESS_POLICY")).status).toBe(200);
  });

  test("none: a token is issued, and every read is forbidden", async () => {
    const { get } = await signedIn(await startOrg({ role: "none" }));
    for (const route of routes) {
      if (route.scope === null || route.scope === "orgs.read") continue;
      const answer = await errorOf(await get(route.path.replaceAll("*", "some-id")));
      expect([route.path, answer.status, answer.code]).toEqual([route.path, 403, "E0000006"]);
    }
  });

  test.each([
    ["super", "SUPER_ADMIN", "Super Administrator"],
    ["read-only", "READ_ONLY_ADMIN", "Read-only Administrator"],
  ] as const)("%s is what the client's own assignments say", async (role, type, label) => {
    const { get } = await signedIn(await startOrg({ role }));
    const roles = await (await get(`/oauth2/v1/clients/${org.clientId}/roles`)).json();
    expect(roles).toEqual([expect.objectContaining({ type, label, assignmentType: "CLIENT", status: "ACTIVE" })]);
  });
});

describe("Objects that the scanner tells apart", () => {
  interface GivenApp {
    readonly label: string;
    readonly signOnMode: string | null;
    readonly settings: { readonly oauthClient?: { readonly application_type: string } };
    readonly _links: { readonly accessPolicy?: unknown };
  }

  test("Apps that nobody signs in to: no sign-on or a service, with and without a policy", async () => {
    const apps = (await (await session.get("/api/v1/apps?limit=200")).json()) as GivenApp[];
    const kindOf = ({ signOnMode, settings, _links }: GivenApp) =>
      [signOnMode, settings.oauthClient?.application_type, "accessPolicy" in _links] as const;
    const kinds = Object.fromEntries(apps.map((app) => [app.label, kindOf(app)]));
    expect(kinds).toMatchObject({
      "practice.example": [null, undefined, false],
      "Contractors' list": [null, undefined, false],
      "Nightly export": ["OPENID_CONNECT", "service", false],
      "Compliance scanner": ["OPENID_CONNECT", "service", true],
      Wiki: ["OPENID_CONNECT", "web", true],
      "Okta Dashboard": ["OPENID_CONNECT", undefined, true],
    });
  });

  test("Groups that the provider keeps by itself are found by their type", async () => {
    const names = async (query: string) => {
      const groups = (await (await session.get(`/api/v1/groups?${query}`)).json()) as { profile: { name: string } }[];
      return groups.map(({ profile }) => profile.name);
    };
    expect(await names(`filter=${encodeURIComponent('type eq "BUILT_IN"')}&limit=200`)).toEqual([
      "Everyone",
      "Okta Administrators",
    ]);
    expect(await names(`filter=${encodeURIComponent('type eq "OKTA_GROUP"')}`)).not.toContain("Everyone");
    const refused = await session.get(`/api/v1/groups?filter=${encodeURIComponent('profile.name eq "Everyone"')}`);
    expect(await errorOf(refused)).toMatchObject({ status: 400, code: "E0000031" });
    expect((await session.get("/api/v1/groups?q=every")).headers.get("link")).toBeNull();
  });
});

describe("Path and method", () => {
  test.each(["/api/v1/nothing", "/api/v1/zones/", "/api/v1/policies/x/rules/y/z"])("%s: 404", async (path) => {
    expect(await errorOf(await session.get(path))).toMatchObject({ status: 404, code: "E0000007" });
  });

  test.each(["POST", "PUT", "DELETE", "PATCH"])("%s: 405", async (method) => {
    const response = await fetch(`${org.url}/api/v1/zones`, { method });
    expect(await errorOf(response)).toMatchObject({ status: 405, code: "E0000022" });
  });

  test("An unknown id: 404 that names it", async () => {
    const response = await session.get("/api/v1/zones/nzo-nobody");
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({
      errorCode: "E0000007",
      errorSummary: "Not found: Resource not found: nzo-nobody (NetworkZone)",
      errorLink: "E0000007",
      errorId: expect.stringMatching(/^oae[\w-]{22}$/),
      errorCauses: [],
    });
  });

  test("Every route is found by its own path", () => {
    for (const route of routes) expect(findRoute(route.path.replaceAll("*", "abc"))?.route).toBe(route);
  });

  test("A feature that the org does not have: 401 E0000015", async () => {
    const { get } = await signedIn(await startOrg({ profile: { name: "classic" } }));
    expect(await errorOf(await get("/api/v1/authenticators"))).toMatchObject({ status: 401, code: "E0000015" });
    const document = (await (await get("/.well-known/okta-organization")).json()) as { pipeline: string };
    expect(document.pipeline).toBe("v1");
  });
});

test("Every answer carries date, request id and rate limit; a log is kept of what was asked", async () => {
  const quiet = await startOrg({ clock: () => Date.UTC(2026, 0, 2, 3, 4, 5) });
  const client = await createRawClient(quiet, () => Date.UTC(2026, 0, 2, 3, 4, 5));
  const token = await client.logIn();
  const response = await client.call(token, "/api/v1/policies?type=PASSWORD");
  expect(response.headers.get("date")).toBe("Fri, 02 Jan 2026 03:04:05 GMT");
  expect(response.headers.get("x-okta-request-id")).toMatch(/^[0-9a-f]{32}$/);
  expect(response.headers.get("x-rate-limit-limit")).toBe("600");
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(quiet.requests).toEqual([
    { method: "POST", path: "/oauth2/v1/token", status: 400 },
    { method: "POST", path: "/oauth2/v1/token", status: 200 },
    { method: "GET", path: "/api/v1/policies?type=PASSWORD", status: 200 },
  ]);
});

test("Brands have their domains where they are asked for, in the list and by themselves", async () => {
  const { get } = await signedIn(await startOrg({ profile: { name: "narrow" } }));
  type Brand = { id: string; name: string; _embedded?: { domains: readonly { domain: string }[] } };
  const brands = (await (await get("/api/v1/brands?expand=themes,domains")).json()) as readonly Brand[];
  const domains = new Map(brands.map(({ name, _embedded: embedded }) => [name, embedded?.domains]));
  expect(domains.get("Not launched yet")).toEqual([]);
  expect(domains.get("Hidden notice")).toMatchObject([{ domain: "hidden-notice.practice.example" }]);
  const id = brands.find(({ name }) => name === "Hidden notice")?.id ?? "";
  expect(await (await get(`/api/v1/brands/${id}/domains`)).json()).toEqual(domains.get("Hidden notice"));
  const [plain] = (await (await get("/api/v1/brands")).json()) as readonly Brand[];
  expect(plain?._embedded).toBeUndefined();
  expect(await errorOf(await get("/api/v1/brands?expand=cars"))).toMatchObject({ status: 400, code: "E0000001" });
});
