import { afterAll, beforeAll, expect, test } from "vitest";
import type { ArtifactName } from "../../../scanner/evidence/artifacts.ts";
import { firstRequests } from "../../../scanner/evidence/artifact_table.ts";
import { catalog } from "../../../scanner/catalog/catalog.ts";
import { createCollection } from "../../../scanner/evidence/collect.ts";
import type { ConnectionSettings } from "../../../scanner/okta/connection_settings.ts";
import { systemClock } from "../../../scanner/okta/clock.ts";
import { createAuthorizedClient } from "../../../scanner/okta/authorized_client.ts";
import { connect, createRequestSender } from "../../../scanner/okta/connection.ts";
import type { IdpClient } from "../../../scanner/okta/idp_client.ts";
import { readOrganization } from "../../../scanner/okta/organization.ts";
import { parsePrivateKey } from "../../../scanner/okta/private_key.ts";
import { createPracticeOrg, type PracticeOrg } from "../../../practice_org/create_practice_org.ts";

const { signal } = new AbortController();
let org: PracticeOrg;

beforeAll(async () => {
  const rateLimit = { perWindow: 100_000, buckets: {} };
  org = await createPracticeOrg({ profile: { name: "typical" }, role: "super", rateLimit });
});

afterAll(() => org.stop());

const everyName = catalog.map(({ name }) => name);

test.each([["all checks", everyName] as const, ...everyName.map((name) => [name, [name]] as const)])(
  "the probe costs no request of its own: %s",
  async (_, names) => {
    const checks = catalog.filter((check) => names.includes(check.name));
    const collect = async (client: IdpClient) => {
      const collection = createCollection(client, { signal });
      await Promise.all(checks.map((check) => collection.obtainFor(check)));
    };

    const withoutProbe = await reads(async () => {
      const sender = createRequestSender(config(), { signal, clock: systemClock });
      const organization = await readOrganization({ ...config(), sender });
      const { tokens, client } = await createAuthorizedClient(config(), {
        org: organization,
        sender,
        clock: systemClock,
      });
      await tokens.current();
      await collect(client);
      await sender.close();
    });
    const withProbe = await reads(async () => {
      const probes = firstRequests(checks.flatMap((check) => check.artifacts));
      const connection = await connect(config(), { signal, probes });
      await collect(connection.client);
      await connection.close();
    });
    expect(withProbe).toEqual(withoutProbe);
  },
);

test("firstRequests begins with the longest list and what every organization has, and knows every artifact", () => {
  const names: readonly ArtifactName[] = [
    "admin_console_settings",
    "user_lifecycle_policies",
    "apps",
    "authenticators",
    "dashboard_app",
  ];
  expect(firstRequests(names).map(({ path }) => path)).toEqual([
    "/api/v1/apps?limit=200",
    "/api/v1/authenticators",
    "/api/v1/policies?type=USER_LIFECYCLE",
    "/api/v1/first-party-app-settings/admin-console",
  ]);
  expect(firstRequests([])).toEqual([]);
});

test("all these scans sent only GET and the token request", () => {
  const sent = new Set(org.requests.map(({ method, path }) => (method === "GET" ? "GET" : `${method} ${path}`)));
  expect(sent).toEqual(new Set(["GET", "POST /oauth2/v1/token"]));
});

async function reads(act: () => Promise<void>): Promise<readonly string[]> {
  const before = org.requests.length;
  await act();
  return org.requests
    .slice(before)
    .map(({ path }) => path)
    .filter((path) => path.startsWith("/api/"))
    .toSorted();
}

function config(): ConnectionSettings {
  return {
    orgUrl: org.url,
    clientId: org.clientId,
    key: parsePrivateKey(org.privateKeyPem, { keyId: null }),
    scopes: [
      "policies",
      "apps",
      "brands",
      "authenticators",
      "networkZones",
      "apiTokens",
      "roles",
      "groups",
      "logStreams",
      "idps",
    ].map((name) => `${name}.read`),
    scopePrefix: null,
    concurrency: 8,
    timeoutMs: 5000,
    proxy: { httpsProxy: null, noProxy: "" },
  };
}
