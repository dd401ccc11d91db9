import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { signedIn } from "./raw_client.ts";
import { parseShapes, printShapes, recordedShapes, samplesOf, shapesOf } from "./shapes.ts";
import { startOrg } from "./start_org.ts";
import type { Shapes } from "./shapes.ts";

/** Which fields a real org's answers have; made from the recordings, and renewed from them by `vitest -u`. */
const fixture = join(import.meta.dirname, "recorded_shapes.txt");
const recordings = process.env["OKTA_RECORDED_DIR"];

let real: Shapes;
let ours: Shapes;

beforeAll(async () => {
  const kept = parseShapes(await readFile(fixture, "utf8"));
  const fresh = recordings === undefined ? new Map() : await recordedShapes(recordings);
  real = new Map([...kept, ...fresh].filter(([kind]) => compared.has(kind)));
  ours = await practiceShapes();
});

test("The fixture agrees with the recordings", async () => {
  await expect(printShapes(real)).toMatchFileSnapshot(fixture);
});

const kinds = [
  "app saasure",
  "app OPENID_CONNECT",
  "app SAML_2_0",
  "app BOOKMARK",
  "app BROWSER_PLUGIN",
  "policy OKTA_SIGN_ON",
  "policy OKTA_SIGN_ON system",
  "policy PASSWORD",
  "policy PASSWORD system",
  "policy ACCESS_POLICY",
  "policy ACCESS_POLICY system",
  "rule SIGN_ON",
  "rule ACCESS_POLICY",
  "rule ACCESS_POLICY system",
  "zone IP",
  "zone DYNAMIC_V2",
  "api token",
  "brand",
  "default page",
  "customized page",
  "authenticator okta_email",
  "authenticator okta_password",
  "authenticator okta_verify",
  "authenticator phone_number",
  "authenticator google_otp",
  "log stream aws_eventbridge",
  "log stream splunk_cloud_logstreaming",
  "group",
  "role assignment",
  "user",
  "idp X509",
  "organization",
  "first-party settings",
  "error",
] as const;

/** Fields that the official reference has, and no recording happens to show. */
const documented = [
  /^_links\.activate\b/,
  // Password policies have it; the sign-on policies were recorded in 2020.
  /^_links\.mappings\b/,
  /^actions\.appSignOn\.verificationMethod\.constraints\[\]\.possession\.phishingResistant$/,
  /^(conditions\.)?network\.include(\[\])?$/,
];

const compared = new Set<string>(kinds);

describe("The practice org's objects have the fields of real ones", () => {
  test.each(kinds)("%s", (kind) => {
    const recorded = real.get(kind);
    const answered = ours.get(kind);
    expect(recorded, "recorded").toBeDefined();
    expect(answered, "answered").toBeDefined();
    // Objects that the provider made and those that people made differ in the fields they have, not in those they can have.
    const possible = new Set([kind, kind.replace(/ system$/, "")].flatMap((name) => [...(real.get(name)?.ever ?? [])]));
    const isKnown = (field: string) => possible.has(field) || documented.some((pattern) => pattern.test(field));
    const invented = [...(answered?.ever ?? [])].filter((field) => !isKnown(field));
    const leftOut = [...(recorded?.always ?? [])].filter((field) => answered?.ever.has(field) !== true);
    expect({ invented, leftOut }).toEqual({ invented: [], leftOut: [] });
  });
});

async function practiceShapes(): Promise<Shapes> {
  const samples = [];
  for (const name of ["typical", "compliant"] as const) {
    const { get } = await signedIn(await startOrg({ profile: { name } }));
    const read = async (path: string): Promise<unknown> => {
      const body: unknown = await (await get(path)).json();
      samples.push(...samplesOf(path.split("?")[0] ?? path, body));
      return body;
    };
    for (const path of [
      "/.well-known/okta-organization",
      "/api/v1/apps?limit=200",
      "/api/v1/first-party-app-settings/admin-console",
      "/api/v1/authenticators",
      "/api/v1/zones",
      "/api/v1/api-tokens",
      "/api/v1/logStreams",
      "/api/v1/idps",
      "/api/v1/groups",
      "/api/v1/users",
    ]) {
      await read(path);
    }
    for (const type of ["OKTA_SIGN_ON", "PASSWORD", "ACCESS_POLICY"]) {
      for (const { id } of (await read(`/api/v1/policies?type=${type}`)) as { id: string }[]) {
        await read(`/api/v1/policies/${id}/rules`);
      }
    }
    for (const { id } of (await read("/api/v1/brands")) as { id: string }[]) {
      await read(`/api/v1/brands/${id}/pages/sign-in/default`);
      const customized = await get(`/api/v1/brands/${id}/pages/sign-in/customized`);
      const path = "/api/v1/brands/x/pages/sign-in/customized";
      if (customized.status === 200) samples.push(...samplesOf(path, await customized.json()));
    }
    for (const { id } of (await read("/api/v1/users")) as { id: string }[]) await read(`/api/v1/users/${id}/roles`);
    const paging = await get("/api/v1/zones?after=nonsense");
    samples.push({ kind: "error", value: await paging.json() });
  }
  return shapesOf(samples);
}
