import okta from "@okta/okta-sdk-nodejs";
import { expect, test } from "vitest";
import { startOrg } from "./start_org.ts";
import type { PracticeOrg } from "../../practice_org/create_practice_org.ts";

/** The provider's own SDK is the second opinion: what it reads here, it reads from a real org. */
function sdkOf(org: PracticeOrg) {
  return new okta.Client({
    orgUrl: org.url,
    authorizationMode: "PrivateKey",
    clientId: org.clientId,
    scopes: ["okta.policies.read", "okta.apps.read", "okta.networkZones.read", "okta.groups.read"],
    privateKey: org.privateKeyPem,
  });
}

// The SDK throws at the demand for a nonce, which every org answers with 400, so it reads without DPoP.
test("The Okta SDK for Node logs in with a private key, and lists policies and apps over pages", async () => {
  const org = await startOrg({ dpop: "off" });
  const client = sdkOf(org);

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
});
