import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fetch, Request } from "undici";
import { describe, expect, test } from "vitest";
import type { Fetch } from "../../scanner/okta/http_transport.ts";
import { scanPracticeOrg } from "../support/scan_practice_org.ts";
import { parseShapes, printShapes, recordedShapes, samplesOf, shapesOf, type Sample, type Shapes } from "./shapes.ts";
import { startOrg } from "./start_org.ts";

/** Which fields a real org's answers have; made from the recordings, and renewed from them by `vitest -u`. */
const fixture = join(import.meta.dirname, "recorded_shapes.txt");
const recordings = process.env["OKTA_RECORDED_DIR"];

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
  // Domains of a brand, with `expand=domains`.
  /^_embedded\b/,
  /^_links\.activate\b/,
  // Password policies have it; the sign-on policies were recorded in 2020.
  /^_links\.mappings\b/,
  /^actions\.appSignOn\.verificationMethod\.constraints\[\]\.possession\.phishingResistant$/,
  /^(conditions\.)?network\.include(\[\])?$/,
];

const compared = new Set<string>(kinds);
const kept = parseShapes(await readFile(fixture, "utf8"));
const fresh = recordings === undefined ? new Map<string, never>() : await recordedShapes(recordings);
const real: Shapes = new Map([...kept, ...fresh].filter(([kind]) => compared.has(kind)));
const ours = await practiceShapes();

test("The fixture agrees with the recordings", async () => {
  await expect(printShapes(real)).toMatchFileSnapshot(fixture);
});

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

/** The shapes of what a scan receives. */
async function practiceShapes(): Promise<Shapes> {
  const samples: Sample[] = [];
  const recording: Fetch = async (input, init) => {
    const response = await fetch(input, init);
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    samples.push(...samplesOf(pathname, response.status, await response.clone().json()));
    return response;
  };
  for (const name of ["typical", "compliant"] as const)
    await scanPracticeOrg(await startOrg({ profile: { name } }), { fetch: recording });
  return shapesOf(samples);
}
