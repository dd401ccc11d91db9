import { beforeAll, describe, expect, test } from "vitest";
import { createFaults, faultNames, parseFault, type Fault, type FaultName } from "../../practice_org/api/faults.ts";
import { nextLink, signedIn } from "./raw_client.ts";
import { startOrg } from "./start_org.ts";
import type { PracticeOrg } from "../../practice_org/create_practice_org.ts";

describe("parseFault", () => {
  test.each([
    ["forbidden", { name: "forbidden" }],
    ["forbidden:/api/v1/zones", { name: "forbidden", path: "/api/v1/zones" }],
    ["unavailable*2:/api/v1/apps", { name: "unavailable", times: 2, path: "/api/v1/apps" }],
    ["slow*1", { name: "slow", times: 1 }],
    ["reset:/api/v1/policies?type=PASSWORD", { name: "reset", path: "/api/v1/policies?type=PASSWORD" }],
  ] satisfies readonly (readonly [string, Fault])[])("reads %s", (text, fault) => {
    expect(parseFault(text)).toEqual(fault);
  });

  test.each([
    ["", "expected NAME or NAME:PATH"],
    ["gremlins", 'Cannot use fault "gremlins": expected NAME or NAME:PATH, NAME one of forbidden, insufficient-scope'],
    ["Forbidden", "NAME one of forbidden"],
    ["toString", "NAME one of forbidden"],
    ["forbidden:", "expected a path that begins with /, such as forbidden:/api/v1/zones"],
    ["forbidden:zones", "expected a path that begins with /"],
    ["forbidden*0", "expected a number of times from 1 to 1000000"],
    ["forbidden*1000001", "expected a number of times from 1 to 1000000"],
  ])("refuses %j and names what is expected", (text, message) => {
    expect(() => parseFault(text)).toThrow(RangeError);
    expect(() => parseFault(text)).toThrow(message);
  });

  test("has one line on every name", () => {
    for (const line of Object.values(faultNames)) expect(line).toMatch(/^\S.{10,90}$/);
  });
});

describe("A fault's path", () => {
  const hits = (path: string | undefined, asked: string) => {
    const url = new URL(asked, "http://org.test");
    const fault: Fault = path === undefined ? { name: "forbidden" } : { name: "forbidden", path };
    return createFaults([fault]).take(url.pathname, url.searchParams).length === 1;
  };
  test.each([
    [undefined, "/api/v1/zones", true],
    [undefined, "/oauth2/v1/token", false],
    ["/api/v1/zones", "/api/v1/zones", true],
    ["/api/v1/zones", "/api/v1/zones/x", true],
    ["/api/v1/zones/", "/api/v1/zones", true],
    ["/api/v1/zones", "/api/v1/zones-of-others", false],
    ["/api/v1/policies$", "/api/v1/policies?type=PASSWORD", true],
    ["/api/v1/policies$", "/api/v1/policies/x/rules", false],
    ["/api/v1/policies/*/rules", "/api/v1/policies/x/rules", true],
    ["/api/v1/policies/*/rules", "/api/v1/policies/x/mappings", false],
    ["/api/v1/policies?type=PASSWORD", "/api/v1/policies?type=PASSWORD&limit=1", true],
    ["/api/v1/policies?type=PASSWORD", "/api/v1/policies?type=ACCESS_POLICY", false],
    ["/api/v1/policies?type=PASSWORD", "/api/v1/policies/x/rules", false],
    ["/oauth2/v1/token", "/oauth2/v1/token", true],
  ])("%s and %s: %s", (path, asked, expected) => {
    expect(hits(path, asked)).toBe(expected);
  });

  test("is hit as many times as requested", () => {
    const faults = createFaults([{ name: "forbidden", times: 2 }]);
    const take = () => faults.take("/api/v1/zones", new URLSearchParams()).length;
    expect([take(), take(), take()]).toEqual([1, 1, 0]);
  });
});

