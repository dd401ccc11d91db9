import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import orgPolicyJsonSchema from "../../../shared/org_policy.schema.json" with { type: "json" };
import type { JsonObject } from "../../../shared/json.ts";
import { parseOrgPolicy } from "../../../scanner/org_policy/read_org_policy.ts";
import { examineOrgPolicy } from "../../../scanner/org_policy/examine.ts";
import { aDocument } from "../../support/org_policy_builder.ts";
import { obtained } from "../../../scanner/evidence/artifacts.ts";

const token = { token: "SIEM", owner: "siem@acme.example", roles: [], zones: ["Office"], purpose: "reads the log" };
const office = { zones_allowed: ["Office"] };
const sha256 = "ab".repeat(32);

const parse = (more: object) => parseOrgPolicy(JSON.stringify({ ...aDocument, ...more }, null, 2));

test.each<[what: string, more: object, problem: RegExp]>([
  ["is not signed", { approved_by: "" }, /approved_by is empty: a person/],
  ["has another format", { format: "scanstream.org_policy/2" }, /line 2: format: expected "scanstream.org_policy\/1"/],
  ["has an unknown member", { app: [] }, /line 8: app: there is no member of this name: expected .*apps/],
  ["has a path in its address", { org_url: "https://acme.okta.com/admin" }, /org_url: expected the address of an org/],
  ["has a day that is none", { expires: "2027-02-30" }, /expires: expected a day like/],
  ["ends before it begins", { expires: "2026-10-01" }, /expires \(2026-10-01\) is before approved_on \(2026-11-01\)/],
  [
    "allows and denies one zone",
    { apps: [{ app: "*", zones_allowed: ["Office"], zones_denied: ["Office"] }] },
    /apps\[0\]: expected each zone in zones_allowed or in zones_denied, and not in both/,
  ],
  ["names a token twice", { api_tokens: [token, token] }, /api_tokens\[1\]: stands twice/],
  [
    "names a zone twice",
    { apps: [{ app: "A", zones_allowed: ["Office", "Office"] }] },
    /zones_allowed\[1\]: expected each zone once/,
  ],
  ["has an entry without a zone", { apps: [{ app: "A" }] }, /apps\[0\]: expected zones_allowed or zones_denied/],
  ["has an app and a policy", { apps: [{ app: "A", policy: "B", ...office }] }, /apps\[0\]: expected app or policy/],
  ["has every policy of apps", { apps: [{ policy: "*", ...office }] }, /apps\[0\]: expected "app": "\*"/],
  ["has no purpose", { api_tokens: [{ ...token, purpose: " " }] }, /api_tokens\[0\]\.purpose: expected a text/],
  [
    "has a range that is none",
    { anonymizers: { ranges: ["10.0.0.0/33"], source: "s", date: "2026-10-01" } },
    /anonymizers.*192\.0\.2\.0\/24/,
  ],
  [
    "has a short fingerprint",
    { certificate_authorities: [{ sha256: "ab".repeat(20), name: "CA" }] },
    /sha256: expected 64 hexadecimal digits/,
  ],
  [
    "has one fingerprint in two spellings",
    { certificate_authorities: [sha256, sha256.toUpperCase()].map((text) => ({ sha256: text, name: "CA" })) },
    /certificate_authorities\[1\]: stands twice/,
  ],
  [
    "has a limit that is none",
    { limits: { global_session_idle_minutes: 0 } },
    /limits\.global_session_idle_minutes: expected a whole number of minutes/,
  ],
])("a document that %s is refused, with the place", (_, more, problem) => {
  expect(() => parse(more)).toThrow(problem);
});

test("the schema for editors takes a fingerprint as OpenSSL prints it, as the program does", () => {
  const authority = { sha256: sha256.toUpperCase().replaceAll(/..(?=.)/g, "$&:"), name: "CA" };
  const document = parse({ certificate_authorities: [authority] });
  expect(new Ajv2020({ strict: false }).validate(orgPolicyJsonSchema, document)).toBe(true);
});

