import { describe, expect, test } from "vitest";
import { parseProfile, profileContents, profileNames } from "../../practice_org/profiles/profile.ts";
import { allPages, signedIn } from "./raw_client.ts";
import { startOrg } from "./start_org.ts";

const site = { url: "http://127.0.0.1:1", nowMs: Date.UTC(2026, 0, 1) };

describe("parseProfile", () => {
  test.each(["typical", "compliant", "empty", "narrow", "classic", "unclear", "edge", "guarded"])(
    "reads %s",
    (name) => {
      expect(parseProfile(name)).toEqual({ name });
    },
  );

  test.each([
    ["large:4", 4],
    ["large:10000", 10_000],
    ["large:1000000", 1_000_000],
  ])("reads %s", (text, appCount) => {
    expect(parseProfile(text)).toEqual({ name: "large", appCount });
  });

  test.each([
    "large",
    "large:",
    "large:3",
    "large:0",
    "large:-4",
    "large:1000001",
    "large:ten",
    "large:1e3",
    "large:5.5",
    "large:10:10",
    "large: 10",
  ])("refuses %j and names what is expected", (text) => {
    expect(() => parseProfile(text)).toThrow(RangeError);
    expect(() => parseProfile(text)).toThrow(
      `Cannot use profile "${text}": expected large:N with a whole number N from 4`,
    );
  });

  test.each(["", "Typical", "nonsense", "typical:5"])("refuses %j and names the profiles", (text) => {
    expect(() => parseProfile(text)).toThrow(
      `Cannot use profile "${text}": expected one of typical, compliant, empty, narrow, classic, unclear, edge, guarded, large:N`,
    );
  });

  test("has one line on every name", () => {
    for (const line of Object.values(profileNames)) expect(line).toMatch(/^\S.{10,90}$/);
  });
});

describe("profileContents", () => {
  test.each(["typical", "compliant", "empty", "narrow", "classic", "guarded", "large:50"])(
    "of %s refers only to what is there",
    (name) => {
      const contents = profileContents(parseProfile(name), site);
      const policyIds = new Set(contents.policies.map(({ policy }) => policy.id));
      expect(policyIds.size).toBe(contents.policies.length);
      const bound = [contents.serviceAppPolicyId];
      for (let index = 0; index < contents.apps.length; index += 1) {
        const { accessPolicy } = contents.apps.get(index)["_links"] as { accessPolicy?: { href: string } };
        bound.push(accessPolicy?.href.split("/").at(-1) ?? null);
      }
      for (const id of bound) if (id !== null) expect(policyIds).toContain(id);
      const groupIds = new Set(contents.groups.map(({ group }) => group.id));
      for (const { groupIds: memberOf } of contents.users) for (const id of memberOf) expect(groupIds).toContain(id);
      const zoneIds = new Set(contents.zones.map(({ id }) => id));
      for (const id of JSON.stringify(contents).match(/nzo[0-9A-Za-z]{17}/g) ?? []) expect(zoneIds).toContain(id);
      for (const id of JSON.stringify(contents).match(/"00g[0-9A-Za-z]{17}"/g) ?? []) {
        expect(groupIds).toContain(id.replaceAll('"', ""));
      }
      const userIds = new Set(contents.users.map(({ user }) => user.id));
      for (const token of contents.apiTokens) expect(userIds).toContain(token["userId"]);
    },
  );

  test("is the same at every start", () => {
    for (const name of ["typical", "compliant"]) {
      const [one, two] = [1, 2].map(() => {
        const { apps, ...rest } = profileContents(parseProfile(name), site);
        return { ...rest, apps: Array.from({ length: apps.length }, (_, index) => apps.get(index)) };
      });
      expect(one).toEqual(two);
    }
  });

  test.each(["typical", "compliant", "empty", "narrow", "classic", "large:50"])(
    "of %s has ids of the provider's form",
    (name) => {
      const contents = profileContents(parseProfile(name), site);
      const ids = contents.policies.flatMap(({ policy, rules }) => [policy.id, ...rules.map((rule) => rule.id)]);
      for (const { id } of [...contents.zones, ...contents.authenticators, ...contents.apiTokens]) ids.push(id);
      expect(new Set(ids).size).toBe(ids.length);
      for (const id of ids) expect(id).toMatch(/^(00p|0pr|rst|rul|nzo|aut|00T)[0-9A-Za-z]{17}$/);
    },
  );

  test("of large:N has exactly N apps, the service application among them, on few policies", async () => {
    const org = await startOrg({ profile: { name: "large", appCount: 1_234 } });
    const { get } = await signedIn(org);
    const apps = (await allPages(get, "/api/v1/apps?limit=200")).flat();
    expect(apps).toHaveLength(1_234);
    expect(new Set(apps.map(({ id }) => id)).size).toBe(1_234);
    expect(apps.map(({ id }) => id)).toContain(org.clientId);
    const policies = new Set(
      apps.map((app) => (app["_links"] as { accessPolicy: { href: string } }).accessPolicy.href),
    );
    expect(policies.size).toBeLessThanOrEqual(30);
  });

  test("of large:1000000 is made page by page", async () => {
    const before = process.memoryUsage().heapUsed;
    const { get } = await signedIn(await startOrg({ profile: { name: "large", appCount: 1_000_000 } }));
    const page = (await (await get("/api/v1/apps?limit=200")).json()) as unknown[];
    expect(page).toHaveLength(200);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(50 * 1024 * 1024);
  });

  test("of compliant trusts a certificate of the DoD in its validity", async () => {
    const { get } = await signedIn(await startOrg({ profile: { name: "compliant" } }));
    const [idp] = (await (await get("/api/v1/idps?type=X509")).json()) as {
      protocol: { credentials: { trust: { kid: string; issuer: string } } };
    }[];
    const trust = idp?.protocol.credentials.trust;
    expect(trust?.issuer).toBe("CN=DoD Root CA 3 (practice), OU=PKI, OU=DoD, O=U.S. Government, C=US");
    const key = (await (await get(`/api/v1/idps/credentials/keys/${trust?.kid ?? ""}`)).json()) as {
      x5c: string[];
      expiresAt: string;
    };
    const { X509Certificate } = await import("node:crypto");
    const certificate = new X509Certificate(Buffer.from(key.x5c[0] ?? "", "base64"));
    expect(certificate.issuer.split("\n")).toContain("OU=DoD");
    expect(Date.parse(certificate.validFrom)).toBeLessThan(Date.UTC(2024, 0, 1));
    expect(Date.parse(key.expiresAt)).toBe(Date.parse(certificate.validTo));
  });

  test("of typical knows which apps a policy is mapped to", async () => {
    const { get } = await signedIn(await startOrg());
    const apps = (await allPages(get, "/api/v1/apps?limit=200")).flat();
    const finance = apps.find(({ label }) => label === "Finance") as unknown as {
      id: string;
      _links: { accessPolicy: { href: string } };
    };
    const mappings = (await (await get(`${finance._links.accessPolicy.href}/mappings`)).json()) as {
      _links: { application: { href: string } };
    }[];
    expect(mappings).toHaveLength(4);
    expect(mappings.map(({ _links }) => _links.application.href)).toContain(
      `${new URL(finance._links.accessPolicy.href).origin}/api/v1/apps/${finance.id}`,
    );
  });
});