describe("An org with a fault", () => {
  let org: PracticeOrg;
  let get: (path: string) => Promise<Response>;
  beforeAll(async () => {
    org = await startOrg();
    ({ get } = await signedIn(org));
  });

  test.each([
    ["forbidden", 403, "E0000006"],
    ["invalid-token", 401, "E0000011"],
    ["not-available", 401, "E0000015"],
    ["not-found", 404, "E0000007"],
    ["server-error", 500, "E0000009"],
    ["unavailable", 503, "E0000010"],
    ["rate-limit", 429, "E0000047"],
  ] satisfies readonly (readonly [FaultName, number, string])[])("%s answers %d %s", async (name, status, code) => {
    org.setFaults([{ name, path: "/api/v1/zones" }]);
    const response = await get("/api/v1/zones");
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ errorCode: code, errorLink: code, errorCauses: [] });
    expect((await get("/api/v1/brands")).status).toBe(200);
  });

  test("rate-limit promises an end that never comes", async () => {
    org.setFaults([{ name: "rate-limit" }]);
    const { headers } = await get("/api/v1/zones");
    expect(headers.get("x-rate-limit-remaining")).toBe("0");
    const waitSeconds = Number(headers.get("x-rate-limit-reset")) - Date.parse(headers.get("date") ?? "") / 1000;
    expect(waitSeconds).toBe(1);
  });

  test("insufficient-scope and not-found-empty have no body", async () => {
    org.setFaults([
      { name: "insufficient-scope", path: "/api/v1/zones" },
      { name: "not-found-empty", path: "/api/v1/brands" },
    ]);
    const scope = await get("/api/v1/zones");
    expect([scope.status, await scope.text()]).toEqual([403, ""]);
    expect(scope.headers.get("www-authenticate")).toMatch(
      /^DPoP .*scope="okta.networkZones.read", error="insufficient_scope"/,
    );
    const empty = await get("/api/v1/brands");
    expect([empty.status, await empty.text()]).toEqual([404, ""]);
  });

  test("html, truncated-json and wrong-shape answer 200 with what cannot be used", async () => {
    org.setFaults([
      { name: "html", path: "/api/v1/zones" },
      { name: "truncated-json", path: "/api/v1/brands" },
      { name: "wrong-shape", path: "/api/v1/logStreams" },
    ]);
    const html = await get("/api/v1/zones");
    expect([html.status, html.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    const cut = await get("/api/v1/brands");
    expect(cut.status).toBe(200);
    const text = await cut.text();
    expect(() => JSON.parse(text) as unknown).toThrow(SyntaxError);
    expect(text.startsWith(`[{"id":"bnd`)).toBe(true);
    expect(await (await get("/api/v1/logStreams")).json()).toEqual({ unexpected: true });
  });

  test("reset and cut-connection break the connection", async () => {
    org.setFaults([
      { name: "reset", path: "/api/v1/zones" },
      { name: "cut-connection", path: "/api/v1/brands" },
    ]);
    await expect(get("/api/v1/zones")).rejects.toThrow("fetch failed");
    const cut = await get("/api/v1/brands");
    expect(cut.status).toBe(200);
    await expect(cut.text()).rejects.toThrow();
  });

  test("timeout stays silent until the client gives up, and does not keep the org from stopping", async () => {
    const silent = await startOrg({ faults: [{ name: "timeout", path: "/.well-known/okta-organization" }] });
    const url = `${silent.url}/.well-known/okta-organization`;
    await expect(fetch(url, { signal: AbortSignal.timeout(200) })).rejects.toThrow("timeout");
    expect(silent.requests).toEqual([{ method: "GET", path: "/.well-known/okta-organization", status: null }]);
    const pending = expect(fetch(url)).rejects.toThrow("fetch failed");
    await expect.poll(() => silent.requests.length).toBe(2);
    await silent.stop();
    await pending;
  });

  test("slow answers, two seconds later", async () => {
    org.setFaults([{ name: "slow", path: "/api/v1/zones" }]);
    const before = performance.now();
    expect((await get("/api/v1/zones")).status).toBe(200);
    expect(performance.now() - before).toBeGreaterThan(1_990);
  });

  const lists = [
    "/api/v1/apps?limit=200",
    "/api/v1/policies?type=PASSWORD",
    "/api/v1/authenticators",
    "/api/v1/logStreams",
    "/api/v1/idps?type=X509",
  ];

  test.each(lists)("second-page-fails gives %s a second page, and fails it", async (path) => {
    org.setFaults([{ name: "second-page-fails" }]);
    const first = await get(path);
    expect(first.status).toBe(200);
    expect(((await first.json()) as unknown[]).length).toBeGreaterThan(0);
    const next = nextLink(first) ?? "";
    expect(next.startsWith(`${org.url}${path.split("?")[0] ?? ""}?after=`)).toBe(true);
    expect((await get(next)).status).toBe(500);
  });

  test.each(lists)("next-link-elsewhere leads %s to another host", async (path) => {
    org.setFaults([{ name: "next-link-elsewhere" }]);
    expect(nextLink(await get(path))).toMatch(/^https:\/\/elsewhere\.invalid\/api\/v1\//);
    org.setFaults([{ name: "next-link-elsewhere", target: "http://127.0.0.1:9" }]);
    expect(nextLink(await get(path))).toMatch(/^http:\/\/127\.0\.0\.1:9\/api\/v1\//);
  });

  test.each(lists)("repeated-cursor leads %s in a circle", async (path) => {
    org.setFaults([{ name: "repeated-cursor" }]);
    const second = nextLink(await get(path)) ?? "";
    const third = nextLink(await get(second));
    expect(new URL(third ?? "").searchParams.get("after")).toBe(new URL(second).searchParams.get("after"));
  });

  test("Page faults leave single objects alone", async () => {
    org.setFaults([{ name: "second-page-fails" }]);
    const settings = await get("/api/v1/first-party-app-settings/admin-console");
    expect([settings.status, settings.headers.get("link")]).toEqual([200, null]);
  });

  test("The token endpoint has faults of its own, and others leave it alone", async () => {
    const session = await signedIn(await startOrg({ faults: [{ name: "forbidden" }] }));
    expect((await session.get("/api/v1/zones")).status).toBe(403);
    const closed = await startOrg({ faults: [{ name: "forbidden", path: "/oauth2/v1/token" }] });
    const response = await fetch(`${closed.url}/oauth2/v1/token`, { method: "POST" });
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({ error: "access_denied" });
  });

  test("A token is still required", async () => {
    org.setFaults([{ name: "server-error" }]);
    expect((await fetch(`${org.url}/api/v1/zones`)).status).toBe(403);
  });
});