// The time is that of minutes of work, were each absent name compared with each of the org.
test("check names thousands of absent apps, and advises on the first", { timeout: 30_000 }, () => {
  const names = (word: string) => Array.from({ length: 2000 }, (_, index) => `${word} ${index} of the directory`);
  const policy = parse({ apps: names("The portal").map((app) => ({ app, ...office })) });
  const apps: JsonObject[] = names("Our portal").map((label, index) => ({ id: `0oa${index}`, label }));
  const absentIn = (listed: readonly JsonObject[]) => {
    const { lines } = examineOrgPolicy(policy, "2026-11-28T12:00:00.000Z", { apps: obtained(listed) });
    return lines.filter((line) => line.startsWith("The org has no app"));
  };
  expect(absentIn(apps), "a role that sees no app of Okta's own sees a part").toEqual([]);
  const absent = absentIn([...apps, { name: "saasure" }, { name: "okta_enduser" }]);
  expect([absent.length, absent.filter((line) => line.includes("did you mean")).length]).toEqual([2000, 10]);
});

test("check says what is covered, when it ends, and what the org does not have", () => {
  const policy = parse({
    session_policies: [{ policy: "Default Policy", zones_allowed: ["Ofice"] }],
    api_tokens: [token, { ...token, token: "*" }],
  });
  const at = (day: string) => examineOrgPolicy(policy, `${day}T12:00:00.000Z`, null);
  expect(at("2026-11-28").lines[0]).toBe(
    '"AC policy for Okta, v3" (approved by Jane Roe on 2026-11-01) for https://acme.okta.com, in force until 2027-11-01',
  );
  const days = ["2026-10-31", "2026-11-28", "2027-11-02"];
  expect(days.map((day) => at(day).isFine)).toEqual([false, true, false]);
  expect(at("2026-11-28").lines).toContain("V-279689, V-279690: 2 API tokens");
  expect(at("2026-11-28").lines).toContain("V-279693: not covered, the STIG alone decides");
  const zone = (name: string) => ({ id: name, name });
  const ofApps = parse({ apps: [{ app: "*", zones_denied: ["Bad guys"] }] });
  const blocklist = { ...zone("Bad guys"), status: "ACTIVE", usage: "BLOCKLIST" };
  expect(
    examineOrgPolicy(ofApps, "2026-11-28T12:00:00.000Z", { network_zones: obtained([blocklist]) }).lines.at(-1),
  ).toMatch(/^The document decides nothing by a zone: the zone "Bad guys" is a blocklist/);
  const { lines, isFine } = examineOrgPolicy(policy, "2026-11-28T12:00:00.000Z", {
    network_zones: obtained([zone("Office"), zone("Branch")]),
    api_tokens: obtained([]),
  });
  const [siem, star] = [zone("SIEM"), zone("*")];
  expect(isFine).toBe(false);
  expect(lines).toContain('The org has no zone "Ofice": did you mean "Office"?');
  expect(lines).toContain('The org has no API token "SIEM"');
  expect(lines).toContain('The org has no API token "*"');
  const twins = examineOrgPolicy(policy, "2026-11-28T12:00:00.000Z", { api_tokens: obtained([siem, siem, star]) });
  expect(twins.lines.slice(-1)).toEqual(['The org has more than one API token "SIEM": the document decides nothing']);
});

test("check says what limits change, and what the STIG refuses of a token", () => {
  const limits = { password_lockout_attempts: 2, approved_issuers: ["OU=ECA"] };
  const refused = { ...token, zones: [], roles: ["Super Administrator"] };
  const { lines, isFine } = examineOrgPolicy(parse({ limits, api_tokens: [refused] }), "2026-11-28T12:00:00Z", null);
  expect(isFine).toBe(true);
  expect(lines).toContain("V-273189: password_lockout_attempts 2 attempts (STIG: 3, so this is stricter)");
  expect(lines.filter((line) => /^V-273(188|189|207).*not covered/.test(line))).toEqual([]);
  expect(lines.slice(-2)).toEqual([
    'The API token "SIEM" decides nothing for V-279689: it has no zone',
    'The API token "SIEM" decides nothing for V-279690: Super Administrator',
  ]);
});
