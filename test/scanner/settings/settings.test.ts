import { generateKeyPairSync } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Environment } from "../../../command_line/command_io.ts";
import { parseFailOn } from "../../../scanner/decisions/fail_on.ts";
import { readConnectedSettings, readSettings, type Flags } from "../../../scanner/settings/read_settings.ts";
import type { CommandName } from "../../../scanner/settings/setting.ts";
import { defaultScopes } from "../../../scanner/settings/values.ts";
import { UsageError } from "../../../shared/usage_error.ts";
import { ownFolder } from "../../support/clean_up.ts";
import { thrownBy } from "../../support/errors.ts";

const newKey = (namedCurve = "P-256") =>
  generateKeyPairSync("ec", { namedCurve }).privateKey.export({ type: "pkcs8", format: "pem" }).toString();
const whole = { IDP_ORG_URL: "https://acme.okta.com", IDP_CLIENT_ID: "0oa1b2c3", IDP_PRIVATE_KEY: newKey() };

function connectionOf(flags: Flags, env: Environment) {
  return readConnectedSettings({ command: "scan", flags, env }).connection;
}

const directory = await ownFolder();
await writeFile(join(directory, "key.pem"), newKey("P-384"));
await writeFile(join(directory, "note.txt"), "hunter2-hunter2");

test("an error names everything that is wrong, in one message and without a value", () => {
  const env = {
    IDP_ORG_URL: "https://acme-secret okta.com",
    IDP_CLIENT_ID: "has blanks-secret",
    IDP_PRIVATE_KEY: "hunter2-secret-hunter2",
    IDP_SCOPES: "policies.manage-secret",
    IDP_SCOPE_PREFIX: "secret",
    HTTPS_PROXY: "::secret::",
  };
  const { problems, message } = failure({ concurrency: "secret", timeout: "secret" }, env);
  expect(problems.map(nameOf).toSorted().join(" ")).toBe(
    "--concurrency --timeout HTTPS_PROXY IDP_CLIENT_ID IDP_ORG_URL IDP_PRIVATE_KEY IDP_SCOPES IDP_SCOPE_PREFIX",
  );
  expect(message).not.toContain("secret");
});

test("an empty variable counts as unset", () => {
  const { problems } = failure(
    {},
    { IDP_ORG_URL: "", IDP_CLIENT_ID: "  ", IDP_PRIVATE_KEY: "", IDP_PRIVATE_KEY_FILE: "" },
  );
  expect(problems.map((problem) => problem.includes(" is not set: "))).toEqual([true, true, true]);
  expect(
    connectionOf({}, { ...whole, IDP_SCOPES: " ", IDP_SCOPE_PREFIX: "", IDP_PRIVATE_KEY_ID: "", HTTPS_PROXY: "" })
      .scopes,
  ).toBe(defaultScopes);
});

test("a flag wins over its variable", () => {
  const flags = { orgUrl: "https://flag.okta.com", clientId: "0oaflag", privateKeyFile: join(directory, "key.pem") };
  expect(connectionOf(flags, whole)).toMatchObject({
    orgUrl: "https://flag.okta.com",
    clientId: "0oaflag",
    key: { alg: "ES384" },
  });
  expect(failure({ ...flags, orgUrl: "" }, whole).problems).toEqual([expect.stringContaining("--org-url is ")]);
});

test.each([
  ["https://acme.okta.com", "https://acme.okta.com"],
  ["acme.okta.com", "https://acme.okta.com"],
  [" https://ACME.okta.com:443 ", "https://acme.okta.com"],
  ["https://acme-admin.okta.com/admin/apps/active?x=1#y", "https://acme.okta.com"],
  ["http://127.0.0.1:8080", "http://127.0.0.1:8080"],
])("IDP_ORG_URL may be %s", (given, orgUrl) => {
  expect(connectionOf({}, { ...whole, IDP_ORG_URL: given }).orgUrl).toBe(orgUrl);
});

test.each([
  ["http://acme.okta.com", "http:// only for loopback"],
  ["ftp://acme.okta.com", "not https://"],
  ["https://me:pw@acme.okta.com", "user name or password"],
  ["https://acme.okta.com/admin/dashboard", "path, query or fragment"],
  ["https://acme.okta.com?x=1", "path, query or fragment"],
  ["acme.okta.com/login", "path, query or fragment"],
])("IDP_ORG_URL may not be %s", (given, text) => {
  const { problems } = failure({}, { ...whole, IDP_ORG_URL: given });
  expect(problems).toEqual([expect.stringMatching(/^IDP_ORG_URL (is|has|holds) /)]);
  expect(problems[0]).toContain(text);
});

