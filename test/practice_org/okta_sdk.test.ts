import okta from "@okta/okta-sdk-nodejs";
import { expect, test } from "vitest";
import { startOrg } from "./start_org.ts";
import type { PracticeOrg } from "../../practice_org/create_practice_org.ts";

/** The provider's own SDK is the second opinion: what it reads here, it reads from a real org. */
function sdkOf(org: PracticeOrg, requestExecutor?: okta.RequestExecutor) {
  return new okta.Client({
    orgUrl: org.url,
    authorizationMode: "PrivateKey",
    clientId: org.clientId,
    scopes: ["okta.policies.read", "okta.apps.read", "okta.networkZones.read", "okta.groups.read"],
    privateKey: org.privateKeyPem,
    ...(requestExecutor === undefined ? {} : { requestExecutor }),
  });
}

/**
 * The SDK answers the demand for a nonce only when it comes with a status below 300: its error filter throws on the 400
 * that every org sends. This executor shows it the same answer under another status, and the SDK does the rest.
 */
class NonceExecutor extends okta.DefaultRequestExecutor {
  override async fetch(
    ...request: Parameters<okta.RequestExecutor["fetch"]>
  ): ReturnType<okta.RequestExecutor["fetch"]> {
    const response = await super.fetch(...request);
    if (response.status !== 400 || !response.headers.has("dpop-nonce")) return response;
    return new Proxy(response, {
      get(target, property) {
        if (property === "status") return 200;
        const value: unknown = Reflect.get(target, property, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  }
}

test.each([
  ["bearer tokens", "off"],
  ["DPoP tokens", "required"],
] as const)(
  "The Okta SDK for Node logs in with a private key for %s, and lists policies and apps over pages",
  async (_, dpop) => {
    const org = await startOrg({ dpop });
    const client = sdkOf(org, dpop === "required" ? new NonceExecutor() : undefined);

    const apps: string[] = [];
    for await (const app of await client.applicationApi.listApplications({ limit: 5 })) apps.push(app?.label ?? "");
    expect(apps).toEqual(
      expect.arrayContaining(["Okta Admin Console", "Okta Dashboard", "Finance", "Compliance scanner"]),
    );
    expect(apps).toHaveLength(27);
    const pages = org.requests.filter(({ path }) => path.startsWith("/api/v1/apps?"));
    expect(pages.length).toBe(Math.ceil(apps.length / 5));
    expect(pages.every(({ status }) => status === 200)).toBe(true);

    const policies: string[] = [];
    for await (const policy of await client.policyApi.listPolicies({ type: "OKTA_SIGN_ON" }))
      policies.push(policy?.name ?? "");
    expect(policies).toEqual(["Employees", "Contractors", "Legacy VPN", "Default Policy"]);

    const zones: string[] = [];
    for await (const zone of await client.networkZoneApi.listNetworkZones()) zones.push(zone?.name ?? "");
    expect(zones).toEqual(expect.arrayContaining(["BlockedIpZone", "Headquarters"]));
    expect(org.requests.filter(({ method }) => method === "POST").map(({ status }) => status)).toEqual(
      dpop === "required" ? [400, 200] : [200],
    );
  },
);

test("The Okta SDK for Node reads a refusal as its own kind of error", async () => {
  const client = sdkOf(await startOrg({ dpop: "off", role: "none" }));
  const listing = (async () => {
    for await (const policy of await client.policyApi.listPolicies({ type: "PASSWORD" })) void policy;
  })();
  await expect(listing).rejects.toMatchObject({ status: 403, errorCode: "E0000006" });
});
