import { expect, test } from "vitest";
import { member } from "../support/operator.ts";
import { expectNothingStored, openPage, openTab, openStage, signIn, signOut } from "./watched_page.ts";

const { browser, gateway } = await openStage({ EVENTSTREAM_RECHECK_SECONDS: "1" });

test.each([
  ["an API key", "apiKey"],
  ["an access token", "token"],
] as const)("%s signs in, and never shows up in a URL or in storage", async (_, key) => {
  const { [key]: secret, producer } = await gateway.createTenant("Acme");
  const scan = await producer.register({ org_url: "https://acme.okta.com", checks_total: 1 });
  await using page = await openPage(browser, `${gateway.url}/#/scans/${scan.id}`);
  await signIn(page, `  ${secret}\n`);
  await page.getByRole("heading", { level: 1, name: "acme.okta.com" }).waitFor();
  await page.untilConnection("live");
  expect(page.requestUrls.filter((requested) => requested.includes(secret))).toEqual([]);
  expect(await page.content()).not.toContain(secret);
  await expectNothingStored(page);
  await page.reload();
  await page.getByRole("heading", { name: "Sign in to watch scans" }).waitFor();
});

test("hides the credential, says why one is not accepted, lets it be corrected, and asks again when it is revoked", async () => {
  const tenant = await gateway.createTenant("Acme");
  await using page = await openPage(browser, gateway.url);
  const problem = page.getByRole("alert");
  const field = page.getByLabel("Access token or API key");
  expect(await field.getAttribute("type")).toBe("password");
  for (const [pasted, words] of [
    ["", /Paste an access token or an API key/],
    ["two words", /neither a token nor a key/],
    ["scs_wrong", /^Could not sign in: .*key/],
    ["eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.x", /^Could not sign in: .*token/],
  ] as const) {
    await signIn(page, pasted);
    await problem.filter({ hasText: words }).waitFor();
    expect(await field.getAttribute("aria-invalid")).toBe("true");
    expect(await field.inputValue()).toBe(pasted);
  }
  await signIn(page, `Api-Key ${tenant.apiKey}`);
  await page.getByRole("heading", { name: "No scans yet" }).waitFor();
  await gateway.revokeApiKey(tenant.apiKeyId);
  await page.getByText("You were signed out").waitFor();
});

test("signing out removes the credential and everything of the tenant, in all tabs of the person and nobody else's", async () => {
  const acme = await gateway.createTenant("Acme");
  await acme.producer.register({ org_url: "https://acme.okta.com", checks_total: 1 });
  const globex = await gateway.createTenant("Globex");
  await using page = await openPage(browser, gateway.url);
  await signIn(page, acme.token);
  const context = page.context();
  const second = await openTab(context, gateway.url, acme.token);
  const other = await openTab(context, gateway.url, globex.apiKey);
  // Those of the tenants, and in two tabs that of the scan.
  await expect.poll(() => gateway.openStreams()).toBe(5);
  await signOut(second);
  await page.getByText("You signed out in another tab.").waitFor();
  await second.getByRole("button", { name: "Sign in", exact: true }).waitFor();
  expect(await second.getByText("another tab").count()).toBe(0);
  expect(await other.locator(".account").count()).toBe(1);
  await expect.poll(() => gateway.openStreams()).toBe(1);
  for (const tab of [page, second]) expect(await tab.content()).not.toContain("acme.okta.com");
  expect(new URL(second.url()).hash).toBe("#/");
  expect(await second.getByLabel("Access token or API key").inputValue()).toBe("");
});

test("a member who is removed sees nothing of the tenant any more, in any tab", async () => {
  const acme = await gateway.createTenant("Acme");
  await acme.producer.register({ org_url: "https://secret.okta.com", checks_total: 2 });
  await using page = await openPage(browser, gateway.url);
  await signIn(page, acme.token);
  const pages = [page, await openTab(page.context(), gateway.url, acme.token)];
  for (const page of pages) await page.getByText("secret.okta.com").first().waitFor();
  await gateway.removeUser(acme.id, member);
  for (const page of pages) {
    await page.getByText("You no longer have access to Acme.").waitFor();
    expect(await page.content()).not.toContain("secret.okta.com");
    await expect.poll(() => page.title()).toBe("Sign in · scanstream");
  }
});
