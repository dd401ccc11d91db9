import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import type { WebTenant } from "../support/web_gateway.ts";
import { openPage, openStage, signIn } from "./watched_page.ts";

const { browser, gateway } = await openStage();

const self = "member@acme.test";
/** A tenant whose member is an admin, and the page signed in as that one. */
async function adminTenant(): Promise<WebTenant> {
  const tenant = await gateway.createTenant("Acme");
  await gateway.addMember(tenant, self, "admin");
  return tenant;
}

async function openSettings(page: Page, credential: string, section: string): Promise<void> {
  await signIn(page, credential);
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: section }).click();
  await page.getByRole("heading", { level: 2, name: section }).waitFor();
}

async function rest(tenant: WebTenant, path: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const headers = { authorization: `Api-Key ${tenant.apiKey}` };
  const answer = await fetch(`${gateway.url}/api/v1/${path}`, { headers });
  return ((await answer.json()) as { readonly items: readonly Readonly<Record<string, unknown>>[] }).items;
}

const rowOf = (page: Page, text: string) => page.locator(".settings-row", { hasText: text });

test("members: an admin adds, changes and removes one, and cannot lock themselves out", async () => {
  const tenant = await adminTenant();
  await using watched = await openPage(browser, gateway.url);
  const { page } = watched;
  await openSettings(page, tenant.accessToken, "Members");
  await page.getByLabel("Subject").fill("auth0|ann");
  await page.getByRole("button", { name: "Add member" }).click();
  await page.getByText("Added auth0|ann as operator").waitFor();
  await page.getByLabel("Role of auth0|ann").selectOption("viewer");
  await rowOf(page, "auth0|ann").getByRole("button", { name: "Save" }).click();
  await page.getByText("auth0|ann is viewer now").waitFor();
  expect(await rest(tenant, "members")).toContainEqual(expect.objectContaining({ sub: "auth0|ann", role: "viewer" }));

  expect(await rowOf(page, self).getByRole("button").count()).toBe(0);
  await rowOf(page, self).getByText("another admin can change it").waitFor();

  await page.getByRole("button", { name: "Remove auth0|ann" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Keep" }).click();
  await page.getByRole("button", { name: "Remove auth0|ann" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await page.getByText("Removed auth0|ann").waitFor();
  await expect.poll(() => rowOf(page, "auth0|ann").count()).toBe(0);
  expect((await rest(tenant, "members")).map(({ sub }) => sub)).toEqual([self]);
});

test("a key that is made is shown once, copied, and revoked after a question", async () => {
  const tenant = await adminTenant();
  await using watched = await openPage(browser, gateway.url, { permissions: ["clipboard-read", "clipboard-write"] });
  const { page } = watched;
  await openSettings(page, tenant.accessToken, "API keys");
  await page.getByLabel("Name").fill("nightly scan");
  await page.getByLabel("Expires").selectOption({ label: "in 30 days" });
  await page.getByRole("checkbox", { name: /^read/ }).uncheck();
  await page.getByRole("button", { name: "Create key" }).click();
  const key = await page.getByLabel("API key nightly scan").inputValue();
  expect(key).toMatch(/^scs_[0-9a-f]{8}_[0-9a-f]{64}$/);
  await page.getByRole("button", { name: "Copy" }).click();
  await page.getByText("Copied", { exact: true }).waitFor();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(key);
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByRole("link", { name: "Members" }).click();
  await page.getByRole("link", { name: "API keys" }).click();
  await rowOf(page, "nightly scan").getByText("never used").waitFor();
  expect(await page.content()).not.toContain(key);

  const [made] = await rest(tenant, "api-keys");
  expect(made).toMatchObject({ name: "nightly scan", scopes: ["publish"], revoked_at: null });
  const days = (Date.parse(String(made?.["expires_at"])) - Date.now()) / 86_400_000;
  expect(days).toBeGreaterThan(29.9);
  expect(days).toBeLessThan(30.1);

  await page.getByRole("button", { name: /^Revoke nightly scan/ }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await rowOf(page, "nightly scan").getByText("Revoked").waitFor();
  expect((await fetch(`${gateway.url}/api/v1/scans`, { headers: { authorization: `Api-Key ${key}` } })).status).toBe(
    401,
  );
});

test.each(["viewer", "operator"] as const)("a %s is not offered what would be refused", async (role) => {
  const tenant = await gateway.createTenant("Acme");
  await gateway.addMember(tenant, self, role);
  const scan = await tenant.producer.register({ org_url: "https://acme.okta.com", checks_total: 1 });
  await using watched = await openPage(browser, gateway.url);
  const { page } = watched;
  await signIn(page, tenant.accessToken);
  await page.locator(".scan-link").click();
  await watched.untilConnection("live");
  expect(await page.getByRole("button", { name: "Cancel scan" }).count()).toBe(role === "operator" ? 1 : 0);
  await page.goto(`${gateway.url}/#/settings/members`);
  await page.getByText("You do not have access to the settings. Ask an admin of this tenant.").waitFor();
  expect(await page.getByRole("link", { name: "Settings" }).count()).toBe(0);
  expect(await page.getByLabel("Subject").count()).toBe(0);
  await scan.end("completed", { pass: 1, fail: 0, manual: 0 });
});

test("what the gateway refuses is said, and nothing that was typed is lost", async () => {
  const tenant = await adminTenant();
  await using watched = await openPage(browser, gateway.url);
  const { page } = watched;
  await openSettings(page, tenant.accessToken, "Members");
  await page.getByLabel("Subject").fill("..");
  await page.getByRole("button", { name: "Add member" }).click();
  await page.getByRole("alert").filter({ hasText: "Could not add the member: The body is not valid" }).waitFor();
  expect(await page.getByLabel("Subject").inputValue()).toBe("..");
});