test.each([
  ["missing.pem", "no such file"],
  ["note.txt", "neither PEM nor JSON"],
])("reports a key file that is %s", (name, text) => {
  const { problems, message } = failure(
    {},
    { ...whole, IDP_PRIVATE_KEY: "", IDP_PRIVATE_KEY_FILE: join(directory, name) },
  );
  expect(problems).toEqual([expect.stringMatching(/^IDP_PRIVATE_KEY_FILE (is|names) /)]);
  expect(problems[0]).toContain(text);
  expect(message).not.toContain("hunter2");
});

test("HTTPS_PROXY and NO_PROXY are read in either case, without a scheme too", () => {
  const proxyOf = (env: Environment) => connectionOf({}, { ...whole, ...env }).proxy;
  expect(proxyOf({ HTTPS_PROXY: "http://me:pw@proxy:3128", NO_PROXY: ".local" })).toEqual({
    httpsProxy: "http://me:pw@proxy:3128/",
    noProxy: ".local",
  });
  expect(proxyOf({ https_proxy: "proxy:3128", no_proxy: "a,b" })).toEqual({
    httpsProxy: "http://proxy:3128/",
    noProxy: "a,b",
  });
  expect(proxyOf({ https_proxy: "lower:1", HTTPS_PROXY: "upper:2" }).httpsProxy).toBe("http://lower:1/");
  expect(proxyOf({ HTTPS_PROXY: "http://me:50%off%40@proxy" }).httpsProxy).toBe("http://me:50%25off%40@proxy/");
  for (const HTTPS_PROXY of ["socks5://me:hunter2@proxy", "me:hunter2/x@proxy", "http://me:12#hunter2@proxy"])
    expect(failure({}, { ...whole, HTTPS_PROXY }).message).not.toContain("hunter2");
});

function failure(flags: Flags, env: Environment): UsageError {
  return thrownBy(UsageError, () => connectionOf(flags, env));
}

function nameOf(problem: string): string {
  return /^[\w-]+/.exec(problem)?.[0] ?? "";
}

describe("Okta's own names of the variables", () => {
  const { IDP_ORG_URL: url, IDP_CLIENT_ID: id, IDP_PRIVATE_KEY: key } = whole;

  test.each([
    { OKTA_ORG_URL: url, OKTA_CLIENT_ID: id, OKTA_PRIVATE_KEY: key },
    { OKTA_CLIENT_ORGURL: "acme.okta.com", OKTA_CLIENT_CLIENTID: id, OKTA_CLIENT_PRIVATEKEY: key },
    {
      IDP_ORG_URL: url,
      OKTA_ORG_URL: "ACME.okta.com/",
      OKTA_CLIENT_ID: id,
      OKTA_PRIVATE_KEY: key,
      IDP_PRIVATE_KEY_FILE: "no",
    },
  ])("%j", (env) => {
    expect(connectionOf({}, env)).toMatchObject({ orgUrl: "https://acme.okta.com", clientId: "0oa1b2c3" });
  });

  test("two values for one setting are an error that names both, unless an option decides", () => {
    const env = { ...whole, OKTA_ORG_URL: "https://globex.okta.com" };
    expect(failure({}, env).problems).toEqual([
      "IDP_ORG_URL and OKTA_ORG_URL have two values: expected one of them, or the same value in both",
    ]);
    expect(connectionOf({ orgUrl: "initech.okta.com" }, env).orgUrl).toBe("https://initech.okta.com");
    const scopes = { IDP_SCOPES: "policies.read,apps.read", OKTA_SCOPES: "okta.apps.read okta.policies.read" };
    expect(connectionOf({}, { ...whole, ...scopes }).scopes).toEqual(["policies.read", "apps.read"]);
  });

  test("an API token is no key, and the message says why", () => {
    const { problems } = failure({}, { IDP_ORG_URL: url, IDP_CLIENT_ID: id, OKTA_API_TOKEN: "00secret" });
    expect(problems[0]).toMatch(/^OKTA_API_TOKEN is not used, because an API token has every right/);
    expect(problems.join()).not.toContain("00secret");
  });
});

const defaults = {
  place: "x.json: defaults",
  members: { org_url: "file.okta.com", fail_on: "fail:high", check: ["V-1", "V-2"] },
};

