import { expect, test } from "vitest";
import { asTerraform, signedIn } from "./raw_client.ts";
import { startOrg } from "./start_org.ts";

/** Refusals and gaps of real orgs: a scan or a plan that works here must expect them. */

interface Named {
  readonly id: string;
  readonly name: string;
  readonly isDefault?: boolean;
}

const forbidden = { status: 403, body: { errorCode: "E0000006", errorCauses: [] } };

async function writableOrg(profile: "typical" | "empty") {
  const org = await startOrg({ profile: { name: profile }, isWritable: true });
  const client = await signedIn(asTerraform(org), ["okta.policies.manage", "okta.brands.manage"]);
  const call = async (method: string, path: string, body?: unknown) => {
    const response = await client.call(client.token, path, { method, body });
    return { status: response.status, body: (await response.json()) as unknown };
  };
  const list = async (path: string) => (await call("GET", path)).body as readonly Named[];
  return { call, list };
}

test.each(["OKTA_SIGN_ON", "PASSWORD"])(
  "the Default Policy of type %s cannot be deleted or switched off",
  async (type) => {
    const { call, list } = await writableOrg("empty");
    const policy = (await list(`/api/v1/policies?type=${type}`)).find(({ name }) => name === "Default Policy");
    const path = `/api/v1/policies/${policy?.id}`;
    expect(await call("DELETE", path)).toMatchObject(forbidden);
    expect(await call("POST", `${path}/lifecycle/deactivate`)).toMatchObject(forbidden);
  },
);

test.each([
  ["the only brand", "empty", true, 200],
  ["the subdomain brand of several", "typical", true, 403],
  ["a custom brand", "typical", false, 200],
] as const)("the sign-in page of %s is written", async (_, profile, isDefault, status) => {
  const { call, list } = await writableOrg(profile);
  const brand = (await list("/api/v1/brands")).find((each) => each.isDefault === isDefault);
  const page = { pageContent: "<html></html>", widgetVersion: "^7" };
  const answer = await call("PUT", `/api/v1/brands/${brand?.id}/pages/sign-in/customized`, page);
  expect(answer).toMatchObject(status === 403 ? forbidden : { status, body: page });
  if (isDefault) expect(await call("DELETE", `/api/v1/brands/${brand?.id}`)).toMatchObject(forbidden);
});

test("the custom role of the profile edge sees lists without the Default Policies and the subdomain brand", async () => {
  const lists = ["/api/v1/policies?type=OKTA_SIGN_ON", "/api/v1/policies?type=PASSWORD", "/api/v1/brands"];
  const [seen, whole] = await Promise.all(
    (["custom", "super"] as const).map(async (role) => {
      const { get } = await signedIn(await startOrg({ profile: { name: "edge" }, role }));
      return Promise.all(lists.map(async (path) => (await (await get(path)).json()) as readonly Named[]));
    }),
  );
  lists.forEach((path, index) => {
    const names = seen?.[index]?.map(({ name }) => name) ?? [];
    const hidden = whole?.[index]?.filter(({ name }) => !names.includes(name));
    expect(names.length, path).toBeGreaterThan(0);
    expect(hidden, path).toHaveLength(1);
  });
});
