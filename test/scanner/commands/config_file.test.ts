import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { UsageError } from "../../../shared/usage_error.ts";
import { createProgram } from "../../../program.ts";
import { defaultsMembers, organizationMembers } from "../../../scanner/commands/organizations/config_schema.ts";
import { parseConfigFile } from "../../../scanner/commands/organizations/read_config_file.ts";
import { inputsOfDefaults, inputsOfOrganization } from "../../../scanner/commands/organizations/scan_inputs.ts";

function problemOf(text: string): string {
  try {
    parseConfigFile(text, "scanstream.config.json");
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  return "none";
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

test("every option of scan that can be kept in a file is a member, and the other way round", () => {
  const scan = createProgram(() => Promise.resolve()).commands.find((command) => command.name() === "scan");
  const ofOneRun = ["config", "org", "parallel", "quiet", "sign", "verbose"];
  const options = new Set((scan?.options ?? []).map((option) => option.attributeName()));
  const members = organizationMembers.map((member) =>
    member.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
  );
  expect([...options].filter((name) => !members.includes(name)).toSorted()).toEqual(ofOneRun);
  // And who is scanned, which variables say otherwise.
  expect(members.filter((name) => !options.has(name))).toEqual([
    "name",
    "privateKeyEnv",
    "privateKeyId",
    "scopes",
    "scopePrefix",
    "approvedIssuers",
  ]);
  const named = organizationMembers.filter((_, at) => options.has(members[at] ?? ""));
  const given = Object.fromEntries(named.map((member) => [member, "x"]));
  const { flags } = inputsOfDefaults(given, { flags: {}, env: {} });
  const connection = ["orgUrl", "clientId", "privateKeyFile"];
  expect(Object.keys(flags).toSorted()).toEqual(
    [...options].filter((name) => ![...ofOneRun, ...connection].includes(name)).toSorted(),
  );
});

describe("parseConfigFile", () => {
  test("takes the example of docs/cli.md", async () => {
    const page = await readFile(join(import.meta.dirname, "../../../docs/cli.md"), "utf8");
    const { organizations, defaults } = parseConfigFile(/^```json\n(.*?)^```/ms.exec(page)?.[1] ?? "", "x.json");
    expect(organizations?.map(({ name }) => name)).toEqual(["acme", "acme-gov"]);
    // Each option that its text names is one of the schema, and the other way round.
    const [, members = ""] = /^- \*\*Members\.\*\* (.*?)(?=They stand)/ms.exec(page) ?? [];
    const named = [...members.matchAll(/`([a-z_]+)`/g)].flatMap(([, name = ""]) => (name === "scan" ? [] : name));
    expect(named.toSorted()).toEqual(defaultsMembers.toSorted());
    expect(defaults?.output).toBe("reports");
  });

  test("takes every option, and paths relative to the file's own folder", () => {
    const text = JSON.stringify({
      $schema: "./config.schema.json",
      parallel: 2,
      defaults: { format: ["table", "json"], output: "reports", fail_on: "fail:high", timeout: 20, stream: false },
      organizations: [{ ...anOrganization, waivers: "/etc/waivers.json", save_artifacts: "kept/acme.json" }],
    });
    expect(parseConfigFile(text, "conf/scanstream.config.json")).toMatchObject({
      defaults: { output: join("conf", "reports") },
      organizations: [
        {
          private_key_file: join("conf", "key.pem"),
          waivers: "/etc/waivers.json",
          save_artifacts: join("conf", "kept/acme.json"),
        },
      ],
    });
  });

  test.each<[string, string]>([
    ['{\n  "defaults": {\n    "format": json\n  }\n}', "it is not JSON: invalid symbol (line 3 column 15)"],
    ['{ "defaults": {', "it is not JSON: close brace expected (line 1 column 16)"],
    ["[]", "the file: expected an object"],
    ['{ "parallel": 1,\n "parallel": 2 }', 'the key "parallel" is given twice (line 2 column 2)'],
    [
      withOrganization({ org_ulr: "x" }),
      '/organizations/0/org_ulr (line 8 column 7): unknown key; did you mean "org_url"?',
    ],
    [
      '{ "defaults": { "fail-on": "fail" } }',
      '/defaults/fail-on (line 1 column 17): unknown key; did you mean "fail_on"?',
    ],
    ['{ "zzzzzzzz": 1 }', "unknown key; expected one of $schema, defaults, parallel, organizations"],
    ['{ "organizations": [{}] }', '/organizations/0 (line 1 column 21): "name" is required'],
    ['{ "defaults": { "timeout": "20" } }', "/defaults/timeout (line 1 column 17): expected a number of seconds"],
    [withOrganization({ name: "../up" }), "expected a name for a folder"],
    [withOrganization({ name: "summary.json" }), "expected a name for a folder"],
    ['{ "organizations": [] }', "expected at least one organization"],
    [withOrganization({ private_key_env: "not a name" }), "expected the name of a variable, such as ACME_PRIVATE_KEY"],
    [
      JSON.stringify({ organizations: [anOrganization, { ...anOrganization, name: "Acme" }] }),
      '/organizations/1/name: "Acme" is given twice',
    ],
  ])("refuses %s, and says where: %s", (text, problem) => {
    const message = problemOf(text);
    expect(message).toMatch(/^Cannot use --config "scanstream\.config\.json": /);
    expect(message).toContain(problem);
  });

  test.each<[string, object]>([
    ["/organizations/0/private_key", { private_key: "anything" }],
    ["/organizations/0/private_key/d", { private_key: { kty: "RSA", d: "-----BEGIN PRIVATE KEY-----" } }],
    ["/organizations/0/api_key", { api_key: "x" }],
    ["/organizations/0/scanstream_api_key", { scanstream_api_key: "x" }],
    ["/organizations/0/client_secret", { client_secret: "x" }],
    ["/organizations/0/private_key_file", { private_key_file: "-----BEGIN RSA PRIVATE KEY-----\nMIIE" }],
    ["/organizations/0/private_key_env", { private_key_env: "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0t" }],
    ["/organizations/0/client_id", { client_id: '{"kty":"EC","d":"abc"}' }],
    ["/organizations/0/scopes/1", { scopes: ["policies.read", `scs_0a1b2c3d_${"0".repeat(64)}`] }],
    ["/organizations/0/waivers", { waivers: "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln" }],
    ["/organizations/0/baseline", { baseline: `00${"a".repeat(40)}` }],
  ])("refuses a secret at %s, and does not repeat it", (pointer, changes) => {
    const message = problemOf(withOrganization(changes));
    expect(message).toContain(`${pointer}: this file must not contain a secret: expected private_key_file`);
    for (const value of Object.values(changes))
      if (typeof value === "string" && value !== "x") expect(message).not.toContain(value);
  });
});

describe("precedence", () => {
  const defaults = {
    org_url: "https://file.okta.com",
    private_key_file: "file.pem",
    format: ["table", "json"],
    fail_on: "fail:high",
    scopes: ["policies.read"],
  };

  test("an option wins over a variable, a variable over the file", () => {
    const env = { OKTA_ORG_URL: "https://variable.okta.com", IDP_CLIENT_ID: " " };
    const inputs = inputsOfDefaults({ ...defaults, client_id: "0oafile" }, { flags: { failOn: "never" }, env });
    expect(inputs.flags).toEqual({ format: "table,json", failOn: "never" });
    expect(inputs.env).toEqual({
      IDP_ORG_URL: "https://variable.okta.com",
      IDP_CLIENT_ID: "0oafile",
      IDP_PRIVATE_KEY_FILE: "file.pem",
      IDP_SCOPES: "policies.read",
    });
  });

  test("a key of a variable leaves none of the file's, which would win as content", () => {
    const env = { IDP_PRIVATE_KEY_FILE: "variable.pem", MY_KEY: "secret" };
    const inputs = inputsOfDefaults({ private_key_env: "MY_KEY", private_key_id: "of the file" }, { flags: {}, env });
    expect(inputs.env).toEqual(env);
  });

  test("an organization of the list wins over the variables that name one, and over the defaults", () => {
    const env = {
      IDP_ORG_URL: "https://variable.okta.com",
      IDP_PRIVATE_KEY: "of the variable",
      IDP_PRIVATE_KEY_ID: "of the variable",
      IDP_SCOPES: "apps.read",
      ACME_KEY: "of acme",
    };
    const organization = { org_url: "https://acme.okta.com", private_key_env: "ACME_KEY", fail_on: "manual" };
    const inputs = inputsOfOrganization(organization, defaults, { flags: { format: "csv" }, env });
    expect(inputs.flags).toEqual({ format: "csv", failOn: "manual" });
    expect(inputs.env).toEqual({
      ACME_KEY: "of acme",
      IDP_ORG_URL: "https://acme.okta.com",
      IDP_PRIVATE_KEY: "of acme",
      IDP_SCOPES: "apps.read",
    });
  });

  test("a key in a variable serves the organizations that name none", () => {
    const env = { IDP_PRIVATE_KEY: "shared", IDP_PRIVATE_KEY_ID: "1" };
    const inputs = inputsOfOrganization({ org_url: "https://acme.okta.com" }, {}, { flags: {}, env });
    expect(inputs.env).toEqual({ ...env, IDP_ORG_URL: "https://acme.okta.com" });
  });
});
