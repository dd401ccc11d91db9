import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { defaultScopes as requiredScopes } from "../../scanner/settings/values.ts";
import { launchChromium } from "../support/chromium.ts";
import { cleanUp, ownFolder } from "../support/clean_up.ts";
import { startOrg } from "../practice_org/start_org.ts";
import { callCommand } from "../support/called_command.ts";
import { builtPackage, startBinary } from "../support/command_line.ts";

const program = `${process.execPath} ${join(builtPackage, "scanstream.js")}`;

/** As a person runs it, on a terminal of 80 columns. */
function onTerminal(args: string, cwd: string) {
  return startBinary("/usr/bin/script", ["-qfec", `stty cols 80; ${program} ${args}`, "/dev/null"], { cwd });
}

test("setup, from the first click in the console to the first verdict", async () => {
  const folder = await ownFolder();
  const browser = await launchChromium();
  cleanUp(() => browser.close());
  const org = await startOrg({ role: "read-only", isFresh: true });
  // A click, or something that is pasted or typed.
  let actions = 0;
  const page = await browser.newPage();
  await page.goto(org.url);
  const press = async (name: string) => {
    actions += 1;
    await page.getByRole("button", { name, exact: true }).click();
  };
  const setup = onTerminal(`setup --org-url ${org.url}`, folder);
  const type = (text: string) => {
    actions += 1;
    setup.process.stdin?.write(`${text}\n`);
  };
  const [jwk = ""] = await setup.until("stdout", /\{"kty":"EC"[^\r\n]*\}/);
  await setup.until("stdout", /Client ID: $/);
  await press("Create the app");
  const shown = page.locator("#app-id");
  await expect.poll(() => shown.textContent()).toMatch(/^Client ID /);
  type((await shown.textContent())?.replace("Client ID ", "") ?? "");
  await setup.until("stdout", /✓ App \S+: found/);
  await setup.until("stdout", /Step 2 of 4/);
  actions += 1;
  await page.getByLabel("Public key (JWK)").fill(jwk);
  await press("Save the public key");
  await setup.until("stdout", /✓ Public key: saved/);
  for (const scope of requiredScopes) await press(`Grant okta.${scope}`);
  await setup.until("stdout", /✓ okta\.idps\.read/);
  await press("Assign Read-Only Administrator");
  await setup.until("stdout", /✓ Role: READ_ONLY_ADMIN/);
  await setup.until("stdout", /Run the first scan now\?/);
  type("");
  await setup.until("stdout", /\d+ of 29 rules failed/);
  // As its last line says: rules failed.
  expect((await setup.finished).code).toBe(1);
  // Okta grants scopes one by one: eleven of these are grants.
  expect(actions).toBeLessThanOrEqual(6 + requiredScopes.length);
  for (const line of setup.output.stdout.split(/\r?\n/))
    if (/^[✓○✗]|^ {2}\d\. |^Step/.test(line)) expect(line.length, line).toBeLessThanOrEqual(80);
  const key = join(folder, ".scanstream/keys", `127.0.0.1_${org.port}.pem`);
  expect((await stat(key)).mode & 0o777).toBe(0o600);
  expect((await stat(join(folder, ".scanstream/keys"))).mode & 0o777).toBe(0o700);
  expect(await readFile(join(folder, ".scanstream/.gitignore"), "utf8")).toBe("*\n");
  const config = await readFile(join(folder, "scanstream.config.json"), "utf8");
  expect(config).not.toMatch(/PRIVATE KEY|"d"/);
  expect(setup.output.stdout).not.toMatch(/PRIVATE KEY|"d":/);
  // Nothing was ever sent but reads and token requests.
  expect(org.requests.filter(({ method, path }) => method !== "GET" && !/^\/(?:oauth2|practice)\//.test(path))).toEqual(
    [],
  );
  const { code, stdout } = await callCommand(["doctor"], { cwd: folder });
  expect([code, stdout]).toEqual([0, expect.stringContaining("ok      role")]);
}, 180_000);

describe("what is not right is named", async () => {
  const folder = await ownFolder();
  const org = await startOrg({ role: "read-only", isFresh: true, isWritable: true });

  const setup = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    callCommand(["setup", "--yes", ...args], { cwd: folder, env });
  const toOrg = (clientId = org.clientId) => ["--org-url", org.url, "--client-id", clientId];

  beforeAll(async () => {
    const first = await setup(["--org-url", org.url]);
    expect(first).toMatchObject({ code: 2, stderr: expect.stringContaining("○ No Client ID yet") });
    expect(first.stdout.trim().split("\n")).toHaveLength(1);
    expect(JSON.parse(first.stdout)).toMatchObject({ kty: "EC", crv: "P-256", use: "sig", alg: "ES256" });
    // Names only: `practice-org change` finds the org and the key of this folder.
    await writeFile(join(folder, "pub.jwk"), first.stdout);
    const change = (...names: readonly string[]) =>
      callCommand(["practice-org", "change", "--port", new URL(org.url).port, ...names], { cwd: folder });
    expect((await change("app-created")).stdout).toBe(`${org.clientId}\n`);
    const scopes = [...requiredScopes, "logs.read", "orgs.read"].map((scope) => `scope-granted:${scope}`);
    expect((await change("key-saved")).code).toBe(0);
    expect(await setup(toOrg())).toMatchObject({ code: 2, stderr: expect.stringContaining(`✓ App ${org.clientId}`) });
    expect((await change(...scopes, "role-assigned")).code).toBe(0);
    expect(await setup(["--org-url", org.url])).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("✓ Role: READ_ONLY_ADMIN"),
    });
  }, 60_000);

  test.each([
    ["key-inactive", "key-active", 2, /○ The app \S+ does not accept the key\. .*see that the key is Active/],
    ["scope-revoked:apps.read", "scope-granted:apps.read", 2, /○ okta\.apps\.read: not granted to the app/],
    ["role-removed", "role-assigned", 2, /○ The app \S+ has no admin role\./],
    ["public-client-on", "public-client-off", 0, /○ Public client app admins is on: .*Turn off Settings → Account/],
    ["clock-off", "clock-right", 2, /✗ This machine's clock is (?:299|300|301) s behind the organization's\./],
    [
      "scope-revoked:logs.read",
      "scope-granted:logs.read",
      0,
      /○ The System Log cannot be seen without okta\.logs\.read/,
    ],
  ])("%s", async (name, back, expected, says) => {
    org.change(name);
    const { code, stderr } = await setup(toOrg());
    org.change(back);
    expect(stderr.replaceAll(/\n(?=\S)/g, " ")).toMatch(says);
    expect(code).toBe(expected);
  });

  test("the key in another app, an unknown Client ID, a wrong address, a dead proxy", async () => {
    const terraform = org.terraform?.clientId ?? "";
    const elsewhere = await setup(toOrg(terraform));
    expect(elsewhere.stderr.replaceAll("\n", " ")).toContain(`Paste the line above into this app, not another one`);
    expect((await setup(toOrg("0oaNobody"))).stderr.replaceAll("\n", " ")).toContain(
      "✗ This org has no active API Services app with the Client ID 0oaNobody.",
    );
    const none = await setup(["--org-url", "http://127.0.0.1:1"]);
    expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining("✗ ") });
    const proxied = await setup(["--org-url", "acme.okta.com"], { https_proxy: "http://127.0.0.1:1" });
    expect([proxied.code, proxied.stderr.replaceAll("\n", " ")]).toEqual([2, expect.stringMatching(/✗ .*proxy/i)]);
    expect(await setup(["--org-url", "https://acme.okta.com/admin"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("has a path"),
    });
  });

  test("Ctrl-C in the middle is 130, and the next run goes on where it stopped", async () => {
    org.change("role-removed");
    const own = await ownFolder();
    const first = onTerminal(`setup --org-url ${org.url}`, own);
    const [jwk = ""] = await first.until("stdout", /\{"kty":"EC"[^\r\n]*\}/);
    await first.until("stdout", /Client ID: $/);
    first.process.stdin?.write(`${org.clientId}\n`);
    await first.until("stdout", /Step 2 of 4/);
    first.process.stdin?.write("\u0003");
    const { code, stdout } = await first.finished;
    expect([code, stdout.replaceAll(/\r?\n/g, " ")]).toEqual([130, expect.stringContaining("to continue.")]);
    org.change("key-saved", undefined, jwk);
    const second = onTerminal(`setup --org-url ${org.url}`, own);
    await second.until("stdout", /✓ Public key: saved/);
    expect(second.output.stdout).toContain("Using the key");
    expect(second.output.stdout).not.toContain("Client ID: ");
    org.change("role-assigned");
    await second.until("stdout", /Run the first scan now\?/);
    second.process.stdin?.write("n\n");
    expect((await second.finished).code).toBe(0);
  }, 60_000);
});
