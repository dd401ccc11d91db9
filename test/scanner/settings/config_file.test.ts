import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import configSchema from "../../../shared/config.schema.json" with { type: "json" };
import { UsageError } from "../../../shared/usage_error.ts";
import { thrownBy } from "../../support/errors.ts";
import { parseConfigFile } from "../../../scanner/settings/config_file.ts";

function problemOf(text: string): string {
  return thrownBy(UsageError, () => parseConfigFile(text, "scanstream.config.json")).message;
}

const anOrganization = {
  name: "acme",
  org_url: "https://acme.okta.com",
  client_id: "0oa1",
  private_key_file: "key.pem",
};

function withOrganization(changes: object): string {
  return JSON.stringify({ organizations: [{ ...anOrganization, ...changes }] }, null, 2);
}

test("the schema says what false means for a switch that is on by default", () => {
  expect(configSchema.properties.defaults.properties.stream.description).toMatch(/^false: do not /);
});

describe("parseConfigFile", () => {
  test("takes the example of docs/quickstart.md", async () => {
    const page = await readFile(join(import.meta.dirname, "../../../docs/quickstart.md"), "utf8");
    const { organizations, defaults } = parseConfigFile(/^```json\n(.*?)^```/ms.exec(page)?.[1] ?? "", "x.json");
    expect(organizations?.map(({ name }) => name)).toEqual(["acme", "acme-gov"]);
    expect(defaults["output"]).toBe("reports");
  });

  test("takes every option, and paths relative to the file's own folder", () => {
    const text = JSON.stringify({
      $schema: "./config.schema.json",
      parallel: 2,
      defaults: { format: ["table", "json"], output: "reports", fail_on: "fail:high", timeout: 20, stream: false },
      organizations: [{ ...anOrganization, decisions: "/etc/waivers.json", save_artifacts: "kept/acme.json" }],
    });
    expect(parseConfigFile(text, "conf/scanstream.config.json")).toMatchObject({
      defaults: { output: join("conf", "reports") },
      organizations: [
        {
          private_key_file: join("conf", "key.pem"),
          decisions: "/etc/waivers.json",
          save_artifacts: join("conf", "kept/acme.json"),
        },
      ],
    });
  });

  test.each<[string, string]>([
    ['{\n  "defaults": {\n    "format": json\n  }\n}', "it is not JSON (line 3 column 15)"],
    ['{ "defaults": {', "the file is cut short"],
    ["[]", "the file: expected an object"],
    ['{ "parallel": 1,\n "parallel": 2 }', 'the key "parallel" is given twice (line 2 column 2)'],
    [withOrganization({ org_ulr: "x" }), 'line 8: /organizations/0/org_ulr: unknown key; did you mean "org_url"?'],
    ['{ "defaults": { "fail-on": "fail" } }', 'line 1: /defaults/fail-on: unknown key; did you mean "fail_on"?'],
    ['{ "organizations": [{}] }', 'line 1: /organizations/0: "name" is required'],
    ['{ "defaults": { "timeout": "20" } }', "line 1: /defaults/timeout: expected a number"],
    [withOrganization({ name: "../up" }), "expected a name for a folder"],
    ['{ "organizations": [] }', "expected at least one organization"],
    [
      JSON.stringify({ organizations: [anOrganization, { ...anOrganization, name: "Acme" }] }),
      '/organizations/1/name: "Acme" is given twice',
    ],
  ])("refuses %s, and says where: %s", (text, problem) => {
    expect(problemOf(text)).toContain(problem);
  });

  test.each<[string, object]>([
    ["/organizations/0/private_key", { private_key: "anything" }],
    ["/organizations/0/scanstream_api_key", { scanstream_api_key: "x" }],
    ["/organizations/0/private_key_file", { private_key_file: "-----BEGIN RSA PRIVATE KEY-----\nMIIE" }],
    ["/organizations/0/private_key_env", { private_key_env: "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0t" }],
    ["/organizations/0/client_id", { client_id: '{"kty":"EC","d":"abc"}' }],
    ["/organizations/0/scopes/1", { scopes: ["policies.read", `scs_0a1b2c3d_${"0".repeat(64)}`] }],
    ["/organizations/0/baseline", { baseline: `00${"a".repeat(40)}` }],
    ["/organizations/0/timeout", { timeout: "SSWS 00abc" }],
    ["/organizations/0/login", { login: { password: "hunter2" } }],
    ["/organizations/0/token", { keep: "x", token: "abc1" }],
  ])("refuses a secret at %s, and does not repeat it", (pointer, changes) => {
    const message = problemOf(withOrganization(changes));
    // Before every other problem, of which only some are shown.
    expect(message).toMatch(/^line \d+: \S+: this file must not contain a secret: expected private_key_file/);
    expect(message).toContain(`${pointer}: this file must not contain a secret`);
    for (const value of Object.values(changes))
      if (typeof value === "string" && value !== "x") expect(message).not.toContain(value);
  });
});
