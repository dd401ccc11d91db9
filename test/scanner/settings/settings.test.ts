import { generateKeyPairSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Environment } from "../../../command_line/command_io.ts";
import { parseFailOn } from "../../../scanner/decisions/fail_on.ts";
import { readConnectedSettings, readSettings, type Flags } from "../../../scanner/settings/read_settings.ts";
import type { CommandName } from "../../../scanner/settings/setting.ts";

const newKey = () =>
  generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" }).toString();
const defaults = {
  place: "x.json: defaults",
  members: { org_url: "file.okta.com", fail_on: "fail:high", check: ["V-1", "V-2"] },
};
const whole = { IDP_ORG_URL: "variable.okta.com", IDP_CLIENT_ID: "0oavariable", IDP_PRIVATE_KEY: newKey() };

describe("precedence", () => {
  const withDefaults = (flags: Flags, env: Environment, members: object = {}) =>
    readConnectedSettings({
      command: "scan",
      flags,
      env,
      file: [{ place: defaults.place, members: { ...defaults.members, ...members } }],
    });

  test("an option wins over a variable, a variable over the file, the file over the default", () => {
    const settings = withDefaults({ failOn: "never" }, { ...whole, IDP_CLIENT_ID: " " }, { client_id: "0oafile" });
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
    const { connection } = withDefaults({}, { ...whole, MY_KEY: newKey() }, members);
    expect(connection.key.kid).toBeNull();
  });

  const organization = (members: object, env: Environment, flags: Flags = {}) =>
    readConnectedSettings({
      command: "scan",
      flags,
      env,
      organization: "acme",
      file: [{ place: "x.json: organization acme", members: { org_url: "acme.okta.com", ...members } }, defaults],
    });

  test("an organization of the list wins over the variables that name one, and over the defaults", () => {
    const env = { ...whole, IDP_PRIVATE_KEY_ID: "of the variable", IDP_SCOPES: "apps.read", ACME_KEY: newKey() };
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
    const given = (flags: Flags, isOneOfSeveral: boolean, output?: string) =>
      readConnectedSettings({
        command: "scan",
        flags,
        env: { ACME_KEY: newKey() },
        organization: "acme",
        isOneOfSeveral,
        file: [
          { place: "x.json: organization acme", members: { org_url: "acme.okta.com", ...own } },
          { place: "x.json: defaults", members: output === undefined ? {} : { output } },
        ],
      }).output?.file;
    expect(given({ output: "reports" }, true)).toBe("reports/acme");
    expect(given({ output: "reports" }, false)).toBe("reports");
    expect(given({}, false, "reports")).toBe("reports/acme");
  });

  test("every error names the flag, the variable or the place in the file that has the value", () => {
    const env = { ...whole, IDP_SCOPES: "nonsense", IDP_PRIVATE_KEY: "" };
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
    ["follow", { failOn: "manual" }, { endOn: { text: "manual", conditions: parseFailOn("manual") } }],
    ["follow", { failOn: "manual", stream: true }, { failOn: { text: "fail" }, isStreamed: true }],
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
    ["follow", { reconcile: "0.0009" }, /--reconcile/],
    ["follow", { format: "json" }, /^--format "json": expected table or ndjson/],
    ["scan", { format: "jsn" }, /^--format "jsn": unknown format "jsn" \(did you mean json\?\)/],
    ["scan", { severity: "worst" }, /^--severity "worst": expected one or more of high/],
    ["scan", { output: "" }, /^--output: expected a directory/],
  ])("%s refuses %j", (command, flags, message) => {
    expect(() => read(command, flags)).toThrow(message);
  });
});
