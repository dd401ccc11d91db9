import { beforeAll, describe, expect, test } from "vitest";
import { allPages, nextLink, signedIn } from "./raw_client.ts";
import { startOrg } from "./start_org.ts";
import type { PracticeOrg } from "../../practice_org/create_practice_org.ts";

let org: PracticeOrg;
let get: (path: string) => Promise<Response>;

beforeAll(async () => {
  org = await startOrg({ profile: { name: "large", appCount: 450 } });
  ({ get } = await signedIn(org));
});

describe("A list that pages", () => {
  test.each([
    ["?limit=200", [200, 200, 50]],
    ["?limit=150", [150, 150, 150]],
    ["?limit=199", [199, 199, 52]],
  ])("is cut into pages by its limit (%s), without gap or repetition", async (query, sizes) => {
    const pages = await allPages(get, `/api/v1/apps${query}`);
    expect(pages.map((page) => page.length)).toEqual(sizes);
    expect(new Set(pages.flat().map(({ id }) => id)).size).toBe(450);
  });

  test("has twenty to a page unless it is asked otherwise", async () => {
    const response = await get("/api/v1/apps");
    expect((await response.json()) as unknown[]).toHaveLength(20);
    expect(response.headers.get("link")).toContain(`<${org.url}/api/v1/apps?limit=20>; rel="self"`);
  });

  test("links self and next on header lines of their own", async () => {
    const session = await signedIn(org);
    const { request } = await import("undici");
    const path = "/api/v1/apps";
    const first = await session.get(path);
    const token = session.token;
    const proof = await session.proof("GET", `${org.url}${path}`, { claims: { ath: await hash(token) } });
    const raw = await request(`${org.url}${path}?limit=2`, {
      headers: { authorization: `DPoP ${token}`, dpop: proof },
    });
    await raw.body.dump();
    expect(first.status).toBe(200);
    expect(raw.headers["link"]).toEqual([
      `<${org.url}/api/v1/apps?limit=2>; rel="self"`,
      expect.stringMatching(new RegExp(`^<${org.url}/api/v1/apps\\?after=[\\w-]+&limit=2>; rel="next"$`)),
    ]);
  });

  test("of identity providers leaves the type out of its links, as recorded", async () => {
    const { headers } = await get("/api/v1/idps?type=X509&limit=1");
    expect(headers.get("link")).toBe(`<${org.url}/api/v1/idps?limit=1>; rel="self"`);
  });

  test("keeps its filter over its pages", async () => {
    const filter = encodeURIComponent(`status eq "ACTIVE"`);
    const first = await get(`/api/v1/apps?filter=${filter}&limit=200`);
    expect(nextLink(first)).toContain("filter=status+eq+%22ACTIVE%22");
    const pages = await allPages(get, `/api/v1/apps?filter=${filter}&limit=200`);
    expect(pages.map((page) => page.length)).toEqual([200, 200, 50]);
  });

  test("has no next link when the last match fills the page", async () => {
    const filter = encodeURIComponent(`name eq "saasure"`);
    const response = await get(`/api/v1/apps?filter=${filter}&limit=1`);
    expect((await response.json()) as unknown[]).toHaveLength(1);
    expect(nextLink(response)).toBeNull();
  });

  test.each(["0", "201", "-5", "ten", "1.5", ""])("refuses the limit %j", async (limit) => {
    const response = await get(`/api/v1/apps?limit=${limit}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      errorCode: "E0000001",
      errorSummary: "Api validation failed: limit",
    });
  });

  test.each(["1", "200", "-1"])("takes the limit %s", async (limit) => {
    expect((await get(`/api/v1/apps?limit=${limit}`)).status).toBe(200);
  });

  test("refuses a cursor that it did not give, and one of another list", async () => {
    const session = await signedIn(await startOrg());
    const zones = nextLink(await session.get("/api/v1/zones?limit=1"));
    const cursor = new URL(zones ?? "").searchParams.get("after") ?? "";
    const brands = `/api/v1/brands?limit=1&after=`;
    for (const after of ["nonsense", `${cursor}x`, cursor, "MQ"]) {
      const response = await session.get(`${brands}${after}`);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({
        errorCode: "E0000029",
        errorSummary: "Invalid paging request.",
        errorCauses: [{ errorSummary: "Invalid cursor." }],
      });
    }
    expect((await session.get(`/api/v1/zones?limit=1&after=${cursor}`)).status).toBe(200);
  });
});

describe("A list that does not page", () => {
  test.each(["/api/v1/api-tokens?limit=1", "/api/v1/authenticators?limit=1"])("ignores the limit: %s", async (path) => {
    const { get: read } = await signedIn(await startOrg());
    const response = await read(path);
    expect(((await response.json()) as unknown[]).length).toBeGreaterThan(3);
    expect(response.headers.get("link")).toBeNull();
  });

  test("of policies returns all, and pages when it is asked to", async () => {
    const all = await get("/api/v1/policies?type=ACCESS_POLICY");
    expect(((await all.json()) as unknown[]).length).toBe(30);
    expect(all.headers.get("link")).toBe(`<${org.url}/api/v1/policies?type=ACCESS_POLICY>; rel="self"`);
    const pages = await allPages(get, "/api/v1/policies?type=ACCESS_POLICY&limit=20");
    expect(pages.map((page) => page.length)).toEqual([20, 10]);
  });
});

test("Lists inside of an object link their next page in the body", async () => {
  const { get: read } = await signedIn(await startOrg());
  const first = (await (await read("/api/v1/iam/assignees/users?limit=1")).json()) as AssigneePage;
  expect(first.value).toHaveLength(1);
  const second = (await (await read(first._links?.next.href ?? "")).json()) as AssigneePage;
  expect(second.value).toHaveLength(1);
  expect(second.value[0]?.id).not.toBe(first.value[0]?.id);
  expect(second._links).toBeUndefined();
});

interface AssigneePage {
  readonly value: readonly { readonly id: string }[];
  readonly _links?: { readonly next: { readonly href: string } };
}

test.each([`name co "x"`, `label eq "x"`, "name eq x", ""])("An unsupported filter is refused: %j", async (text) => {
  const response = await get(`/api/v1/apps?filter=${encodeURIComponent(text)}`);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ errorCode: "E0000031" });
});

test.each(["/api/v1/policies", "/api/v1/policies?type=", "/api/v1/policies?type=NONSENSE"])(
  "Policies without a known type are refused: %s",
  async (path) => {
    const response = await get(path);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ errorCode: "E0000001", errorSummary: "Api validation failed: type" });
  },
);

async function hash(token: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token));
  return Buffer.from(digest).toString("base64url");
}