describe("precedence", () => {
  const variables = { ...whole, IDP_ORG_URL: "variable.okta.com", IDP_CLIENT_ID: "0oavariable" };

  const withDefaults = (flags: Flags, env: Environment, members: Readonly<Record<string, string>> = {}) =>
    readConnectedSettings({
      command: "scan",
      flags,
      env,
      file: [{ place: defaults.place, members: { ...defaults.members, ...members } }],
    });

  test("an option wins over a variable, a variable over the file, the file over the default", () => {
    const settings = withDefaults({ failOn: "never" }, { ...variables, IDP_CLIENT_ID: " " }, { client_id: "0oafile" });
    expect(settings).toMatchObject({
      failOn: { text: "never" },
      check: ["V-1", "V-2"],
      format: ["table"],
      connection: { orgUrl: "https://variable.okta.com", clientId: "0oafile" },
    });
    const names = (["failOn", "check", "orgUrl", "clientId", "exclude"] as const).map(settings.nameOf);
    expect(names).toEqual([
      "--fail-on",
      "x.json: defaults: check",
      "IDP_ORG_URL",
      "x.json: defaults: client_id",
      "--exclude",
    ]);
  });

  test("a key of a variable leaves none of the file's, nor its id", () => {
    const members = { private_key_env: "MY_KEY", private_key_id: "of the file" };
    const { connection } = withDefaults({}, { ...variables, MY_KEY: newKey() }, members);
    expect(connection.key.kid).toBeNull();
  });

  const organization = (members: object, env: Environment, flags: Flags = {}, isOneOfSeveral = false) =>
    readConnectedSettings({
      command: "scan",
      flags,
      env,
      organization: "acme",
      isOneOfSeveral,
      file: [{ place: "x.json: organization acme", members: { org_url: "acme.okta.com", ...members } }, defaults],
    });

  test("an organization of the list wins over the variables that name one, and over the defaults", () => {
    const env = { ...variables, IDP_PRIVATE_KEY_ID: "of the variable", IDP_SCOPES: "apps.read", ACME_KEY: newKey() };
    const own = { client_id: "0oaacme", private_key_env: "ACME_KEY", private_key_id: "acme", fail_on: "manual" };
    const settings = organization(own, env, { format: "csv", output: "reports" });
    expect(settings).toMatchObject({
      failOn: { text: "manual" },
      format: ["csv"],
      output: { option: "--output", file: "reports" },
      connection: { orgUrl: "https://acme.okta.com", clientId: "0oaacme", key: { kid: "acme" }, scopes: ["apps.read"] },
    });
  });

  test("a folder that several share has one for each; the flag of one organization names its own", () => {
    const own = { client_id: "0oaacme", private_key_env: "ACME_KEY" };
    const folders = [true, false].map((isOneOfSeveral) =>
      organization(own, { ACME_KEY: newKey() }, { output: "reports" }, isOneOfSeveral),
    );
    expect(folders.map(({ output }) => output?.file)).toEqual(["reports/acme", "reports"]);
  });

  test("every error names the flag, the variable or the place in the file that has the value", () => {
    const env = { ...variables, IDP_SCOPES: "nonsense", IDP_PRIVATE_KEY: "" };
    const read = () => organization({ client_id: "a b", private_key_env: "GONE", check: "" }, env, { timeout: "x" });
    expect(read).toThrow(
      /^x\.json: organization acme: client_id is not .*\n--timeout: expected .*\nIDP_SCOPES holds .*\nx\.json: organization acme: check: expected .*\nx\.json: organization acme: private_key_env: the variable GONE is not set/s,
    );
  });
});

describe("values", () => {
  const read = (command: CommandName, flags: Flags) => readSettings({ command, flags, env: {} });

  test.each<readonly [CommandName, Flags, object]>([
    ["follow", {}, { intervalMs: 10_000, reconcileMs: 21_600_000, lineFormat: "table" }],
    ["follow", { reconcile: "0.001" }, { reconcileMs: 3600 }],
    [
      "follow",
      { failOn: "manual", stream: true },
      { failOn: { text: "fail" }, endOn: parseFailOn("manual"), isStreamed: true },
    ],
    [
      "scan",
      { severity: "CAT I, low", status: "fail,n/a" },
      { severity: ["high", "low"], status: ["fail", "not_applicable"] },
    ],
  ])("%s takes %j", (command, flags, expected) => {
    expect(read(command, flags)).toMatchObject(expected);
  });

  test.each<readonly [CommandName, Flags, RegExp]>([
    ["follow", { interval: "1.999" }, /^--interval: expected a number of seconds from 2 to 3600/],
    ["follow", { format: "json" }, /^--format "json": expected table or ndjson/],
    ["scan", { format: "jsn" }, /^--format "jsn": unknown format "jsn" \(did you mean json\?\)/],
    ["scan", { severity: "worst" }, /^--severity "worst": expected one or more of high/],
    ["scan", { output: "" }, /^--output: expected a directory/],
  ])("%s refuses %j", (command, flags, message) => {
    expect(() => read(command, flags)).toThrow(message);
  });
});
